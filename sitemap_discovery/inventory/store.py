"""The store's interface: what a run writes, whichever database keeps it."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from sitemap_discovery.inventory.evidence import EvidenceStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sitemap_discovery.inventory.rows import Known
    from sitemap_discovery.protocol.codes import Findings, State
    from sitemap_discovery.protocol.entries import Entries

Parameters: TypeAlias = "Sequence[Any] | Mapping[str, Any]"
"""Values for the ``?`` of a statement, or for its ``:names``."""

DEFAULT_URL: Final = "sqlite:///inventory.db"


class StoreError(Exception):
    """A fault of the store, as one line for the operator.

    ::

        StoreError
        ├── BadStoreUrl        INVENTORY_URL names no store that there is
        ├── SchemaTooNew       the database was written by a newer version
        └── StoreUnavailable   it cannot be opened, read or written
    """


class BadStoreUrl(StoreError):
    """``INVENTORY_URL`` names no store that there is."""


class SchemaTooNew(StoreError):
    """The database was written by a newer version of this project."""


class StoreUnavailable(StoreError):
    """The database cannot be opened, read or written."""


class FoundFile(Protocol):
    """A file that another one names. ``parent`` is the other one's address, ``index_lastmod`` its
    date there (UTC epoch seconds), ``depth`` counts the indexes between it and robots.txt."""

    @property
    def url(self) -> str: ...
    @property
    def found_by(self) -> str: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def depth(self) -> int: ...
    @property
    def index_lastmod(self) -> int | None: ...


class ReadFile(FoundFile, Protocol):
    """A file whose read has ended; ``items.SitemapFile`` is one."""

    kind: str | None
    state: State | None
    reason: str | None
    status: int | None
    final_url: str | None
    etag: str | None
    last_modified: str | None
    digest: bytes | None
    bytes_wire: int
    bytes_unpacked: int
    entries_kept: int
    entries_lost: int
    error_line: int | None
    error_byte: int | None
    findings: Findings
    children: list[Any]


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What the last reads left of a file. ``etag``, ``last_modified`` and ``digest`` are those of
    the last complete read; times are UTC epoch seconds, ``read_every`` is seconds.

    ``begun_at`` is the start of a read that was killed, ``unchanged`` and ``missing`` count reads
    in a row that ended so, ``changes`` those of all ``reads`` that met other bytes.
    """

    id: int
    state: str | None = None
    kind: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    digest: bytes | None = None
    entries_kept: int = 0
    fetched_at: int | None = None
    complete_at: int | None = None
    begun_at: int | None = None
    reads: int = 0
    changes: int = 0
    unchanged: int = 0
    missing: int = 0
    lied_at: int | None = None
    read_every: int | None = None
    run_id: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the store holds all that the file lists, as long as its bytes stay the same."""
        whole = self.state in ("complete", "unchanged") and self.begun_at is None
        return whole and self.digest is not None

    @property
    def next_read(self) -> int | None:
        """When it is to be read again."""
        if not self.is_whole or self.fetched_at is None or self.read_every is None:
            return None
        return self.fetched_at + self.read_every


@dataclass(slots=True)
class FileRead:
    """A read under way; only the store looks inside.

    ``listed`` holds the URLs that the file listed before and that this read has not met yet, by
    key (``None`` until its first batch); ``met`` the ids of stored URLs that it has met. ``known``
    is what was known of the file before.
    """

    known: KnownFile
    origin_id: int
    run_id: int
    listed: dict[bytes, Known] | None = None
    met: array[int] = field(default_factory=lambda: array("q"))

    @property
    def file_id(self) -> int:
        """The file's id."""
        return self.known.id


@dataclass(slots=True)
class StoredUrls:
    """URLs as they are stored, with when each was first and last seen (UTC epoch seconds; the
    latter only where the files that list it do not tell)."""

    entries: Entries
    keys: list[bytes]
    scopes: list[str]
    first_seen: list[int]
    last_seen: list[int | None]


@dataclass(slots=True)
class Marks:
    """What the store knows about the rows of a batch, in their order: ``new``, ``changed``,
    ``unchanged`` or ``returned``, and when each was first seen (UTC epoch seconds).

    A row whose ``loc`` no database can hold is ``rejected`` and not stored.
    """

    changes: list[str]
    first_seen: list[int]


