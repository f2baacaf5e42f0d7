"""What a store keeps of dates, of pages that were looked at, and of verdicts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

OTHER: Final = "*"
"""The section of a file's URLs that were not counted apart."""


@dataclass(frozen=True, slots=True)
class StoredDates:
    """The dates of one file, or one section of it: the columns of ``file_dates``, with the file's
    address and the state of its last read."""

    file_id: int
    section: str
    n: int
    dated: int
    invalid: int
    placeholder: int
    future: int
    ahead: int
    timed: int
    near_timed: int
    near_days: int
    is_news: int
    weight: float
    stamps: bytes
    url: str = ""
    state: str | None = None
    complete_at: int | None = None
    index_lastmod: int | None = None


@dataclass(frozen=True, slots=True)
class StoredPart:
    """One row of ``part``; ``why`` and ``state`` are JSON."""

    name: str
    verdict: str
    why: str
    sentence: str
    score: float
    urls: int
    reads: int
    read_at: int | None
    judged_at: int
    state: str
    numbers: str = "{}"


@dataclass(frozen=True, slots=True)
class StoredMove:
    """A URL whose lastmod moved: its file, and the stamps (time * 8 + precision) that count."""

    loc: str
    file_id: int | None
    old: int
    new: int
    moved_at: int


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A listed page: its file and lastmod now, and what is known from fetches of it, if there were
    any. ``stamp`` is its date now and ``stamp_then`` that at the last fetch, both as time * 8 +
    precision; ``raw`` is the date's text where it is not simply that."""

    url_id: int
    loc: str
    file_id: int | None
    stamp: int | None
    raw: str | None
    first_seen: int
    tried_at: int | None = None
    fetched_at: int | None = None
    fingerprint: bytes | None = None
    stamp_then: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    is_noisy: int = 0
    looks: int = 0
    changes: int = 0
    observed: float = 0.0


@dataclass(frozen=True, slots=True)
class StoredLook:
    """A look at a page, for ``page`` and ``look``. ``outcome`` is ``first``, ``same``, ``changed``,
    ``noisy`` or a reason why it tells nothing; ``days`` since the look before."""

    url_id: int
    part: str
    at: int
    status: int | None
    outcome: str
    moved: bool | None
    fingerprint: bytes | None = None
    simhash: bytes | None = None
    stamp: int | None = None
    modified: str | None = None
    published: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    days: float = 0.0


@dataclass(frozen=True, slots=True)
class StoredWaiting:
    """One row of ``waiting_look``."""

    url_id: int
    part: str
    before: int
    at: int
    stamp: int
    changed: bool


class EvidenceStore(ABC):
    """The part of a store that knows what lastmod was worth. Times are UTC epoch seconds."""

    @abstractmethod
    def save_dates(self, file_id: int, dates: Iterable[StoredDates]) -> None:
        """Put these in the place of a file's dates."""

    @abstractmethod
    def dates(self, origin_id: int) -> list[StoredDates]:
        """The dates of all files of an origin that list anything, with how these were last read."""

    @abstractmethod
    def moves(self, origin_id: int, since: int) -> Iterator[StoredMove]:
        """The URLs whose lastmod moved after a moment."""

    @abstractmethod
    def parts(self, origin_id: int) -> list[StoredPart]:
        """The parts of an origin as they were last judged, the whole site first."""

    @abstractmethod
    def save_parts(self, origin_id: int, parts: Sequence[StoredPart], run_id: int | None) -> None:
        """Put these in the place of an origin's parts, and note the run's verdicts."""

    @abstractmethod
    def pages_seen(self, origin_id: int, limit: int) -> list[StoredPage]:
        """Listed pages that were fetched, are dated and not noisy, the latest first."""

    @abstractmethod
    def pages_by_key(self, origin_id: int, start: bytes, limit: int) -> list[StoredPage]:
        """Listed, dated pages in the order of their keys, which is random, from ``start`` on."""

    @abstractmethod
    def pages_of(self, origin_id: int, size: int) -> Iterator[list[StoredPage]]:
        """All listed pages, ``size`` at a time."""

    @abstractmethod
    def page(self, origin_id: int, key: bytes) -> StoredPage | None:
        """One listed page by its key."""

    @abstractmethod
    def save_looks(self, origin_id: int, run_id: int, looks: Sequence[StoredLook]) -> None:
        """Record looks at pages."""

    @abstractmethod
    def waiting(self, origin_id: int) -> list[StoredWaiting]:
        """Looks that are not booked yet."""

    @abstractmethod
    def save_waiting(self, origin_id: int, waiting: Sequence[StoredWaiting]) -> None:
        """Put these in the place of an origin's looks that are not booked yet."""

    @abstractmethod
    def stamps_now(self, url_ids: Sequence[int]) -> dict[int, tuple[int, str | None]]:
        """The lastmod of listed, dated URLs, as time * 8 + precision, and its text."""

    @abstractmethod
    def write_off(self, url_ids: Sequence[int]) -> None:
        """Set the lastmod at the last look to that of now: a move that says nothing."""

    @abstractmethod
    def shift_stamps(self, url_ids: Sequence[int], seconds: int) -> None:
        """Move the lastmod at the last look: a clock was set."""

    @abstractmethod
    def drop_baselines(self, url_ids: Sequence[int]) -> None:
        """Forget when pages were looked at last, so that the next look compares with nothing."""

    @abstractmethod
    def outcomes(self, origin_id: int, run_id: int | None = None) -> dict[str, int]:
        """How many looks ended how, in one run or in the last that made any."""
