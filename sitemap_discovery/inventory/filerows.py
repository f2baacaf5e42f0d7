"""Rows of the ``file`` table: what the end of a read leaves there."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.rows import mend
from sitemap_discovery.protocol.codes import State

if TYPE_CHECKING:
    from sitemap_discovery.inventory.store import KnownFile, ReadFile

OUTCOME: Final = ("state", "reason", "status", "final_url")
"""Written by every read."""

COUNTS: Final = (
    "bytes_wire", "bytes_unpacked", "entries_kept", "entries_lost", "error_line", "error_byte",
)  # fmt: skip
"""Written when there was a body to look at; a file that is unchanged or skipped keeps them."""

VALIDATORS: Final = ("etag", "last_modified", "digest")
"""Written by complete reads only: 'unchanged' must mean 'as when it was last read to its end'."""


ANSWERED: Final = (State.COMPLETE, State.PARTIAL, State.UNCHANGED)
MISSING: Final = ("http-404", "http-410")
"""Reasons that say that there is no such file any more."""

LIE: Final = "validator-lie"
"""The finding that the server's ETag or Last-Modified stood for other bytes than before."""

READ_EVERY, SHORTEST, LONGEST = 86_400, 3_600, 30 * 86_400
"""Seconds between two reads of a file: to begin with, at least and at most."""


def is_read(file: ReadFile) -> bool:
    """Whether the file's body was read to its end."""
    return file.state is State.COMPLETE


def read_columns(file: ReadFile, known: KnownFile, run_id: int, now: int) -> dict[str, Any]:
    """The columns of ``file`` that the end of a read changes; ``known`` is what they were."""
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
    again = run_id == known.run_id  # a run counts once
    if file.state in (State.COMPLETE, State.UNCHANGED):
        columns |= {"complete_at": now} | ({} if again else _history(file, known, now))
    if file.state in ANSWERED:
        columns["missing"] = 0
    elif file.reason in MISSING:
        columns["missing"] = known.missing + (not again)
    if LIE in file.findings:
        columns["lied_at"] = now
    return {name: mend(value) for name, value in columns.items()}


def _history(file: ReadFile, known: KnownFile, now: int) -> dict[str, Any]:
    """How often the file was read and changed, and what that says of its next read."""
    same = file.state is State.UNCHANGED or file.digest == known.digest
    changed = not same and known.digest is not None
    columns: dict[str, Any] = {
        "reads": known.reads + 1,
        "changes": known.changes + changed,
        "unchanged": known.unchanged + 1 if file.state is State.UNCHANGED else 0,
        "read_every": _read_every(known.read_every, changed=changed, first=known.digest is None),
    }
    return columns if same else columns | {"changed_at": now}


def _read_every(seconds: int | None, *, changed: bool, first: bool) -> int:
    """Half as long after a change, half as long again when nothing changed."""
    if seconds is None or first:
        return READ_EVERY
    return max(seconds // 2, SHORTEST) if changed else min(seconds * 3 // 2, LONGEST)


def _findings(file: ReadFile) -> str | None:
    found = [asdict(finding) for finding in file.findings]
    return json.dumps(found) if found else None
