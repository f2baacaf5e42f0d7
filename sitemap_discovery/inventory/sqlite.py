"""The inventory in an SQLite file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.migrate import migrate, migrations, schema
from sitemap_discovery.inventory.store import FileRead, Marks, Store, StoreUnavailable
from sitemap_discovery.protocol.codes import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sitemap_discovery.inventory.store import FoundFile, ReadFile
    from sitemap_discovery.protocol.entries import Entries

BUSY_SECONDS: Final = 30
PIECE: Final = 2_000
"""Rows of one INSERT, keys of one look-up: ten parameters a row stay below SQLite's 32,766."""

SCOPES: Final = {"in-path": 0, "same-host": 1, "cross-submitted": 2, "foreign": 3}
PRECISIONS: Final = {"year": 0, "month": 1, "day": 2, "minute": 3, "second": 4}
CHANGEFREQS: Final = {
    "always": 0, "hourly": 1, "daily": 2, "weekly": 3, "monthly": 4, "yearly": 5, "never": 6,
}  # fmt: skip

COMMIT_ROWS: Final = 50_000
"""Rows a transaction may hold: a whole file of the protocol's size. Each commit writes every page
of the key index that it touched, so few large ones cost a fraction of many small ones."""

PRAGMAS: Final = (
    "PRAGMA page_size = 16384",  # a third less CPU for a batch of new keys than 4096
    f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # a power cut may lose the last batches, never more
    "PRAGMA cache_size = -65536",
    "PRAGMA wal_autocheckpoint = 4096",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA mmap_size = 0",  # an I/O error would end the process
)

FILE_FIELDS: Final = (
    "kind", "state", "reason", "status", "final_url", "etag", "last_modified", "digest",
    "bytes_wire", "bytes_unpacked", "entries_kept", "entries_lost", "error_line", "error_byte",
)  # fmt: skip
"""Columns of ``file`` that a read fills from the attributes of the same name."""

COMPLETE: Final = frozenset({State.COMPLETE, State.UNCHANGED})


