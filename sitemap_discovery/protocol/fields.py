"""``changefreq`` and ``priority``: kept as the site gives them, never believed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHANGEFREQS: Final = frozenset(
    {"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"}
)
"""The protocol's vocabulary (sitemaps.org, "changefreq")."""

_PRIORITY: Final = re.compile(r"(?:0?\.[0-9]{1,20}|[01](?:\.[0-9]{0,20})?)", re.ASCII)


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


Value = TypeVar("Value")


class FieldCache(dict[str, "Value | None"]):
    """Texts of one field to their values, each read once by ``parse``.

    ``odd`` maps texts that are neither blank nor readable to ``code``, so that they can be counted.
    Whoever uses it calls :meth:`trim` now and then.

    >>> cache = FieldCache(parse_priority, "priority-invalid")
    >>> cache["high"], cache.odd
    (None, {'high': 'priority-invalid'})
    """

    SIZE: Final = 20_000

    def __init__(self, parse: Callable[[str], Value | None], code: str) -> None:
        super().__init__()
        self.odd: dict[str, str] = {}
        self._parse = parse
        self._code = code

    def __missing__(self, text: str) -> Value | None:
        value = self[text] = self._parse(text)
        if value is None and text.strip():
            self.odd[text] = self._code
        return value

    def trim(self) -> None:
        """Forget everything once there are more than ``SIZE`` texts."""
        if len(self) > self.SIZE:
            self.clear()
            self.odd.clear()

    def column(self, texts: Sequence[str]) -> list[Value | None]:
        """The value of each text; most columns of most files hold one value."""
        if texts.count(texts[0]) == len(texts):
            return [self[texts[0]]] * len(texts)
        return [self[text] for text in texts]
