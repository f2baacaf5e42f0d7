"""Schema versions: a new database, older ones led up, newer ones refused."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from stores import DAY, opened

from sitemap_discovery.inventory.migrate import migrate, migrations, schema
from sitemap_discovery.inventory.store import SchemaTooNew, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_discovery.inventory.store import Store

OURS = "".join(
    f"CREATE TABLE {name} (id INTEGER PRIMARY KEY);\n" for name in ("origin", "run", "file")
)
V1 = OURS + "CREATE TABLE url (id INTEGER PRIMARY KEY, loc TEXT);\n"
V3 = OURS + "CREATE TABLE url (id INTEGER PRIMARY KEY, loc TEXT, a TEXT DEFAULT 'x', b TEXT);\n"
STEPS = {
    2: "ALTER TABLE url ADD COLUMN a TEXT DEFAULT 'x'; -- one;\n",
    3: "ALTER TABLE url ADD COLUMN b TEXT;\nUPDATE url\n  SET b = loc;\n",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "inventory.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path, isolation_level=None)
    yield database
    database.close()


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def at_version_1(connection: sqlite3.Connection, path: Path) -> None:
    migrate(connection, path, {}, V1)
    connection.execute("INSERT INTO url (loc) VALUES ('kept')")


def test_an_empty_database_gets_the_current_schema(
    connection: sqlite3.Connection, path: Path
) -> None:
    migrate(connection, path, STEPS, V3)
    assert version(connection) == 3
    assert connection.execute("SELECT * FROM url").description[-1][0] == "b"


def test_an_older_database_is_led_up_and_keeps_its_rows(
    connection: sqlite3.Connection, path: Path
) -> None:
    at_version_1(connection, path)
    migrate(connection, path, STEPS, V3)
    assert version(connection) == 3
    assert connection.execute("SELECT loc, a, b FROM url").fetchall() == [("kept", "x", "kept")]
    assert [entry.name for entry in path.parent.glob("*.bak")] == []


def test_steps_that_were_done_are_not_done_again(
    connection: sqlite3.Connection, path: Path
) -> None:
    at_version_1(connection, path)
    for steps in ({2: STEPS[2]}, STEPS, STEPS):
        migrate(connection, path, steps, V3)
    assert version(connection) == 3


def test_a_failing_step_changes_nothing_and_leaves_the_copy(
    connection: sqlite3.Connection, path: Path
) -> None:
    at_version_1(connection, path)
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, path, {**STEPS, 4: "UPDATE nothing SET a = 1;\n"}, V3)
    assert version(connection) == 1
    (copy,) = path.parent.glob("*.bak")
    kept = sqlite3.connect(copy)
    assert kept.execute("SELECT loc FROM url").fetchall() == [("kept",)]
    kept.close()


def test_a_newer_database_is_refused(connection: sqlite3.Connection, path: Path) -> None:
    migrate(connection, path, STEPS, V3)
    with pytest.raises(SchemaTooNew, match=r"schema version 3.*reads up to 1.*upgrade"):
        migrate(connection, path, {}, V1)


def test_a_database_of_something_else_is_refused(
    connection: sqlite3.Connection, path: Path
) -> None:
    connection.execute("CREATE TABLE holiday (photo BLOB)")
    with pytest.raises(StoreUnavailable, match="is no inventory"):
        migrate(connection, path, STEPS, V3)


def test_the_schema_and_its_steps_lead_to_one_version() -> None:
    assert sqlite3.complete_statement(schema().rstrip())
    assert sorted(migrations()) == list(range(2, 2 + len(migrations())))


def test_a_database_of_the_first_schema_keeps_its_data(path: Path) -> None:
    script = (Path(__file__).parents[1] / "data" / "inventory-v1.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as old:
        old.executescript(script)
    with opened(f"sqlite:///{path}") as crawler:
        names = {name for (name,) in crawler.store.rows("SELECT name FROM sqlite_schema")}
        assert {"url_gone", "url_changed", "files"} <= names
        assert crawler.present() == {"a", "c", "d"}
        assert crawler.rows("reads, missing", "file") == [(1, 0), (1, 0), (0, 0)]
        crawler.now += 2 * DAY
        with crawler.run():
            marks = crawler.read({"a": "2026-09-03", "b": None, "e": None})
        assert marks.changes == ["unchanged", "returned", "new"]
        assert crawler.present() == {"a", "b", "e"}


def test_a_migrated_database_is_like_a_new_one(path: Path) -> None:
    script = (Path(__file__).parents[1] / "data" / "inventory-v1.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as old:
        old.executescript(script)
    with opened(f"sqlite:///{path}") as led_up, opened(f"sqlite:///{path}.new") as fresh:
        assert columns(led_up.store) == columns(fresh.store)


def columns(store: Store) -> set[tuple[Any, ...]]:
    """Table, column, type and default of each column; names and statements of the rest."""
    found = store.rows(
        'SELECT m.name, c.name, c.type, c."notnull", c.dflt_value FROM sqlite_schema m'
        " JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
    )
    rest = store.rows("SELECT name, sql FROM sqlite_schema WHERE type <> 'table'")
    return {*found, *rest}


OPENER = """
import sqlite3, sys, pathlib
from sitemap_discovery.inventory.store import open_store
open_store(f"sqlite:///{sys.argv[1]}").close()
"""


def test_processes_that_open_a_new_database_at_once_all_succeed(path: Path) -> None:
    openers = [subprocess.Popen([sys.executable, "-c", OPENER, str(path)]) for _ in range(4)]
    assert [opener.wait(timeout=60) for opener in openers] == [0, 0, 0, 0]
