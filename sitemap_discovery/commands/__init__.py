"""Commands; one module a command."""
