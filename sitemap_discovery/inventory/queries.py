"""What the inventory knows, as values: the questions that commands ask."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.rows import STORED, stored_urls
from sitemap_discovery.protocol.urls import section_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_discovery.inventory.store import Store, StoredUrls

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
class Trust:
    """What is thought of the lastmod of one part of a site; ``part`` is empty for the whole.
    ``score`` is what the evidence guarantees, 0.0–1.0; ``judged_at`` UTC epoch seconds."""

    part: str
    verdict: str
    sentence: str
    score: float
    urls: int
    reads: int
    judged_at: int


@dataclass(slots=True)
class Section:
    """URLs that share the first folder of their path; ``newest_at`` is their latest lastmod (UTC
    epoch seconds)."""

    section: str
    urls: int = 0
    dated: int = 0
    gone: int = 0
    newest_at: int | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """All that is stored of one origin, in numbers.

    ``due_files`` counts files whose next read has come, ``next_read_at`` is that of the others
    (UTC epoch seconds).
    """

    origin: str
    urls: UrlCounts
    files: list[FileCount] = field(default_factory=list)
    faulty: list[FaultyFile] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    due_files: int = 0
    next_read_at: int | None = None
    lastmod: list[Trust] = field(default_factory=list)
    looks: dict[str, int] = field(default_factory=dict)


CHANGES: Final = {
    "new": "url.id > (SELECT coalesce(min(last_url), 0) FROM run_origin JOIN run ON run.id = run_id"
    " WHERE run_origin.origin_id = :origin AND coalesce(finished_at, :since) >= :since)"
    " AND first_seen >= :since AND returned_at IS NULL AND gone_at IS NULL",
    "changed": "changed_at >= :since AND first_seen < :since"
    " AND coalesce(returned_at, 0) < :since AND gone_at IS NULL",
    "returned": "returned_at >= :since AND gone_at IS NULL",
    "gone": "gone_at >= :since",
}
"""What each change asks of a ``url`` since a moment; every one is answered from an index."""

LAST_SEEN: Final = (
    "max(url.first_seen, coalesce(url.last_seen, 0), coalesce((SELECT max(complete_at) FROM listing"
    " JOIN file ON file.id = listing.file_id WHERE listing.url_id = url.id), 0))"
)
PAGE: Final = 10_000
"""Rows that are fetched at a time."""


@dataclass(frozen=True, slots=True)
class ChangedUrls:
    """Stored URLs that share a change; ``files`` are the addresses of the files they were read
    from, ``last_seen`` UTC epoch seconds, both in the order of the URLs."""

    change: str
    urls: StoredUrls
    files: list[str | None]
    last_seen: list[int]


def changes_sql(change: str) -> str:
    """The statement for the URLs with a change, in the order of their ids."""
    return (
        f"SELECT {STORED}, (SELECT url FROM file WHERE file.id = url.file_id), {LAST_SEEN}"  # noqa: S608 - names are ours
        f" FROM url WHERE origin_id = :origin AND {CHANGES[change]}"
        " ORDER BY url.id"
    )


def changed_urls(store: Store, origin_id: int, since: int) -> Iterator[ChangedUrls]:
    """What is new, changed, returned or gone since a moment (UTC epoch seconds)."""
    for change in CHANGES:
        named = {"origin": origin_id, "since": since}
        for rows in store.pages(changes_sql(change), named, PAGE):
            stored, files, seen = zip(*((row[:-2], row[-2], row[-1]) for row in rows), strict=True)
            yield ChangedUrls(change, stored_urls(stored), list(files), list(seen))


def find_origin(store: Store, root: str) -> tuple[int, int | None] | None:
    """An origin's id and the start of its last run (UTC epoch seconds), ``None`` if unknown."""
    found = store.rows(
        "SELECT origin.id, (SELECT max(started_at) FROM run JOIN run_origin ON run_id = run.id"
        " WHERE origin_id = origin.id) FROM origin WHERE root = ?",
        (root,),
    )
    return found[0] if found else None


def origins(store: Store) -> list[str]:
    """The roots of all origins, sorted."""
    return [root for (root,) in store.rows("SELECT root FROM origin ORDER BY root")]


def overview(store: Store, origin: str | None = None, *, now: int) -> list[Overview]:
    """An overview of ``origin``, or of each; empty when there is no such origin. ``now`` is UTC
    epoch seconds."""
    found = store.rows(
        "SELECT id, root FROM origin WHERE root = coalesce(?, root) ORDER BY root", (origin,)
    )
    return [_overview(store, origin_id, root, now) for origin_id, root in found]


def _overview(store: Store, origin_id: int, root: str, now: int) -> Overview:
    runs = _runs(store, origin_id)
    since = runs[0].started_at if runs else 0
    return Overview(
        root,
        _url_counts(store, origin_id, since),
        _file_counts(store, origin_id),
        _faulty(store, origin_id),
        runs,
        *_next_reads(store, origin_id, now),
        [
            Trust(p.name, p.verdict, p.sentence, p.score, p.urls, p.reads, p.judged_at)
            for p in store.parts(origin_id)
        ],
        store.outcomes(origin_id),
    )


def sections(store: Store, origin_id: int) -> list[Section]:
    """The sections of an origin, the largest first."""
    found: dict[str, Section] = {}
    query = "SELECT loc, lastmod, gone_at FROM url WHERE origin_id = ?"
    for rows in store.pages(query, (origin_id,), PAGE):
        for loc, lastmod, gone_at in rows:
            name = section_of(loc)
            section = found.setdefault(name, Section(name))
            if gone_at is not None:
                section.gone += 1
                continue
            section.urls += 1
            if lastmod is not None:
                section.dated += 1
                section.newest_at = max(section.newest_at or lastmod, lastmod)
    return sorted(found.values(), key=lambda section: -section.urls)


def _next_reads(store: Store, origin_id: int, now: int) -> tuple[int, int | None]:
    ((due, following),) = store.rows(
        "SELECT coalesce(sum(fetched_at + read_every <= :now), 0),"
        " min(CASE WHEN fetched_at + read_every > :now THEN fetched_at + read_every END)"
        " FROM file WHERE origin_id = :origin AND state IN ('complete', 'unchanged')"
        " AND kind <> 'robots'",
        {"origin": origin_id, "now": now},
    )
    return due, following


def _url_counts(store: Store, origin_id: int, since: int) -> UrlCounts:
    named = {"origin": origin_id, "since": since}
    (total, gone, undated) = (
        store.rows(f"SELECT count(*) FROM url WHERE origin_id = :origin {more}", named)[0][0]  # noqa: S608
        for more in ("", "AND gone_at IS NOT NULL", "AND lastmod IS NULL AND gone_at IS NULL")
    )
    moves = (
        store.rows(f"SELECT count(*) FROM url WHERE origin_id = :origin AND {asked}", named)[0][0]  # noqa: S608
        for asked in CHANGES.values()
    )
    present = total - gone
    return UrlCounts(present, present - undated, gone, *moves)


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
