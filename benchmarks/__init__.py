"""Repeatable measurements, side by side in one run. See README.md."""
