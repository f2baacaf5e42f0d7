"""Finds every URL a site publishes without crawling it, and says if its lastmod can be trusted."""

__version__ = "0.1.0"
