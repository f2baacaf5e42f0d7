"""Columns of sitemap entries: what a reader gives out, a chunk at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitemap_discovery.protocol.dates import Lastmod

Element = Literal["url", "sitemap"]
"""The protocol's two kinds of entry: a page in a ``urlset``, a file in a ``sitemapindex``."""

Details = dict[str, Any]
"""Extension fields of one entry: ``news``, ``images``, ``videos``, ``alternates``, ``extra``."""


@dataclass(slots=True)
class Entries:
    """Entries of one kind as parallel columns, all of one length.

    ``locs`` are absolute URLs, ready to request. Absent values are ``None``.
    ``priorities`` lie in 0.0–1.0. ``details`` holds a dict only for entries with extensions.
    """

    element: Element = "url"
    locs: list[str] = field(default_factory=list)
    lastmods: list[Lastmod | None] = field(default_factory=list)
    changefreqs: list[str | None] = field(default_factory=list)
    priorities: list[float | None] = field(default_factory=list)
    details: list[Details | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.locs)

    def extend(self, other: Entries) -> None:
        """Append the columns of ``other``."""
        self.locs += other.locs
        self.lastmods += other.lastmods
        self.changefreqs += other.changefreqs
        self.priorities += other.priorities
        self.details += other.details

    def slice(self, start: int, stop: int) -> Entries:
        """The entries from ``start`` up to ``stop``."""
        return Entries(
            self.element,
            self.locs[start:stop],
            self.lastmods[start:stop],
            self.changefreqs[start:stop],
            self.priorities[start:stop],
            self.details[start:stop],
        )

    def drop(self, count: int) -> None:
        """Drop the first ``count`` entries, in place."""
        for column in (self.locs, self.lastmods, self.changefreqs, self.priorities, self.details):
            del column[:count]

    def keep(self, flags: Sequence[object]) -> None:
        """Drop every entry whose flag is false, in place."""
        self.locs = list(compress(self.locs, flags))
        self.lastmods = list(compress(self.lastmods, flags))
        self.changefreqs = list(compress(self.changefreqs, flags))
        self.priorities = list(compress(self.priorities, flags))
        self.details = list(compress(self.details, flags))
