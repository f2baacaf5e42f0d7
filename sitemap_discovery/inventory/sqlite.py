"""The inventory in an SQLite file."""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.database import Database, NotUnique
from sitemap_discovery.inventory.migrate import migrate, migrations, schema
from sitemap_discovery.inventory.store import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sitemap_discovery.inventory.store import Parameters

BUSY_SECONDS: Final = 30

PIECE: Final = 2_000
"""Rows of one INSERT, values of one look-up: eleven a row stay below SQLite's 32,766."""

COMMIT_ROWS: Final = 50_000
"""Rows a transaction may hold: a whole file of the protocol's size. Each commit writes every page
of the key index that it touched, so few large ones cost a fraction of many small ones."""

PRAGMAS: Final = (
    "PRAGMA page_size = 16384",  # a third less CPU for a batch of new keys than 4096
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # a power cut may lose the last batches, never more
    "PRAGMA cache_size = -49152",  # keys come in no order: large inventories gain a third
    "PRAGMA wal_autocheckpoint = 4096",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA mmap_size = 0",  # an I/O error would end the process
)


class SqliteDatabase(Database):
    """One file; several processes may write it at once, each waits its turn up to 30 seconds."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        self._uncommitted = 0  # rows of the open transaction
        if not create and not path.is_file():
            raise StoreUnavailable(f"there is no inventory at {path}: run scrapy crawl first")
        with self._faults():
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            with self._faults():
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        _patiently(self._db, PRAGMAS)
        migrate(self._db, self.path, migrations(), schema())
        self._db.execute("PRAGMA foreign_keys = ON")

    def close(self) -> None:
        with self._faults():
            if self._db.in_transaction:
                self._db.execute("COMMIT")
            self._db.close()

    # -- statements --------------------------------------------------------------------------------

    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        with self._faults():
            return self._db.execute(sql, parameters).fetchall()

    def pages(self, sql: str, parameters: Parameters, size: int) -> Iterator[list[tuple[Any, ...]]]:
        with self._faults():
            cursor = self._db.execute(sql, parameters)
            while rows := cursor.fetchmany(size):
                yield rows

    def rows_in(
        self, sql: str, parameters: Sequence[Any], values: Sequence[Any]
    ) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(values), PIECE):
            piece = values[start : start + PIECE]
            marks = ", ".join("?" * len(piece))
            found += self.rows(f"{sql} ({marks})", [*parameters, *piece])
        return found

    def run(self, sql: str, parameters: Parameters = ()) -> int:
        with self._faults():
            return self._db.execute(sql, parameters).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._faults():
            self._db.executemany(sql, rows)

    def insert(
        self, table: str, shared: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]
    ) -> list[range]:
        """One statement for many rows costs a third less than ``executemany``."""
        names, constants = (*shared, *columns), list(shared.values())
        rows = list(zip(*columns.values(), strict=True))
        ids = []
        for start in range(0, len(rows), PIECE):
            piece = rows[start : start + PIECE]
            sql = _insert_text(table, names, len(shared), len(piece))
            with self._faults():
                cursor = self._db.execute(sql, [*constants, *chain.from_iterable(piece)])
            last = cursor.lastrowid or 0
            ids.append(range(last - len(piece) + 1, last + 1))
        return ids

    # -- transactions and faults -------------------------------------------------------------------

    @contextmanager
    def write(self, rows: int = 0) -> Iterator[None]:
        """``BEGIN IMMEDIATE``: a lock that is waited for, not a read that cannot be upgraded."""
        if not self._db.in_transaction:
            self.run("BEGIN IMMEDIATE")
        try:
            yield
            self._uncommitted += rows
            if not rows or self._uncommitted >= COMMIT_ROWS:
                self.run("COMMIT")
                self._uncommitted = 0
        except BaseException:
            self._uncommitted = 0
            if self._db.in_transaction:
                self.run("ROLLBACK")
            raise

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """SQLite's errors as one line each."""
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise NotUnique(f"the inventory {self.path} refuses a row: {error}") from error
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailable(
                f"the inventory {self.path} cannot be used: {error}; {_advice(str(error))}"
            ) from error


@lru_cache(maxsize=64)
def _insert_text(table: str, names: tuple[str, ...], shared: int, rows: int) -> str:
    marks = [f"?{i}" for i in range(1, shared + 1)] + ["?"] * (len(names) - shared)
    values = ", ".join([f"({', '.join(marks)})"] * rows)
    # FAIL, not the default ABORT, which keeps a copy of every page that a statement touches
    return f"INSERT OR FAIL INTO {table} ({', '.join(names)}) VALUES {values}"  # noqa: S608 - names are ours


def _patiently(connection: sqlite3.Connection, statements: Iterable[str]) -> None:
    """Execute statements that SQLite refuses at once, without waiting, while another process
    opens the same new file."""
    deadline = time.monotonic() + BUSY_SECONDS
    for statement in statements:
        while True:
            try:
                connection.execute(statement)
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


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
