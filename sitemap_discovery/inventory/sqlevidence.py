"""The inventory in an SQL database: dates, looks and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.evidence import (
    StoredDates,
    StoredMove,
    StoredPage,
    StoredPart,
    StoredWaiting,
)
from sitemap_discovery.inventory.sqlreads import SqlReads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sitemap_discovery.inventory.evidence import StoredLook

STAMP: Final = "coalesce(url.stamp, url.lastmod * 8 + url.lastmod_precision)"
_PAGE: Final = (
    "url.id, loc, file_id, CASE WHEN lastmod IS NOT NULL THEN "
    f"{STAMP} END, lastmod_raw, first_seen, tried_at, fetched_at, fingerprint, page.stamp, etag,"
    " last_modified, coalesce(is_noisy, 0), coalesce(looks, 0), coalesce(changes, 0),"
    " coalesce(observed, 0)"
)
_PAGES: Final = f"SELECT {_PAGE} FROM url LEFT JOIN page ON page.url_id = url.id"  # noqa: S608
_DATES: Final = StoredDates.__slots__[:14]
_PART: Final = StoredPart.__slots__[:10]


class SqlEvidence(SqlReads):
    """The evidence part of a store on a :class:`~sitemap_discovery.inventory.database.Database`."""

    # -- dates -------------------------------------------------------------------------------------

    def save_dates(self, file_id: int, dates: Iterable[StoredDates]) -> None:
        rows = [tuple(getattr(each, name) for name in _DATES) for each in dates]
        with self._db.write():
            self._db.run("DELETE FROM file_dates WHERE file_id = ?", (file_id,))
            self._db.run_many(_insert("file_dates", _DATES), rows)

    def dates(self, origin_id: int) -> list[StoredDates]:
        found = self._db.rows(
            f"SELECT {', '.join(_DATES)}, url, state, complete_at, index_lastmod"  # noqa: S608
            " FROM file_dates JOIN file ON file.id = file_id WHERE origin_id = ?"
            " ORDER BY file_id, section",
            (origin_id,),
        )
        return [StoredDates(*row) for row in found]

    def moves(self, origin_id: int, since: int) -> Iterator[StoredMove]:
        pages = self._db.pages(
            f"SELECT loc, file_id, stamp_before, {STAMP}, moved_at FROM url"  # noqa: S608 - names are ours
            " WHERE origin_id = ? AND changed_at > ? AND moved_at > ? AND gone_at IS NULL"
            " AND lastmod IS NOT NULL AND stamp_before IS NOT NULL",
            (origin_id, since, since),
            10_000,
        )
        for rows in pages:
            for row in rows:
                yield StoredMove(*row)

    # -- verdicts ----------------------------------------------------------------------------------

    def parts(self, origin_id: int) -> list[StoredPart]:
        found = self._db.rows(
            f"SELECT {', '.join(_PART)} FROM part WHERE origin_id = ? ORDER BY name",  # noqa: S608
            (origin_id,),
        )
        return [StoredPart(*row) for row in found]

    def save_parts(self, origin_id: int, parts: Sequence[StoredPart], run_id: int | None) -> None:
        updates = ", ".join(f"{name} = excluded.{name}" for name in _PART if name != "name")
        with self._db.write():
            self._db.run_many(
                _insert("part", ("origin_id", *_PART))
                + f" ON CONFLICT (origin_id, name) DO UPDATE SET {updates}",
                [(origin_id, *(getattr(part, name) for name in _PART)) for part in parts],
            )
            self._forget_parts(origin_id, [part.name for part in parts])
            if run_id is not None:
                self._db.run_many(
                    "INSERT OR REPLACE INTO verdict SELECT ?, id, ?, ?, ?, ? FROM part"
                    " WHERE origin_id = ? AND name = ?",
                    [
                        (run_id, p.verdict, p.why, p.score, p.numbers, origin_id, p.name)
                        for p in parts
                    ],
                )

    def _forget_parts(self, origin_id: int, names: Sequence[str]) -> None:
        found = self._db.rows("SELECT id, name FROM part WHERE origin_id = ?", (origin_id,))
        gone = [(part_id,) for part_id, name in found if name not in names]
        self._db.run_many("DELETE FROM verdict WHERE part_id = ?", gone)
        self._db.run_many("DELETE FROM part WHERE id = ?", gone)

    # -- pages -------------------------------------------------------------------------------------

    def pages_seen(self, origin_id: int, limit: int) -> list[StoredPage]:
        found = self._db.rows(
            f"SELECT {_PAGE} FROM page JOIN url ON url.id = page.url_id"  # noqa: S608
            " WHERE page.origin_id = ? AND fetched_at IS NOT NULL AND is_noisy = 0"
            " AND gone_at IS NULL AND lastmod IS NOT NULL"
            " ORDER BY fetched_at DESC LIMIT ?",
            (origin_id, limit),
        )
        return [StoredPage(*row) for row in found]

    def pages_by_key(self, origin_id: int, start: bytes, limit: int) -> list[StoredPage]:
        found = self._db.rows(
            f"{_PAGES} WHERE url.origin_id = ? AND key >= ? AND gone_at IS NULL"
            " AND lastmod IS NOT NULL ORDER BY key LIMIT ?",
            (origin_id, start, limit),
        )
        return [StoredPage(*row) for row in found]

    def pages_of(self, origin_id: int, size: int) -> Iterator[list[StoredPage]]:
        query = f"{_PAGES} WHERE url.origin_id = ? AND gone_at IS NULL"
        for rows in self._db.pages(query, (origin_id,), size):
            yield [StoredPage(*row) for row in rows]

    def page(self, origin_id: int, key: bytes) -> StoredPage | None:
        found = self._db.rows(
            f"{_PAGES} WHERE url.origin_id = ? AND key = ? AND gone_at IS NULL", (origin_id, key)
        )
        return StoredPage(*found[0]) if found else None

    def save_looks(self, origin_id: int, run_id: int, looks: Sequence[StoredLook]) -> None:
        with self._db.write():
            self._db.run_many(
                "INSERT INTO look (run_id, url_id, part, at, status, outcome, moved)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (run_id, look.url_id, look.part, look.at, look.status, look.outcome, look.moved)
                    for look in looks
                ],
            )
            self._db.run_many(
                "INSERT INTO page (url_id, origin_id, tried_at, status, outcome)"
                " VALUES (?, ?, ?, ?, ?) ON CONFLICT (url_id) DO UPDATE SET"
                " tried_at = excluded.tried_at, status = excluded.status,"
                " outcome = excluded.outcome",
                [(x.url_id, origin_id, x.at, x.status, x.outcome) for x in looks],
            )
            self._db.run_many(
                "UPDATE page SET fetched_at = ?, fingerprint = coalesce(?, fingerprint),"
                " simhash = coalesce(?, simhash), stamp = ?, modified = coalesce(?, modified),"
                " published = coalesce(?, published), etag = coalesce(?, etag),"
                " last_modified = coalesce(?, last_modified), looks = looks + ?,"
                " changes = changes + ?, observed = observed + ? WHERE url_id = ?",
                [_kept(look) for look in looks if look.outcome in ("first", "same", "changed")],
            )
            self._db.run_many(
                "UPDATE page SET is_noisy = 1, stamp = ? WHERE url_id = ?",
                [(look.stamp, look.url_id) for look in looks if look.outcome == "noisy"],
            )

    def waiting(self, origin_id: int) -> list[StoredWaiting]:
        found = self._db.rows(
            "SELECT url_id, part, before, at, stamp, changed FROM waiting_look"
            " WHERE origin_id = ? ORDER BY url_id",
            (origin_id,),
        )
        return [
            StoredWaiting(url_id, part, before, at, stamp, bool(changed))
            for url_id, part, before, at, stamp, changed in found
        ]

    def save_waiting(self, origin_id: int, waiting: Sequence[StoredWaiting]) -> None:
        with self._db.write():
            self._db.run("DELETE FROM waiting_look WHERE origin_id = ?", (origin_id,))
            self._db.run_many(
                "INSERT OR REPLACE INTO waiting_look VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (w.url_id, origin_id, w.part, w.before, w.at, w.stamp, w.changed)
                    for w in waiting
                ],
            )

    def stamps_now(self, url_ids: Sequence[int]) -> dict[int, tuple[int, str | None]]:
        found = self._db.rows_in(
            f"SELECT id, {STAMP}, lastmod_raw FROM url"  # noqa: S608 - names are ours
            " WHERE gone_at IS NULL AND lastmod IS NOT NULL AND id IN",
            (),
            url_ids,
        )
        return {url_id: (stamp, raw) for url_id, stamp, raw in found}

    def write_off(self, url_ids: Sequence[int]) -> None:
        with self._db.write():
            self._db.run_many(
                f"UPDATE page SET stamp = (SELECT {STAMP} FROM url WHERE id = url_id)"  # noqa: S608
                " WHERE url_id = ?",
                [(url_id,) for url_id in url_ids],
            )

    def shift_stamps(self, url_ids: Sequence[int], seconds: int) -> None:
        with self._db.write():
            self._db.run_many(
                "UPDATE page SET stamp = stamp + ? WHERE url_id = ?",
                [(8 * seconds, url_id) for url_id in url_ids],
            )

    def drop_baselines(self, url_ids: Sequence[int]) -> None:
        with self._db.write():
            self._db.run_many(
                "UPDATE page SET fetched_at = NULL WHERE url_id = ?",
                [(url_id,) for url_id in url_ids],
            )

    def outcomes(self, origin_id: int, run_id: int | None = None) -> dict[str, int]:
        found = self._db.rows(
            "SELECT outcome, count(*) FROM look WHERE run_id = coalesce(?,"
            " (SELECT max(run_id) FROM look JOIN url ON url.id = url_id WHERE url.origin_id = ?))"
            " GROUP BY outcome ORDER BY count(*) DESC, outcome",
            (run_id, origin_id),
        )
        return dict(found)


def _insert(table: str, names: Sequence[str]) -> str:
    marks = ", ".join("?" * len(names))
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608 - names are ours


def _kept(look: StoredLook) -> tuple[Any, ...]:
    compared = look.outcome != "first"
    return (
        look.at,
        look.fingerprint,
        look.simhash,
        look.stamp,
        look.modified,
        look.published,
        look.etag,
        look.last_modified,
        int(compared),
        int(look.outcome == "changed"),
        look.days if compared else 0.0,
        look.url_id,
    )
