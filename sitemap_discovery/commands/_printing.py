"""Text for a terminal or a pipe, whatever a site has put into it."""

from __future__ import annotations

import os
import sys
from typing import Final

LONGEST: Final = 200
"""Characters of a site's text that are shown."""


def print_text(text: str) -> None:
    """Print for a reader that may go away, as ``head`` does."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def printable(text: str) -> str:
    """``text`` without anything that a terminal would obey, cut at 200 characters.

    >>> printable("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)
