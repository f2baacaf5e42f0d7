"""The inventory in an SQL database: what is written."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.database import NotUnique
from sitemap_discovery.inventory.filerows import is_read, read_columns
from sitemap_discovery.inventory.rows import (
    FILE_ID,
    ID,
    KEY,
    KNOWN,
    NEW,
    REJECTED,
    all_text,
    batch_columns,
    compare,
    is_text,
    mended,
    pick,
    storable,
    without_empty,
)
from sitemap_discovery.inventory.sqlevidence import SqlEvidence
from sitemap_discovery.inventory.store import FileRead, Marks
from sitemap_discovery.protocol.codes import PAGE, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sitemap_discovery.inventory.database import Database
    from sitemap_discovery.inventory.rows import Columns, Known
    from sitemap_discovery.inventory.store import FoundFile, ReadFile
    from sitemap_discovery.protocol.entries import Entries

MASS: Final = 100
"""URLs that may go at once from any origin, however small."""

COUNTED: Final = "coalesce(stamp, lastmod * 8 + lastmod_precision)"
"""The lastmod that counts: not one that an old copy of the file gave again."""

_AGAIN: Final = (
    f"(?2 * 8 + ?3 IS {COUNTED} OR ?2 * 8 + ?3 IS stamp_before OR ?2 * 8 + ?3 IS stamp_third)"
)
UPDATE_URL: Final = (
    "UPDATE url SET lastmod_before = CASE WHEN ?1 THEN lastmod ELSE lastmod_before END,"  # noqa: S608
    " lastmod = ?2, lastmod_precision = ?3, lastmod_raw = ?4, changefreq = ?5, priority = ?6,"
    " details = ?7, scope = ?8, changed_at = ?9, returned_at = ?10, file_id = ?11, gone_at = NULL,"
    f" stamp = CASE WHEN NOT ?1 THEN stamp WHEN {_AGAIN} THEN {COUNTED} END,"
    f" stamp_before = CASE WHEN ?1 AND NOT {_AGAIN} THEN {COUNTED} ELSE stamp_before END,"
    f" stamp_third = CASE WHEN ?1 AND NOT {_AGAIN} THEN stamp_before ELSE stamp_third END,"
    f" moved_at = CASE WHEN ?1 AND NOT {_AGAIN} AND lastmod IS NOT NULL AND ?2 IS NOT NULL"
    " THEN ?9 ELSE moved_at END"
    " WHERE id = ?12"
)
LISTED: Final = f"SELECT {KNOWN} FROM listing JOIN url ON url.id = url_id WHERE listing.file_id = ?"  # noqa: S608
OF_THEIR_FILE: Final = (
    "SELECT url.id FROM url JOIN listing ON url_id = url.id AND listing.file_id = url.file_id"
    " WHERE url.id IN"
)
LOOK_UP: Final = f"SELECT {KNOWN} FROM url WHERE origin_id = ? AND key IN"  # noqa: S608 - names are ours


class SqlStore(SqlEvidence):
    """The store on any :class:`~sitemap_discovery.inventory.database.Database`.

    The usual row costs nothing: a URL that is what it was is only compared. To compare, the URLs
    that a file listed before are read at once with its first batch, since most come again.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._empty: set[int] = set()  # origins of which only this store has written URLs
        self._entered: set[tuple[int, int]] = set()  # runs and origins that are in run_origin

    def close(self) -> None:
        self._db.close()

    # -- runs and origins --------------------------------------------------------------------------

    def begin_run(
        self, *, spider: str, job: str | None, arguments: Mapping[str, str], now: int
    ) -> int:
        shared = {"spider": spider, "job": job, "arguments": json.dumps(dict(arguments))}
        with self._db.write():
            ((run_id,),) = self._db.insert("run", shared, {"started_at": [now]})
        return run_id

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
        with self._db.write():
            self._db.run(
                "UPDATE run SET state = ?, reason = ?, finish_reason = ?, summary = ?,"
                " finished_at = ? WHERE id = ?",
                (state, reason, finish_reason, json.dumps(dict(summary)), now, run_id),
            )

    def origin_id(self, root: str, now: int) -> int:
        with self._db.write():
            self._db.run(
                "INSERT INTO origin (root, first_seen) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (root, now),
            )
            ((number,),) = self._db.rows("SELECT id FROM origin WHERE root = ?", (root,))
            known = self._db.rows("SELECT 1 FROM url WHERE origin_id = ? LIMIT 1", (number,))
        if not known:
            self._empty.add(number)
        return int(number)

    def prune(self, before: int, origin: str | None = None) -> tuple[int, int]:
        named = {"before": before, "root": origin}
        ours = "(SELECT id FROM origin WHERE root = coalesce(:root, root))"
        unused = (
            "SELECT id FROM run WHERE started_at < :before"
            " AND id NOT IN (SELECT run_id FROM run_origin)"
        )
        with self._db.write():
            urls = self._db.run(
                f"DELETE FROM url WHERE gone_at < :before AND origin_id IN {ours}",  # noqa: S608
                named,
            )
            for table in ("page", "waiting_look", "look"):
                self._db.run(f"DELETE FROM {table} WHERE url_id NOT IN (SELECT id FROM url)")  # noqa: S608
            for table in ("look", "verdict"):
                self._db.run(
                    f"DELETE FROM {table} WHERE run_id IN"  # noqa: S608 - names are ours
                    " (SELECT id FROM run WHERE started_at < :before)",
                    named,
                )
            self._db.run(
                f"DELETE FROM run_origin WHERE origin_id IN {ours}"  # noqa: S608 - names are ours
                " AND run_id IN (SELECT id FROM run WHERE started_at < :before)"
                " AND (origin_id, run_id) NOT IN"
                " (SELECT origin_id, max(run_id) FROM run_origin GROUP BY origin_id)",
                named,
            )
            self._db.run(f"UPDATE file SET run_id = NULL WHERE run_id IN ({unused})", named)  # noqa: S608
            runs = self._db.run(f"DELETE FROM run WHERE id IN ({unused})", named)  # noqa: S608
        return urls, runs

    # -- files -------------------------------------------------------------------------------------

    def orphans(self, origin_id: int, run_id: int) -> list[str]:
        found = self._db.rows(
            "SELECT url, id, kind FROM file WHERE origin_id = ? AND run_id IS NOT ?"
            " AND found_by IN ('robots', 'index', 'urlset')"
            " AND NOT EXISTS (SELECT 1 FROM file_parent WHERE file_id = file.id)"
            " AND EXISTS (SELECT 1 FROM listing WHERE listing.file_id = file.id) ORDER BY id",
            (origin_id, run_id),
        )
        for _, file_id, kind in found:
            if kind == PAGE:  # a page that an index named, and names no more
                with self._db.write():
                    listed = self._db.rows(LISTED, (file_id,))
                    self._unlist(file_id, origin_id, [row[ID] for row in listed])
        return [
            url
            for url, file_id, kind in found
            if kind != PAGE and not self._forget_repeats(file_id)
        ]

    def _forget_repeats(self, file_id: int) -> bool:
        """Forget what a file lists if others list all of it; false if one URL is only there."""
        only_here = (
            "SELECT 1 FROM listing AS l WHERE file_id = ? AND NOT EXISTS"
            " (SELECT 1 FROM listing AS o WHERE o.url_id = l.url_id AND o.file_id <> l.file_id)"
        )
        if self._db.rows(f"{only_here} LIMIT 1", (file_id,)):
            return False
        with self._db.write():
            self._db.run("DELETE FROM listing WHERE file_id = ?", (file_id,))
        return True

    def begin_file(self, origin_id: int, file: FoundFile, run_id: int, now: int) -> FileRead:
        known = self.known_file(origin_id, file.url)
        if known is None or (run_id, origin_id) not in self._entered:
            with self._db.write():
                self._enter(run_id, origin_id)
                self._insert_files(origin_id, [file], now)
            known = self.known_file(origin_id, file.url)
        assert known is not None
        return FileRead(known, origin_id, run_id)

    def finish_file(self, read: FileRead, file: ReadFile, now: int, *, gone_after: int = 2) -> int:
        columns = read_columns(file, read.known, read.run_id, now)
        names = ", ".join(f"{name} = ?" for name in columns)
        children = [child for child in file.children if is_text(child.url)]
        vanished = columns.get("missing", 0) >= gone_after
        with self._db.write():
            dropped = self._drop(read) if file.state is State.COMPLETE or vanished else 0
            if file.state is State.PARTIAL:
                self._touch(read, now)
            self._db.run(
                f"UPDATE file SET {names} WHERE id = ?",  # noqa: S608 - names are ours
                (*columns.values(), read.file_id),
            )
            self._insert_files(read.origin_id, children, now)
            self._name(read, [child.url for child in children], whole=is_read(file))
        return dropped

    def _touch(self, read: FileRead, now: int) -> None:
        """A partial read says nothing of what it did not meet, but it saw what it met."""
        self._db.run_many(
            "UPDATE url SET last_seen = ? WHERE id = ?", [(now, url_id) for url_id in read.met]
        )

    def _enter(self, run_id: int, origin_id: int) -> None:
        self._db.run(
            "INSERT INTO run_origin SELECT ?, ?, coalesce(max(id), 0) FROM url WHERE true"
            " ON CONFLICT DO NOTHING",
            (run_id, origin_id),
        )
        self._entered.add((run_id, origin_id))

    def _insert_files(self, origin_id: int, files: Iterable[FoundFile], now: int) -> None:
        self._db.run_many(
            "INSERT INTO file"
            " (origin_id, url, found_by, found_in, depth, index_lastmod, first_seen)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (origin_id, url) DO UPDATE SET index_lastmod = excluded.index_lastmod"
            " WHERE coalesce(file.index_lastmod, -1) <> excluded.index_lastmod",
            [
                (origin_id, f.url, f.found_by, f.parent, f.depth, f.index_lastmod, now)
                for f in files
            ],
        )

    def _name(self, read: FileRead, urls: Sequence[str], *, whole: bool) -> None:
        """Record which files the file names; what a complete read no longer names is taken off."""
        known = self._db.rows(
            "SELECT url, file_id FROM file_parent JOIN file ON file.id = file_id"
            " WHERE parent_id = ?",
            (read.file_id,),
        )
        before, names = dict(known), set(urls)
        self._db.run_many(
            "INSERT INTO file_parent SELECT id, ? FROM file WHERE origin_id = ? AND url = ?"
            " ON CONFLICT DO NOTHING",
            [(read.file_id, read.origin_id, url) for url in urls if url not in before],
        )
        self._db.run_many(
            "DELETE FROM file_parent WHERE file_id = ? AND parent_id = ?",
            [(before[url], read.file_id) for url in before if whole and url not in names],
        )

    def _drop(self, read: FileRead) -> int:
        """Take off the file what a complete read did not meet."""
        ids = [row[ID] for row in self._listed(read).values()]
        complete_at = read.known.complete_at
        if complete_at is not None:
            self._db.run_many(
                "UPDATE url SET last_seen = ? WHERE id = ? AND coalesce(last_seen, 0) < ?",
                [(complete_at, url_id, complete_at) for url_id in ids],
            )
        self._unlist(read.file_id, read.origin_id, ids)
        return len(ids)

    def _unlist(self, file_id: int, origin_id: int, ids: Iterable[int]) -> None:
        """The file does not list these URLs any more; whether they are gone is judged later."""
        self._db.run_many(
            "DELETE FROM listing WHERE file_id = ? AND url_id = ?",
            [(file_id, url_id) for url_id in ids],
        )
        self._db.run_many(
            "INSERT INTO dropped VALUES (?, ?, ?)"
            " ON CONFLICT (url_id) DO UPDATE SET file_id = excluded.file_id",
            [(url_id, origin_id, file_id) for url_id in ids],
        )

    def retire(self, origin_id: int, now: int, *, share: float = 1.0) -> dict[str, list[int]]:
        with self._db.write():
            self._db.run(
                "DELETE FROM dropped WHERE origin_id = ? AND EXISTS"
                " (SELECT 1 FROM listing WHERE listing.url_id = dropped.url_id)",
                (origin_id,),
            )
            dropped = self._db.rows(
                "SELECT coalesce(file.url, ''), url_id FROM dropped JOIN url ON url.id = url_id"
                " LEFT JOIN file ON file.id = dropped.file_id"
                " WHERE dropped.origin_id = ? AND gone_at IS NULL ORDER BY dropped.file_id, url_id",
                (origin_id,),
            )
            left = len(dropped)
            if left > MASS and left > share * self._count_present(origin_id):
                return {}
            self._db.run(
                "UPDATE url SET gone_at = ? WHERE gone_at IS NULL AND id IN"
                " (SELECT url_id FROM dropped WHERE origin_id = ?)",
                (now, origin_id),
            )
            self._db.run("DELETE FROM dropped WHERE origin_id = ?", (origin_id,))
        gone: dict[str, list[int]] = {}
        for url, url_id in dropped:
            gone.setdefault(url, []).append(url_id)
        return gone

    def _count_present(self, origin_id: int) -> int:
        query = "SELECT count(*) FROM url WHERE origin_id = ? AND gone_at IS NULL"
        return int(self._db.rows(query, (origin_id,))[0][0])

    # -- URLs --------------------------------------------------------------------------------------

    def add_urls(
        self,
        read: FileRead,
        entries: Entries,
        keys: Sequence[bytes],
        scopes: Sequence[str],
        now: int,
    ) -> Marks:
        columns = batch_columns(entries, keys, scopes)
        with self._db.write(rows=len(keys)):
            self._begin(read, now)
            if all_text(columns):
                return self._add(read, columns, now)
            return self._add_storable(read, columns, now)

    def add_listings(self, read: FileRead, keys: Iterable[bytes]) -> None:
        keys = list(keys)
        with self._db.write(rows=len(keys)):
            listed = self._listed(read)
            known = [listed.pop(key) for key in keys if key in listed]
            left = [key for key in keys if key not in listed]
            others = self._db.rows_in(LOOK_UP, (read.origin_id,), left)
            self._list(read, others)
            read.met.extend(row[ID] for row in chain(known, others))

    def _begin(self, read: FileRead, now: int) -> None:
        """With a file's first batch: mark the read as begun, fetch what the file listed before."""
        if read.listed is None:
            self._db.run("UPDATE file SET begun_at = ? WHERE id = ?", (now, read.file_id))
            self._listed(read)

    def _listed(self, read: FileRead) -> dict[bytes, Known]:
        if read.listed is None:
            read.listed = {row[KEY]: row for row in self._db.rows(LISTED, (read.file_id,))}
        return read.listed

    def _add(self, read: FileRead, columns: Columns, now: int) -> Marks:
        if read.origin_id in self._empty and not read.listed:
            last = self._db.rows("SELECT coalesce(max(id), 0) FROM url")[0][0]
            try:
                self._insert(read, columns, now)
                size = len(columns["key"])
                return Marks([NEW] * size, [now] * size)
            except NotUnique:  # somebody else writes this origin too, or a key comes twice
                self._empty.discard(read.origin_id)
                self._undo(read, last)
        return self._merge(read, columns, now)

    def _undo(self, read: FileRead, last: int) -> None:
        """Take back what was inserted behind the row ``last``; a savepoint would copy every page
        that a batch touches."""
        self._db.run("DELETE FROM listing WHERE file_id = ? AND url_id > ?", (read.file_id, last))
        self._db.run("DELETE FROM url WHERE id > ?", (last,))

    def _add_storable(self, read: FileRead, columns: Columns, now: int) -> Marks:
        """One bad text must not lose its batch."""
        flags = storable(columns)
        marks = self._add(read, mended(pick(columns, flags)), now)
        changes, first_seen = iter(marks.changes), iter(marks.first_seen)
        return Marks(
            [next(changes) if flag else REJECTED for flag in flags],
            [next(first_seen) if flag else now for flag in flags],
        )

    def _insert(self, read: FileRead, columns: Columns, now: int) -> None:
        """Insert rows that are all new, and that the file lists them."""
        shared = {"origin_id": read.origin_id, "first_seen": now, "file_id": read.file_id}
        for ids in self._db.insert("url", shared, without_empty(columns)):
            self._db.run(
                "INSERT INTO listing SELECT ?, id FROM url WHERE id BETWEEN ? AND ?",
                (read.file_id, ids[0], ids[-1]),
            )

    def _merge(self, read: FileRead, columns: Columns, now: int) -> Marks:
        """Compare rows with what is known; write those that differ."""
        keys, listed = columns["key"], self._listed(read)
        left = [key for key in keys if key not in listed]
        others = {row[KEY]: row for row in self._db.rows_in(LOOK_UP, (read.origin_id,), left)}
        known = [listed.get(key) or others.get(key) for key in keys]
        result = compare(
            columns,
            known,
            now,
            file_id=read.file_id,
            begun_at=read.known.begun_at,
            others=self._of_others(read, known),
        )
        self._db.run_many(UPDATE_URL, result.updates)
        if any(result.fresh):
            self._insert(read, pick(columns, result.fresh), now)
        self._list(read, others.values())
        for key in keys:
            listed.pop(key, None)
        read.met.extend(result.met)
        return Marks(result.changes, result.first_seen)

    def _of_others(self, read: FileRead, known: Iterable[Known | None]) -> set[int]:
        """The ids of URLs that another file was read for, and lists still."""
        own = (None, read.file_id)
        left = [row[ID] for row in known if row and row[FILE_ID] not in own]
        return {url_id for (url_id,) in self._db.rows_in(OF_THEIR_FILE, (), left)}

    def _list(self, read: FileRead, known: Iterable[Known]) -> None:
        """Record that the file lists URLs that were stored before it did."""
        self._db.run_many(
            "INSERT INTO listing VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(read.file_id, row[ID]) for row in known],
        )
