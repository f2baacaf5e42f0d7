"""What a run found, in a dozen lines: printed at its end and kept with it."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

STATES: Final = ("complete", "unchanged", "partial", "failed", "skipped")
CHANGES: Final = ("new", "changed", "unchanged", "returned", "gone")
MAX_LINES, MOST, FEW = 15, 5, 2
"""Lines of a summary; files or problems, and origins, named before the rest is only counted."""


@dataclass
class Summary:
    """Counts of one run. ``state`` is ``complete`` or ``partial``; ``cut_by`` the budget or fault
    that cut it short."""

    state: str
    finish_reason: str
    cut_by: str | None
    origins: int
    nothing_found: list[str]
    files: dict[str, int]
    urls: int
    duplicates: int
    emitted: int | None
    changes: dict[str, int]
    since: dict[str, int]
    findings: dict[str, int]
    lost: list[str] = field(default_factory=list)
    lost_count: int = 0
    entries_lost: int = 0
    unread: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For the run's row in the inventory."""
        return asdict(self)

    def lines(self) -> list[str]:
        """At most fifteen lines to read."""
        cut = f" (cut short by {self.cut_by})" if self.cut_by else ""
        lines = [
            f"Run {self.state}{cut}: "
            f"{_number(self.urls, 'URL')} of {_number(self.origins, 'origin')}",
            f"  files     {_counts(self.files) or 'none'}",
        ]
        if self.changes:
            lines.append(f"  URLs      {_counts(self.changes)}")
        if self.duplicates:
            lines.append(f"  repeats   {self.duplicates:,} listed more than once, emitted once")
        if self.since:
            total = sum(self.since.values())
            lines.append(f"  since     total {total:,}, " + _counts(self.since))
        if self.emitted is not None and self.emitted != self.urls:
            lines.append(f"  emitted   {self.emitted:,} rows")
        if self.findings:
            lines.append(f"  findings  {_counts(self.findings, MOST)}")
        if self.entries_lost:
            lines.append(f"  lost      {_number(self.entries_lost, 'entry', 'entries')}")
        if self.unread:
            lines.append(f"  not read  {_number(self.unread, 'file')}")
        nothing = _some(self.nothing_found, len(self.nothing_found), FEW)
        room = MAX_LINES - len(lines) - len(nothing) - 1
        lines += [
            f"  not whole {text}" for text in _some(self.lost, self.lost_count, min(MOST, room))
        ]
        return lines + [f"  nothing   {text}" for text in nothing]


def report(crawler: Crawler) -> str | None:
    """The summary of a run that has ended, ``None`` when it had nothing to sum up."""
    own = getattr(crawler.spider, "summary_lines", None)
    if own is not None:
        return "\n".join(own())
    if not getattr(crawler.spider, "walks", None):
        return None
    reason = crawler.stats.get_value("finish_reason", "")
    return "\n".join(summarize(crawler, reason).lines())


def summarize(crawler: Crawler, reason: str) -> Summary:
    """Sum a run up from its stats and its spider's walks."""
    stats: dict[str, Any] = crawler.stats.get_stats()
    walks = list(getattr(crawler.spider, "walks", {}).values())
    cuts = [walk.frontier.cut_by for walk in walks if walk.frontier.cut_by]
    walking = hasattr(crawler.spider, "walks")
    complete = reason == "finished" and all(walk.is_complete for walk in walks)
    complete = complete and (bool(walks) or not walking)
    return Summary(
        state="complete" if complete else "partial",
        finish_reason=reason,
        cut_by=cuts[0] if cuts else (None if reason == "finished" else reason),
        origins=len(walks),
        nothing_found=[walk.account() for walk in walks if not walk.urls],
        files=_group(stats, "sitemap/file_count/", STATES),
        urls=stats.get("sitemap/url_count", sum(walk.urls for walk in walks)),
        duplicates=stats.get("sitemap/duplicate_count", 0),
        emitted=stats.get("sitemap/emitted_count"),
        changes=_group(stats, "inventory/url_count/", CHANGES),
        since=_group(stats, "sitemap/since_count/", ("changed", "unchanged", "undated")),
        findings=_group(stats, "sitemap/finding_count/"),
        lost=[text for walk in walks if walk.urls for text in walk.tried],
        lost_count=sum(walk.not_whole for walk in walks if walk.urls),
        entries_lost=stats.get("sitemap/lost_count", 0),
        unread=sum(len(walk.frontier) + walk.frontier.in_flight for walk in walks),
    )


class RunSummary:
    """Logs the summary last, when it is certain how the run ended."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.engine_stopped, signals.engine_stopped)
        return extension

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    def engine_stopped(self) -> None:
        text = report(self.crawler)
        if text is not None:
            logger.info("%(summary)s", {"summary": text})


def _group(stats: dict[str, Any], prefix: str, names: tuple[str, ...] = ()) -> dict[str, int]:
    """The counts below a prefix, in the order of ``names`` or largest first."""
    found = {key[len(prefix) :]: n for key, n in stats.items() if key.startswith(prefix)}
    order = [name for name in names if name in found] or sorted(found, key=lambda k: -found[k])
    return {name: found[name] for name in order}


def _counts(counts: dict[str, int], most: int = 10) -> str:
    shown = [f"{n:,} {name}" for name, n in list(counts.items())[:most]]
    rest = len(counts) - most
    return ", ".join(shown) + (f" and {rest} more kinds" if rest > 0 else "")


def _some(texts: list[str], count: int, most: int) -> list[str]:
    shown = texts[:most]
    rest = count - len(shown)
    return shown + ([f"… and {rest:,} more"] if rest > 0 else [])


def _number(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
