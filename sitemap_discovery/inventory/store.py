"""The store's interface: what a run writes, whichever database keeps it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sitemap_discovery.protocol.codes import Findings, State
    from sitemap_discovery.protocol.entries import Entries

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
    """A file that another one names."""

    @property
    def url(self) -> str: ...
    @property
    def found_by(self) -> str: ...
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


@dataclass
class FileRead:
    """A read under way. ``members`` are the ids of URLs that the file listed before and that this
    read has not met yet; ``met`` those that it has."""

    file_id: int
    origin_id: int
    run_id: int
    members: set[int]
    met: array[int] = field(default_factory=lambda: array("q"))


@dataclass
class Marks:
    """What the store knows about the rows of a batch, in their order: ``new``, ``changed``,
    ``unchanged`` or ``returned``, and when each was first seen (UTC epoch seconds)."""

    changes: list[str]
    first_seen: list[int]


class Store(ABC):
    """An inventory. Every method is one transaction; doing one twice equals doing it once."""

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
    def begin_file(self, origin_id: int, file: FoundFile, run_id: int, now: int) -> FileRead:
        """Start to read a file."""

    @abstractmethod
    def add_urls(
        self, read: FileRead, entries: Entries, keys: Sequence[bytes], scopes: Sequence[str], now: int
    ) -> Marks:
        """Store a batch of a file's URLs."""

    @abstractmethod
    def add_listings(self, read: FileRead, keys: Iterable[bytes]) -> None:
        """Record that the file lists URLs that the run has already stored from another one."""

    @abstractmethod
    def finish_file(self, read: FileRead, file: ReadFile, now: int) -> int:
        """Record how a read ended and which files it names; returns how many URLs are gone.

        Only a complete read takes URLs off the file; one that no file lists any more is gone.
        """

    @abstractmethod
    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    @abstractmethod
    def close(self) -> None:
        """Release the database."""


def open_store(url: str, *, create: bool = True) -> Store:
    """Open the store that ``url`` names, ``sqlite:///relative.db`` or ``sqlite:////absolute.db``.

    Raises :class:`StoreError`. An older database is migrated in place; ``create=False`` refuses
    one that is not there.
    """
    scheme = urlsplit(url).scheme
    if scheme != "sqlite" or not url.startswith("sqlite:///") or url == "sqlite:///":
        raise BadStoreUrl(
            f"INVENTORY_URL={url[:200]!r} names no store: give sqlite:///inventory.db (relative to "
            "the folder you start in) or sqlite:////var/lib/inventory.db"
        )
    from sitemap_discovery.inventory.sqlite import SqliteStore

    return SqliteStore(Path(url.removeprefix("sqlite:///")), create=create)
