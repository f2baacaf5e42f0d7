"""Writes the schema's page from the comments of ``schema.sql``."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from sitemap_discovery.inventory.migrate import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD: Final = """# The inventory's schema

This page is made from `sitemap_discovery/inventory/schema.sql` by
`python -m sitemap_discovery.inventory.schema_docs > docs/schema.md`.
"""

_CREATE: Final = re.compile(r"CREATE (TABLE|VIEW) (\w+)")
_COLUMN: Final = re.compile(r"  ([a-z]\w*)\s+([A-Z]+)\b[^,]*?(?:\([\w, ]+\))?,?\s*-- (.+)")


def schema_page(script: str) -> str:
    """The page for ``script``: each table with its columns, each view with what it is for."""
    blocks = re.split(r"\n\s*\n", script.strip())
    lines = [HEAD, *(line for block in blocks for line in _section(block))]
    return "\n".join(lines).rstrip() + "\n"


def _section(block: str) -> Iterator[str]:
    """A block of the script: comment lines, then perhaps one table or view."""
    lines = block.splitlines()
    comment = [line[3:] for line in lines if line.startswith("-- ")]
    created = _CREATE.search(block)
    if created:
        yield f"## {'View' if created[1] == 'VIEW' else 'Table'} `{created[2]}`\n"
    yield " ".join(comment) + "\n"
    columns = [match for line in lines if (match := _COLUMN.match(line))]
    if created and created[1] == "TABLE":
        yield "| column | type | meaning |"
        yield "|---|---|---|"
        yield from (f"| `{name}` | {kind} | {meaning} |" for name, kind, meaning in _cells(columns))
        yield ""


def _cells(columns: list[re.Match[str]]) -> Iterator[tuple[str, str, str]]:
    for match in columns:
        name, kind, meaning = match.groups()
        null = "" if "NOT NULL" in match[0] or "PRIMARY KEY" in match[0] else ", may be null"
        yield name, kind.lower() + null, meaning.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(schema_page(schema()))
