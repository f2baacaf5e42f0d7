"""What the inventory knows, as values: the questions that commands ask."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sitemap_discovery.inventory.store import Store

RUNS: Final = 5
"""Runs that an overview shows."""

FAULTY: Final = ("failed", "partial")
"""States of a file that somebody should look at."""


@dataclass(frozen=True, slots=True)
class UrlCounts:
    """URLs of one origin: those that are listed now, how many of them have a usable ``lastmod``,
    those that are gone, and what the last run changed."""

    present: int
    dated: int
    gone: int
    new: int
    changed: int
    returned: int
    gone_in_run: int


@dataclass(frozen=True, slots=True)
class FileCount:
    """Files that share a state and its reason. ``state`` is ``None`` for files not read yet."""

    state: str | None
    reason: str | None
    files: int


@dataclass(frozen=True, slots=True)
class FaultyFile:
    """A file that could not be read to its end. Times are UTC epoch seconds."""

    url: str
    state: str
    reason: str | None
    status: int | None
    entries_kept: int
    error_line: int | None
    complete_at: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """One run. Times are UTC epoch seconds; ``state`` is ``None`` while it runs or when it was
    killed; ``urls`` and ``files`` are ``None`` when it left no summary."""

    id: int
    spider: str
    started_at: int
    finished_at: int | None
    state: str | None
    reason: str | None
    urls: int | None
    files: int | None


@dataclass(frozen=True, slots=True)
class Overview:
    """All that is stored of one origin, in numbers."""

    origin: str
    urls: UrlCounts
    files: list[FileCount] = field(default_factory=list)
    faulty: list[FaultyFile] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)


def origins(store: Store) -> list[str]:
    """The roots of all origins, sorted."""
    return [root for (root,) in store.rows("SELECT root FROM origin ORDER BY root")]


def overview(store: Store, origin: str | None = None) -> list[Overview]:
    """An overview of ``origin``, or of each; empty when there is no such origin."""
    found = store.rows(
        "SELECT id, root FROM origin WHERE root = coalesce(?, root) ORDER BY root", (origin,)
    )
    return [_overview(store, *row) for row in found]


def _overview(store: Store, origin_id: int, root: str) -> Overview:
    runs = _runs(store, origin_id)
    since = runs[0].started_at if runs else 0
    return Overview(
        root,
        _url_counts(store, origin_id, since),
        _file_counts(store, origin_id),
        _faulty(store, origin_id),
        runs,
    )


def _url_counts(store: Store, origin_id: int, since: int) -> UrlCounts:
    ((present, dated, gone, *moves),) = store.rows(
        "SELECT count(*) - count(gone_at),"
        " coalesce(sum(CASE WHEN gone_at IS NULL AND lastmod IS NOT NULL THEN 1 ELSE 0 END), 0),"
        " count(gone_at),"
        " coalesce(sum(CASE WHEN first_seen >= ? THEN 1 ELSE 0 END), 0),"
        " coalesce(sum(CASE WHEN changed_at >= ? THEN 1 ELSE 0 END), 0),"
        " coalesce(sum(CASE WHEN returned_at >= ? THEN 1 ELSE 0 END), 0),"
        " coalesce(sum(CASE WHEN gone_at >= ? THEN 1 ELSE 0 END), 0)"
        " FROM url WHERE origin_id = ?",
        (since, since, since, since, origin_id),
    )
    return UrlCounts(present, dated, gone, *moves)


def _file_counts(store: Store, origin_id: int) -> list[FileCount]:
    return [
        FileCount(*row)
        for row in store.rows(
            "SELECT state, reason, count(*) FROM file WHERE origin_id = ?"
            " GROUP BY state, reason ORDER BY count(*) DESC, state, reason",
            (origin_id,),
        )
    ]


def _faulty(store: Store, origin_id: int) -> list[FaultyFile]:
    return [
        FaultyFile(*row)
        for row in store.rows(
            "SELECT url, state, reason, status, entries_kept, error_line, complete_at FROM file"
            " WHERE origin_id = ? AND state IN (?, ?) ORDER BY state, reason, url",
            (origin_id, *FAULTY),
        )
    ]


def _runs(store: Store, origin_id: int) -> list[Run]:
    found = store.rows(
        "SELECT id, spider, started_at, finished_at, state, reason, summary FROM run"
        " JOIN run_origin ON run_id = id WHERE origin_id = ? ORDER BY id DESC LIMIT ?",
        (origin_id, RUNS),
    )
    return [_run(*row) for row in found]


def _run(*columns: Any) -> Run:
    summary: dict[str, Any] = json.loads(columns[-1] or "{}")
    files = summary.get("files")
    total = sum(files.values()) if isinstance(files, dict) else None
    return Run(*(*columns[:-1], summary.get("urls"), total))
