"""The inventory in an SQL database: what a run asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.rows import STORED, stored_urls
from sitemap_discovery.inventory.store import KnownFile, Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sitemap_discovery.inventory.database import Database
    from sitemap_discovery.inventory.store import Parameters, StoredUrls

KNOWN_FILE: Final = (
    f"SELECT {', '.join(KnownFile.__slots__)} FROM file"  # noqa: S608 - names are ours
    " WHERE origin_id = ? AND url = ?"
)


class SqlReads(Store):
    """The part of a store on a :class:`~sitemap_discovery.inventory.database.Database` that writes
    nothing."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        return self._db.rows(sql, parameters)

    def pages(self, sql: str, parameters: Parameters, size: int) -> Iterator[list[tuple[Any, ...]]]:
        return self._db.pages(sql, parameters, size)

    def origins_of(self, run_id: int) -> list[int]:
        found = self._db.rows("SELECT origin_id FROM run_origin WHERE run_id = ?", (run_id,))
        return [origin_id for (origin_id,) in found]

    def known_file(self, origin_id: int, url: str) -> KnownFile | None:
        found = self._db.rows(KNOWN_FILE, (origin_id, url))
        return KnownFile(*found[0]) if found else None

    def children(self, file_id: int) -> list[tuple[str, int | None]]:
        found = self._db.rows(
            "SELECT url, index_lastmod FROM file_parent JOIN file ON file.id = file_id"
            " WHERE parent_id = ? ORDER BY file.id",
            (file_id,),
        )
        return [(url, date) for url, date in found]

    def proven_files(self, root: str) -> list[str]:
        found = self._db.rows(
            "SELECT url FROM file JOIN origin ON origin.id = origin_id"
            " WHERE root = ? AND state IN ('complete', 'partial', 'unchanged')"
            " AND found_by IN ('known-path', 'inventory')"
            " ORDER BY fetched_at DESC, url LIMIT 5",
            (root,),
        )
        return [str(url) for (url,) in found]

    def listed_urls(self, file_id: int, size: int) -> Iterator[StoredUrls]:
        last = 0
        while rows := self._db.rows(
            f"SELECT {STORED} FROM listing JOIN url ON url.id = url_id"  # noqa: S608 - names are ours
            " WHERE listing.file_id = ? AND url_id > ? ORDER BY url_id LIMIT ?",
            (file_id, last, size),
        ):
            last = rows[-1][0]
            yield stored_urls(rows)

    def urls(self, ids: Sequence[int]) -> StoredUrls:
        query = f"SELECT {STORED} FROM url WHERE id IN"  # noqa: S608 - names are ours
        return stored_urls(self._db.rows_in(query, (), ids))
