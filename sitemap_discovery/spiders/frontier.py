"""Which file of an origin is read next: each once, newest first, within the budgets."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from sitemap_discovery.items import FoundFile, SitemapFile
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.urls import file_key

if TYPE_CHECKING:
    from collections.abc import Iterator


class Budget(NamedTuple):
    """Bounds on one origin. ``None`` is no bound."""

    files: int | None = None
    depth: int | None = None


class Waiting(NamedTuple):
    """A file that waits; the heap gives the smallest first."""

    rank: tuple[float, float]
    order: int
    found: FoundFile


@dataclass
class Frontier:
    """The files of one origin that wait to be read.

    Dated files come first, newest before older; then those that were never read, shallow before
    deep, in the order they were listed; then the others, those that changed often before those
    that seldom did. ``stopped_by`` is the budget after which nothing more is released;
    ``too_deep`` says that an index lies deeper than the budget, which stops nothing else.
    """

    origin: str
    budget: Budget = field(default_factory=Budget)
    released: int = 0
    in_flight: int = 0
    stopped_by: str | None = None
    too_deep: bool = False
    _heap: list[Waiting] = field(default_factory=list)
    _spelt: dict[str, str] = field(default_factory=dict)
    _parents: dict[str, str | None] = field(default_factory=dict)
    _order: Iterator[int] = field(default_factory=count)

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def cut_by(self) -> str | None:
        """The budget that left files out, if any did."""
        return self.stopped_by or ("budget-depth" if self.too_deep else None)

    def add(self, found: FoundFile, changed: float | None = None) -> str | None:
        """Queue a file. ``None`` when it is new, else why it is not queued: a reason code.

        ``changed`` is the share of its earlier reads that met other bytes than before.
        """
        key, parent, date = file_key(found.url), found.parent, found.index_lastmod
        url = self._spelt.setdefault(key, found.url.partition("#")[0])
        if key in self._parents:
            return "index-loop" if self._is_ancestor(key, parent) else "duplicate-file"
        if self.budget.depth is not None and found.depth > self.budget.depth:
            self.too_deep = True
            return "budget-depth"
        self._parents[key] = file_key(parent) if parent else None
        rank = (0.0, -float(date)) if date is not None else (1.0, float(found.depth))
        if date is None and changed is not None:
            rank = 2.0, -changed
        heappush(self._heap, Waiting(rank, next(self._order), found._replace(url=url)))
        return None

    def note(self, url: str) -> None:
        """Take an address that is read by other means."""
        self._parents.setdefault(file_key(url), None)

    def spelling(self, url: str) -> str:
        """How a file's address was first written."""
        return self._spelt.get(file_key(url), url)

    def claim(self, final: str, asked: str) -> bool:
        """Take the final address of the file ``asked`` for, after redirects; false when another
        file has it already."""
        key = file_key(final)
        if key in self._parents:
            return key == file_key(asked)
        self._parents[key] = self._parents.get(file_key(asked))
        return True

    def release(self) -> SitemapFile | None:
        """The next file to request, ``None`` when none waits or a budget is spent."""
        if not self._heap or self.stopped_by:
            return None
        if self.budget.files is not None and self.released >= self.budget.files:
            self.cut("budget-files")
            return None
        self.released += 1
        self.in_flight += 1
        return self._next()

    def give_back(self) -> None:
        """The file released last was none: it does not count."""
        self.released -= 1

    def cut(self, reason: str) -> None:
        """Release nothing any more."""
        self.stopped_by = self.stopped_by or reason

    def skipped(self) -> Iterator[SitemapFile]:
        """Every file that still waits, as skipped for the reason the frontier was cut."""
        while self._heap:
            file = self._next()
            file.state, file.reason = State.SKIPPED, self.stopped_by or "stopped"
            yield file

    def _next(self) -> SitemapFile:
        found = heappop(self._heap).found
        return SitemapFile(origin=self.origin, **found._asdict())

    def _is_ancestor(self, key: str, parent: str | None) -> bool:
        step = file_key(parent) if parent else None
        while step is not None:
            if step == key:
                return True
            step = self._parents.get(step)
        return False
