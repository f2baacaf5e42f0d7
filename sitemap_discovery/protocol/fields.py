"""``changefreq`` and ``priority``: kept as the site gives them, never believed."""

from __future__ import annotations

import re
from typing import Any, Final

CHANGEFREQS: Final = frozenset(
    {"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"}
)
"""The protocol's vocabulary (sitemaps.org, "changefreq")."""

_PRIORITY: Final = re.compile(r"(?:0?\.[0-9]{1,6}|[01](?:\.[0-9]{0,6})?)", re.ASCII)


def parse_changefreq(text: str) -> str | None:
    """The word, folded to lower case; ``None`` for anything else.

    >>> parse_changefreq(" Weekly ")
    'weekly'
    """
    word = text.strip().lower()
    return word if word in CHANGEFREQS else None


def parse_priority(text: str) -> float | None:
    """A number from 0.0 to 1.0; ``None`` for anything else.

    >>> parse_priority("0.8"), parse_priority("1e3")
    (0.8, None)
    """
    number = text.strip()
    if not _PRIORITY.fullmatch(number):
        return None
    return float(number) if float(number) <= 1 else None


class ChangefreqCache(dict[str, "str | None"]):
    """Texts to words; ``odd`` maps texts that are neither blank nor valid to their code."""

    def __init__(self) -> None:
        super().__init__({"": None})
        self.odd: dict[str, str] = {}

    def __missing__(self, text: str) -> str | None:
        value = parse_changefreq(text)
        _remember(self, self.odd, text, value, "changefreq-invalid")
        return value


class PriorityCache(dict[str, "float | None"]):
    """Texts to numbers; ``odd`` maps texts that are neither blank nor valid to their code."""

    def __init__(self) -> None:
        super().__init__({"": None})
        self.odd: dict[str, str] = {}

    def __missing__(self, text: str) -> float | None:
        value = parse_priority(text)
        _remember(self, self.odd, text, value, "priority-invalid")
        return value


def _remember(
    cache: dict[str, Any], odd: dict[str, str], text: str, value: object, code: str
) -> None:
    if len(cache) > 1_000:
        cache.clear()
        odd.clear()
    cache[text] = value
    if value is None and text.strip():
        odd[text] = code
