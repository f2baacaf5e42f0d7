"""Rows of the ``file`` table: what the end of a read leaves there."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.rows import mend
from sitemap_discovery.protocol.codes import State

if TYPE_CHECKING:
    from sitemap_discovery.inventory.store import ReadFile

OUTCOME: Final = ("state", "reason", "status", "final_url")
"""Written by every read."""

COUNTS: Final = (
    "bytes_wire", "bytes_unpacked", "entries_kept", "entries_lost", "error_line", "error_byte",
)  # fmt: skip
"""Written when there was a body to look at; a file that is unchanged or skipped keeps them."""

VALIDATORS: Final = ("etag", "last_modified", "digest")
"""Written by complete reads only: 'unchanged' must mean 'as when it was last read to its end'."""


def is_read(file: ReadFile) -> bool:
    """Whether the file's body was read to its end."""
    return file.state is State.COMPLETE


def read_columns(file: ReadFile, run_id: int, now: int) -> dict[str, Any]:
    """The columns of ``file`` that the end of a read changes."""
    columns: dict[str, Any] = {name: getattr(file, name) for name in OUTCOME}
    columns["state"] = str(file.state) if file.state else None
    columns |= {"fetched_at": now, "run_id": run_id, "begun_at": None}
    if file.kind is not None:
        columns["kind"] = file.kind
    if file.state not in (State.UNCHANGED, State.SKIPPED):
        columns |= {name: getattr(file, name) for name in COUNTS}
        columns["findings"] = _findings(file)
    if is_read(file):
        columns |= {name: getattr(file, name) for name in VALIDATORS}
    if file.state in (State.COMPLETE, State.UNCHANGED):
        columns["complete_at"] = now
    return {name: mend(value) for name, value in columns.items()}


def _findings(file: ReadFile) -> str | None:
    found = [asdict(finding) for finding in file.findings]
    return json.dumps(found) if found else None
