"""Brings a database to the schema's current version, keeping its data."""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_discovery.inventory.store import SchemaTooNew

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = "sitemap_discovery.inventory"


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
    are through. Raises :class:`SchemaTooNew`; several processes may call this at once.
    """
    current = max(steps, default=1)
    found = _version(connection)
    if found > current:
        raise SchemaTooNew(
            f"{path} has schema version {found}, this version of sitemap_discovery reads up to "
            f"{current}: upgrade sitemap_discovery, or give another INVENTORY_URL"
        )
    if found == current:
        return
    copy = path.with_name(path.name + f".v{found}.bak")
    if found:
        copy.unlink(missing_ok=True)
        connection.execute("VACUUM INTO ?", (str(copy),))
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection)
        wanted = [fresh] if not found else [steps[n] for n in range(found + 1, current + 1)]
        for script in wanted if found != current else []:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {current}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    copy.unlink(missing_ok=True)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> list[str]:
    """The statements of a script; ``executescript`` would commit before each."""
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
