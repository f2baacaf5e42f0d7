"""Brings a database to the schema's current version, keeping its data."""

from __future__ import annotations

import os
import sqlite3
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from sitemap_discovery.inventory.store import SchemaTooNew, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PACKAGE: Final = "sitemap_discovery.inventory"


def schema() -> str:
    """The statements that make the current schema."""
    return files(PACKAGE).joinpath("schema.sql").read_text(encoding="utf-8")


def migrations() -> dict[int, str]:
    """Version to the statements that lead to it from the one before, ``NNN_name.sql`` each."""
    folder = files(PACKAGE).joinpath("migrations")
    return {
        int(entry.name[:3]): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".sql")
    }


def migrate(
    connection: sqlite3.Connection, path: Path, steps: Mapping[int, str], fresh: str
) -> None:
    """Create the schema in an empty database, or lead an older one up to the current version.

    The steps run in one transaction, after a copy beside the database that is removed when they
    are through and left when they fail. Several processes may call this at once. Raises
    :class:`SchemaTooNew`, and :class:`StoreUnavailable` for a database that is not an inventory.
    """
    current = max(steps, default=1)
    found = _version(connection, path, current)
    if found == current:
        return
    copy = path.with_name(f"{path.name}.v{found}-{os.getpid()}.bak")
    if found:
        connection.execute("VACUUM INTO ?", (str(copy),))
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection, path, current)  # another process may have been faster
        steps = steps if found else {current: fresh}
        scripts = [steps[n] for n in sorted(steps) if n > found]
        for script in scripts:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {current}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    copy.unlink(missing_ok=True)


def _version(connection: sqlite3.Connection, path: Path, current: int) -> int:
    """The schema's version, 0 in an empty database."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    if tables and not {"origin", "run", "file", "url"} <= tables:
        raise StoreUnavailable(f"{path} is no inventory: give another INVENTORY_URL")
    if version > current:
        raise SchemaTooNew(
            f"{path} has schema version {version}, this version of sitemap_discovery reads up to "
            f"{current}: upgrade sitemap_discovery, or give another INVENTORY_URL"
        )
    return int(version)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; ``executescript`` would commit before it starts."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
