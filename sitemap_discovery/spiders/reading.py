"""From a file's bytes to what a spider yields: batches for the pipelines, requests for pages."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, ClassVar, Final

from scrapy import Request
from scrapy.spiders import SitemapSpider

from sitemap_discovery.items import UrlBatch
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.spiders.filters import filtered, with_alternates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from scrapy.http import Response

    from sitemap_discovery.items import SitemapFile
    from sitemap_discovery.protocol.reader import SitemapReader
    from sitemap_discovery.spiders.walk import Walk

logger = logging.getLogger(__name__)

CUT_FLAGS: Final = {"size-limit": "too-large", "time-limit": "timeout", "dataloss": "data-loss"}
"""Response flags that say the body is not whole, and the reason each stands for."""

OUTCOME_FIELDS: Final = (
    "state", "reason", "kind", "bytes_wire", "bytes_unpacked", "entries_kept", "entries_lost",
    "error_line", "error_byte", "digest",
)  # fmt: skip
"""What a file's record takes over from its reader's outcome."""


class ReadingSpider(SitemapSpider):
    """A sitemap spider that turns what a reader gives into its own output."""

    sitemap_items: ClassVar[bool] = False
    """Whether URLs and files go to the item pipelines as well as to the rules' callbacks."""

    batch_size = 10_000
    max_urls: int | None = None

    def time_is_up(self) -> bool:
        """Whether the run has spent its seconds."""
        return False

    async def read(
        self,
        reader: SitemapReader,
        pieces: Iterable[bytes],
        file: SitemapFile,
        walk: Walk,
        cut: str | None = None,
    ) -> AsyncIterator[Any]:
        """Read a file in steps, giving way to the event loop after each; nothing raises.

        Yields batches, items and page requests; the file's record is complete afterwards. ``cut``
        says why the bytes are known to end too early.
        """
        waiting, used = Entries("url"), 0
        try:
            for entries in _chunks(reader, pieces, cut, self.time_is_up):
                chosen = self._chosen(entries, file)
                if chosen.element == "url":
                    chosen = await self.without_sitemaps(chosen, file, walk)
                spent = self._cut_to_budget(walk, chosen)
                for output in self._take(chosen, waiting, file, walk):
                    yield output
                # of what alternates were added to, or was cut, only what was made use of counts
                used += min(len(entries), len(chosen)) if spent else len(entries)
                if spent:
                    walk.frontier.cut(spent)
                    reader.stop(spent, used)
                    break
                await asyncio.sleep(0)
            else:
                if not reader.closed:
                    walk.frontier.cut("budget-seconds")
                    reader.stop("budget-seconds", used)
        except Exception:  # ours, or the spider's own filter's: it must not hold up other files
            logger.exception("Reading %(url)s failed; the run goes on", {"url": file.url})
            reader.stop("internal-error", used)
        for output in self._batches(waiting, file, walk, least=1):
            yield output
        record_outcome(reader, file)
        if "filtered" in file.findings and file.state is State.COMPLETE:
            file.state, file.reason = State.PARTIAL, "filtered"  # it cannot prove what is gone

    def found_files(self, entries: Entries, file: SitemapFile, walk: Walk) -> None:
        """Take the files that an index names."""

    async def without_sitemaps(self, pages: Entries, file: SitemapFile, walk: Walk) -> Entries:
        """The pages of a file that are pages."""
        return pages

    def take(self, entries: Entries, file: SitemapFile, walk: Walk) -> Iterator[Any]:
        """What comes of entries that no reader gave."""
        waiting = Entries("url")
        yield from self._take(entries, waiting, file, walk)
        yield from self._batches(waiting, file, walk, least=1)

    def _chosen(self, entries: Entries, file: SitemapFile) -> Entries:
        """What the spider's own filter lets through, with alternates if they are asked for."""
        if not entries.locs:
            return entries
        chosen = filtered(self, entries)
        if len(chosen) < len(entries):
            file.findings.add("filtered", len(entries) - len(chosen))
        if self.sitemap_alternate_links and entries.element == "url":
            chosen = with_alternates(chosen)
        return chosen

    def _take(
        self, entries: Entries, waiting: Entries, file: SitemapFile, walk: Walk
    ) -> Iterator[Any]:
        if entries.element == "sitemap":
            self.found_files(entries, file, walk)
            return
        walk.urls += len(entries)
        if self.sitemap_items:
            waiting.extend(entries)
            yield from self._batches(waiting, file, walk, least=self.batch_size)
        if self._cbs:
            yield from self._page_requests(entries)

    def _batches(
        self, waiting: Entries, file: SitemapFile, walk: Walk, *, least: int
    ) -> Iterator[Any]:
        """Batches of the waiting entries; a batch size of one gives plain items."""
        single = self.batch_size == 1
        while len(waiting) >= least:
            size = len(waiting) if single else self.batch_size
            entries = waiting.slice(0, size)
            waiting.drop(size)
            batch = UrlBatch(file, entries, walk.scopes(file, entries.locs))
            if single:
                yield from batch.singles()
            else:
                yield batch

    def _page_requests(self, entries: Entries) -> Iterator[Request]:
        for loc in entries.locs:
            for pattern, callback in self._cbs:
                if pattern.search(loc):
                    yield Request(loc, callback=callback)
                    break

    def _cut_to_budget(self, walk: Walk, entries: Entries) -> str | None:
        """Cut pages to what ``max_urls`` leaves; the budget's reason when there were more."""
        limit = self.max_urls
        if limit is None or entries.element != "url" or walk.urls + len(entries) <= limit:
            return None
        entries.keep([True] * (limit - walk.urls) + [False] * len(entries))
        return "budget-urls"