class SqliteStore(Store):
    """An inventory in one file; several processes may write it at once, each waits its turn."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        self._empty: set[int] = set()  # origins of which only this store has written URLs
        self._uncommitted = 0  # rows of the open transaction, if one is
        if not create and not path.is_file():
            raise StoreUnavailable(f"there is no inventory at {path}: run scrapy crawl sitemaps first")
        with self._faults():
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            for pragma in PRAGMAS:
                self._db.execute(pragma)
            migrate(self._db, path, migrations(), schema())

    def close(self) -> None:
        with self._faults():
            self._db.close()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._faults():
            return self._db.execute(sql, parameters).fetchall()

    # -- runs and origins --------------------------------------------------------------------------

    def begin_run(
        self, *, spider: str, job: str | None, arguments: Mapping[str, str], now: int
    ) -> int:
        with self._write() as db:
            cursor = db.execute(
                "INSERT INTO run (spider, job, arguments, started_at) VALUES (?, ?, ?, ?)",
                (spider, job, json.dumps(dict(arguments)), now),
            )
        return int(cursor.lastrowid or 0)

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
        with self._write() as db:
            db.execute(
                "UPDATE run SET state = ?, reason = ?, finish_reason = ?, summary = ?,"
                " finished_at = ? WHERE id = ?",
                (state, reason, finish_reason, json.dumps(dict(summary)), now, run_id),
            )

    def origin_id(self, root: str, now: int) -> int:
        with self._write() as db:
            db.execute(
                "INSERT INTO origin (root, first_seen) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (root, now),
            )
            ((number,),) = db.execute("SELECT id FROM origin WHERE root = ?", (root,))
            known = db.execute("SELECT 1 FROM url WHERE origin_id = ? LIMIT 1", (number,)).fetchone()
        if known is None:
            self._empty.add(number)
        return int(number)

    # -- files -------------------------------------------------------------------------------------

    def begin_file(self, origin_id: int, file: FoundFile, run_id: int, now: int) -> FileRead:
        with self._write() as db:
            self._insert_files(db, origin_id, [file], now)
            ((file_id,),) = db.execute(
                "SELECT id FROM file WHERE origin_id = ? AND url = ?", (origin_id, file.url)
            )
        members = self.rows("SELECT url_id FROM listing WHERE file_id = ?", (file_id,))
        return FileRead(file_id, origin_id, run_id, {url_id for (url_id,) in members})

    def finish_file(self, read: FileRead, file: ReadFile, now: int) -> int:
        names = ", ".join(f"{name} = ?" for name in FILE_FIELDS)
        values = [getattr(file, name) for name in FILE_FIELDS]
        values[1] = str(file.state) if file.state else None
        complete = file.state in COMPLETE
        with self._write() as db:
            gone = self._take_off(db, read, now) if file.state is State.COMPLETE else 0
            if not complete:
                self._touch(db, read, now)
            db.execute(
                f"UPDATE file SET {names}, findings = ?, fetched_at = ?, run_id = ?,"  # noqa: S608 - names are ours
                " complete_at = coalesce(?, complete_at) WHERE id = ?",
                (*values, _findings(file), now, read.run_id, now if complete else None, read.file_id),
            )
            self._insert_files(db, read.origin_id, file.children, now)
            db.executemany(
                "INSERT INTO file_parent SELECT id, ? FROM file WHERE origin_id = ? AND url = ?"
                " ON CONFLICT DO NOTHING",
                [(read.file_id, read.origin_id, child.url) for child in file.children],
            )
        return gone

    def _insert_files(
        self, db: sqlite3.Connection, origin_id: int, files: Iterable[FoundFile], now: int
    ) -> None:
        db.executemany(
            "INSERT INTO file (origin_id, url, found_by, depth, index_lastmod, first_seen)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET index_lastmod = excluded.index_lastmod",
            [(origin_id, f.url, f.found_by, f.depth, f.index_lastmod, now) for f in files],
        )

    def _take_off(self, db: sqlite3.Connection, read: FileRead, now: int) -> int:
        """Take off the file what a complete read did not meet; what no file lists is gone."""
        left = [(read.file_id, url_id) for url_id in read.members]
        db.executemany("DELETE FROM listing WHERE file_id = ? AND url_id = ?", left)
        before = db.total_changes
        db.executemany(
            "UPDATE url SET listed_by = listed_by - 1 WHERE id = ?", [(i,) for _, i in left]
        )
        before = db.total_changes
        db.executemany(
            "UPDATE url SET gone_at = ?, last_seen ="
            " coalesce((SELECT complete_at FROM file WHERE id = ?), last_seen, first_seen)"
            " WHERE id = ? AND listed_by <= 0 AND gone_at IS NULL",
            [(now, read.file_id, url_id) for _, url_id in left],
        )
        return db.total_changes - before

    def _touch(self, db: sqlite3.Connection, read: FileRead, now: int) -> None:
        """A read that is not complete still saw what it met."""
        db.executemany("UPDATE url SET last_seen = ? WHERE id = ?", [(now, i) for i in read.met])

    # -- URLs --------------------------------------------------------------------------------------

    def add_urls(
        self, read: FileRead, entries: Entries, keys: Sequence[bytes], scopes: Sequence[str], now: int
    ) -> Marks:
        columns = _columns(entries, keys, scopes)
        with self._write(rows=len(keys)) as db:
            if read.origin_id in self._empty:
                db.execute("SAVEPOINT batch")
                try:
                    self._insert(db, read, columns, len(keys), now)
                    return Marks(["new"] * len(keys), [now] * len(keys))
                except sqlite3.IntegrityError:  # somebody else writes this origin too
                    db.execute("ROLLBACK TO batch")
                    self._empty.discard(read.origin_id)
            return self._merge(db, read, columns, now)

    def add_listings(self, read: FileRead, keys: Iterable[bytes]) -> None:
        with self._write() as db:
            known = self._look_up(db, read.origin_id, list(keys), "id")
            self._list(db, read, [row[1] for row in known])

    def _insert(
        self, db: sqlite3.Connection, read: FileRead, columns: Columns, size: int, now: int
    ) -> None:
        """Insert rows that are all new; columns that hold nothing are left to their defaults."""
        used = {name: values for name, values in columns.items() if name in ALWAYS or any_set(values)}
        names = "".join(f", {name}" for name in used)
        row = "(?1, ?2" + ", ?" * len(used) + ")"
        rows = list(zip(*used.values()))
        for start in range(0, size, PIECE):
            piece = rows[start : start + PIECE]
            cursor = db.execute(
                f"INSERT INTO url (origin_id, first_seen{names}) VALUES "  # noqa: S608 - names are ours
                + ", ".join([row] * len(piece)),
                [read.origin_id, now, *chain.from_iterable(piece)],
            )
            last = cursor.lastrowid or 0
            db.execute(
                "INSERT INTO listing SELECT ?, id FROM url WHERE id BETWEEN ? AND ?",
                (read.file_id, last - len(piece) + 1, last),
            )

    def _merge(
        self, db: sqlite3.Connection, read: FileRead, columns: Columns, now: int
    ) -> Marks:
        """Compare rows with what is known; write those that differ."""
        known = {row[0]: row[1:] for row in self._look_up(db, read.origin_id, columns["key"], KNOWN)}
        marks = Marks([], [])
        new: dict[bytes, int] = {}
        updates: list[tuple[Any, ...]] = []
        met: list[int] = []
        for i, row in enumerate(zip(*(columns[name] for name in COMPARED))):
            key = columns["key"][i]
            before = known.get(key)
            if before is None:
                new.setdefault(key, i)
                marks.changes.append("new")
                marks.first_seen.append(now)
                continue
            change = _change(before, row)
            marks.changes.append(change)
            marks.first_seen.append(before[1])
            met.append(before[0])
            if change != "unchanged" or before[3:] != row:
                updates.append((*row, change, now, before[0]))
        db.executemany(UPDATE, updates)
        if new:
            picked = {name: [values[i] for i in new.values()] for name, values in columns.items()}
            self._insert(db, read, picked, len(new), now)
        self._list(db, read, met)
        return marks

    def _list(self, db: sqlite3.Connection, read: FileRead, url_ids: Iterable[int]) -> None:
        """Record that the file lists URLs that are known; new listings count on the URL's row."""
        fresh = []
        for url_id in url_ids:
            read.met.append(url_id)
            if url_id in read.members:
                read.members.discard(url_id)
            else:
                fresh.append(url_id)
        for url_id in fresh:
            added = db.execute(
                "INSERT INTO listing VALUES (?, ?) ON CONFLICT DO NOTHING", (read.file_id, url_id)
            )
            if added.rowcount > 0:
                db.execute("UPDATE url SET listed_by = listed_by + 1 WHERE id = ?", (url_id,))

    def _look_up(
        self, db: sqlite3.Connection, origin_id: int, keys: Sequence[bytes], names: str
    ) -> list[tuple[Any, ...]]:
        found = []
        for start in range(0, len(keys), PIECE):
            piece = keys[start : start + PIECE]
            marks = ", ".join("?" * len(piece))
            found += db.execute(
                f"SELECT key, {names} FROM url WHERE origin_id = ? AND key IN ({marks})",  # noqa: S608 - names are ours
                [origin_id, *piece],
            ).fetchall()
        return found

    # -- transactions and faults -------------------------------------------------------------------

    @contextmanager
    def _write(self, rows: int = 0) -> Iterator[sqlite3.Connection]:
        """Part of a transaction that has the write lock from its start.

        Batches of rows wait for one another up to ``COMMIT_ROWS``; anything else commits at once,
        and what waits with it.
        """
        with self._faults():
            if not self._db.in_transaction:
                self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._uncommitted += rows
                if not rows or self._uncommitted >= COMMIT_ROWS:
                    self._db.execute("COMMIT")
                    self._uncommitted = 0
            except BaseException:
                self._uncommitted = 0
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """SQLite's errors as one line each."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailable(
                f"the inventory {self.path} cannot be used: {error}; {_advice(str(error))}"
            ) from error


Columns = dict[str, Any]

ALWAYS: Final = frozenset({"key", "loc"})
COMPARED: Final = (
    "lastmod", "lastmod_precision", "lastmod_raw", "changefreq", "priority", "details", "scope",
)  # fmt: skip
KNOWN: Final = "id, first_seen, gone_at, " + ", ".join(COMPARED)
UPDATE: Final = (
    "UPDATE url SET lastmod_before = CASE WHEN ?8 = 'changed' THEN lastmod ELSE lastmod_before END,"
    " lastmod = ?1, lastmod_precision = ?2, lastmod_raw = ?3, changefreq = ?4, priority = ?5,"
    " details = ?6, scope = ?7,"
    " listed_by = CASE WHEN ?8 = 'returned' THEN 0 ELSE listed_by END,"
    " changed_at = CASE WHEN ?8 = 'unchanged' THEN changed_at ELSE ?9 END, gone_at = NULL"
    " WHERE id = ?10"
)


def _columns(entries: Entries, keys: Sequence[bytes], scopes: Sequence[str]) -> Columns:
    """The batch in the store's terms."""
    lastmods = entries.lastmods
    return {
        "key": list(keys),
        "loc": entries.locs,
        "lastmod": [value and value[0] for value in lastmods],
        "lastmod_precision": [value and PRECISIONS.get(value[2]) for value in lastmods],  # type: ignore[arg-type]
        "lastmod_raw": [value and value[3] for value in lastmods],
        "changefreq": [CHANGEFREQS.get(word) for word in entries.changefreqs],  # type: ignore[arg-type]
        "priority": entries.priorities,
        "details": [value and json.dumps(value) for value in entries.details],
        "scope": [SCOPES[scope] for scope in scopes],
    }


def any_set(values: Sequence[Any]) -> bool:
    """Whether a column holds anything but nothing (or, for scopes, the default)."""
    return any(values) or values.count(0) + values.count(None) != len(values)


def _change(before: tuple[Any, ...], row: tuple[Any, ...]) -> str:
    if before[2] is not None:
        return "returned"
    same = before[3:5] == row[:2] and (row[0] is not None or before[5] == row[2])
    return "unchanged" if same else "changed"


def _findings(file: ReadFile) -> str | None:
    found = [asdict(finding) for finding in file.findings]
    return json.dumps(found) if found else None


def _advice(cause: str) -> str:
    """What the operator can do about it."""
    for mark, advice in (
        ("locked", "another process holds it; wait for it or stop it"),
        ("full", "make room on the disk"),
        ("not a database", "give another INVENTORY_URL"),
        ("malformed", "restore a copy, or give another INVENTORY_URL"),
    ):
        if mark in cause:
            return advice
    return "check that the folder exists and may be written, or give another INVENTORY_URL"