class Store(EvidenceStore):
    """An inventory. Doing anything twice equals doing it once; faults are :class:`StoreError`.

    ``now`` is always UTC epoch seconds. A store belongs to one thread at a time; any number of
    processes may open the same database.
    """

    @abstractmethod
    def begin_run(
        self, *, spider: str, job: str | None, arguments: Mapping[str, str], now: int
    ) -> int:
        """Record that a run started; returns its id."""

    @abstractmethod
    def finish_run(
        self,
        run_id: int,
        *,
        state: str,
        reason: str | None,
        finish_reason: str,
        summary: Mapping[str, Any],
        now: int,
    ) -> None:
        """Record how a run ended."""

    @abstractmethod
    def origin_id(self, root: str, now: int) -> int:
        """The id of an origin, made when it is new."""

    @abstractmethod
    def known_file(self, origin_id: int, url: str) -> KnownFile | None:
        """What is known of a file before it is asked for again; ``None`` when it is new."""

    @abstractmethod
    def proven_files(self, root: str) -> list[str]:
        """The addresses that were found to be an origin's sitemaps by guessing, the latest first;
        at most five."""

    @abstractmethod
    def orphans(self, origin_id: int, run_id: int) -> list[str]:
        """The addresses of files that a robots.txt or an index once named and none does now, that
        list URLs which no other file lists, and that the run has not read.

        One whose URLs are all listed elsewhere is forgotten: names that change with every read
        would add up."""

    @abstractmethod
    def begin_file(self, origin_id: int, file: FoundFile, run_id: int, now: int) -> FileRead:
        """Start to read a file."""

    @abstractmethod
    def add_urls(
        self,
        read: FileRead,
        entries: Entries,
        keys: Sequence[bytes],
        scopes: Sequence[str],
        now: int,
    ) -> Marks:
        """Store a batch of a file's URLs; ``keys`` and ``scopes`` run parallel to the entries."""

    @abstractmethod
    def add_listings(self, read: FileRead, keys: Iterable[bytes]) -> None:
        """Record that the file lists URLs that the run has already stored from another one."""

    @abstractmethod
    def finish_file(self, read: FileRead, file: ReadFile, now: int, *, gone_after: int = 2) -> int:
        """Record how a read ended and which files it names.

        Returns how many URLs the file no longer lists: what a complete read did not meet, or all
        once the file was missing in ``gone_after`` reads in a row. Whether they are gone,
        :meth:`retire` says when all files were read: most have moved to another file.
        """

    @abstractmethod
    def retire(self, origin_id: int, now: int, *, share: float = 1.0) -> dict[str, list[int]]:
        """Mark as gone what no file of an origin lists any more; returns their ids, by the address
        of the file that listed them last.

        To be called when all files of the origin were read: a URL that one file drops is often
        listed by the next. What a run does not retire is judged again by the next one.

        An origin that would lose more than ``share`` of its URLs, and more than 100, keeps all.
        """

    @abstractmethod
    def origins_of(self, run_id: int) -> list[int]:
        """The ids of the origins that a run has read files of."""

    @abstractmethod
    def children(self, file_id: int) -> list[tuple[str, int | None]]:
        """The addresses of the files that a file names, and their dates there."""

    @abstractmethod
    def listed_urls(self, file_id: int, size: int) -> Iterator[StoredUrls]:
        """The URLs that a file lists, at most ``size`` at a time, as they were stored."""

    @abstractmethod
    def urls(self, ids: Sequence[int]) -> StoredUrls:
        """The URLs with these ids."""

    @abstractmethod
    def prune(self, before: int, origin: str | None = None) -> tuple[int, int]:
        """Forget URLs that were gone, and runs that began, before a moment (UTC epoch seconds), of
        all origins or of one; each origin's last run stays. Returns how many of each."""

    @abstractmethod
    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    @abstractmethod
    def pages(self, sql: str, parameters: Parameters, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, at most ``size`` at a time; nothing is to be written meanwhile."""

    @abstractmethod
    def close(self) -> None:
        """Store what is still open and release the database."""


def check_url(url: str) -> Path:
    """The file that a store's URL names; :class:`BadStoreUrl` when it is none of ours."""
    path = url.removeprefix("sqlite:///")
    if path in (url, "") or "\0" in path:
        raise BadStoreUrl(
            f"INVENTORY_URL={url[:200]!r} names no store: give sqlite:///inventory.db (relative to "
            "the folder you start in) or sqlite:////var/lib/inventory.db"
        )
    return Path(path)


def open_store(url: str, *, create: bool = True) -> Store:
    """Open the store that ``url`` names, ``sqlite:///relative.db`` or ``sqlite:////absolute.db``.

    Raises :class:`StoreError`. An older database is migrated in place; ``create=False`` refuses
    one that is not there.
    """
    path = check_url(url)
    from sitemap_discovery.inventory.sqlite import SqliteDatabase
    from sitemap_discovery.inventory.sqlstore import SqlStore

    return SqlStore(SqliteDatabase(path, create=create))