def note_response(response: Response, file: SitemapFile) -> None:
    """Copy what the answer itself says to the file's record."""
    file.status, file.fetched_at = response.status, int(time.time())
    file.served_at = seconds_of(header_of(response, "Date"))
    file.etag = header_of(response, "ETag")
    file.last_modified = header_of(response, "Last-Modified")
    if response.url != file.url:
        file.final_url = response.url


def record_outcome(reader: SitemapReader, file: SitemapFile) -> None:
    """Copy how the read went to the file's record."""
    outcome = reader.outcome
    for name in OUTCOME_FIELDS:
        setattr(file, name, getattr(outcome, name))
    for found in outcome.findings:
        file.findings.add(found.code, found.count, line=found.line, example=found.example)


def codings_of(response: Response) -> list[str]:
    """The content codings, over all header lines, in the order they were applied."""
    lines = response.headers.getlist("Content-Encoding")
    return [part for line in lines for part in line.decode("latin-1").split(",")]


def cut_of(response: Response) -> str | None:
    """Why a body is known to be shorter than the file, ``None`` when it is whole."""
    return next((reason for flag, reason in CUT_FLAGS.items() if flag in response.flags), None)


def seconds_of(date: str | None) -> int | None:
    """An HTTP date in UTC epoch seconds, ``None`` for anything else.

    >>> seconds_of("Fri, 02 Oct 2026 10:00:00 GMT")
    1790935200
    """
    lastmod = parse_lastmod(date) if date else None
    return lastmod.time if lastmod else None


def header_of(response: Response, name: str) -> str | None:
    """A header's value, at most 1,024 characters of it; ``None`` when there is none."""
    value = response.headers.get(name)
    return value.decode("latin-1")[:1_024] if value else None


def _chunks(
    reader: SitemapReader, pieces: Iterable[bytes], cut: str | None, stop: Callable[[], bool]
) -> Iterator[Entries]:
    """What a file gives in steps; when it is time to ``stop``, what is read already."""
    for piece in pieces:
        if reader.stopped:
            break
        for entries in reader.feed(piece):
            yield entries
            if stop():
                yield from reader.held()
                return
    yield from reader.close(cut)
