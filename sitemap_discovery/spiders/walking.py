"""A spider that walks the files of its origins: asks for each, reads it, goes on to the next."""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request

from sitemap_discovery.items import FoundFile, SitemapFile
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.reader import SitemapReader
from sitemap_discovery.protocol.urls import normal_origin, origin_of
from sitemap_discovery.spiders.arguments import Arguments
from sitemap_discovery.spiders.failures import reason_of, state_of, status_of
from sitemap_discovery.spiders.frontier import Budget, Frontier
from sitemap_discovery.spiders.guesses import GUESSED, variants
from sitemap_discovery.spiders.misplaced import BY_URLSET, DecidingSpider, is_page, page_of
from sitemap_discovery.spiders.reading import codings_of, cut_of, note_response
from sitemap_discovery.spiders.remembering import NOT_MODIFIED, conditions, note_lie
from sitemap_discovery.spiders.walk import Walk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from sitemap_discovery.inventory.store import KnownFile
    from sitemap_discovery.protocol.entries import Entries

logger = logging.getLogger(__name__)

FILE_PRIORITY: Final = 100


class WalkingSpider(DecidingSpider):
    """Releases the files of each origin's frontier, a few at a time, and reads them."""

    parallel = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.arguments = Arguments()
        self.walks: dict[str, Walk] = {}
        self._started_at = time.monotonic()
        self._budget = Budget()
        super().__init__(*args, **kwargs)

    def time_is_up(self) -> bool:
        limit = self.arguments.max_seconds
        return limit is not None and time.monotonic() - self._started_at >= limit

    def _walk(self, root: str) -> Walk:
        root = normal_origin(root)
        walk = self.walks.get(root)
        if walk is None:
            walk = self.walks[root] = Walk(root, Frontier(root, self._budget), base=root)
            walk.variants = variants(root)
        return walk

    # -- files ---------------------------------------------------------------------------------

    def _release(self, walk: Walk) -> Iterator[Any]:
        """Requests for the next files, as many as may be under way; at the end, what was cut."""
        frontier = walk.frontier
        if self.time_is_up():
            frontier.cut("budget-seconds")
        if walk.guesses and not (len(frontier) or frontier.in_flight or frontier.cut_by):
            yield from self._guess(walk)
        while frontier.in_flight < self.parallel:
            file = frontier.release()
            if file is None:
                break
            known = self.known(file)
            if known and not self.is_due(known, int(time.time())):
                self._pass_over(walk, file, known)
            else:
                yield self._file_request(file, known)
        if frontier.in_flight == 0 and self.sitemap_items:
            for file in frontier.skipped():
                self._count(walk, file)
                yield file
            yield from self.end_of_origin(walk)

    def read_orphans(self, root: str, urls: Iterable[str]) -> Iterator[Request]:
        """Requests for files that nothing names any more: what they list is gone when they are."""
        walk = self._walk(root)
        new = [url for url in urls if walk.frontier.add(FoundFile(url, "inventory")) is None]
        released = self._release(walk) if new else ()
        yield from (request for request in released if isinstance(request, Request))

    def _pass_over(self, walk: Walk, file: SitemapFile, known: KnownFile) -> None:
        """A file that is not due is left as it is, and the files that it names are looked at."""
        walk.frontier.in_flight -= 1
        walk.frontier.give_back()
        walk.found = True
        self._remembered_children(walk, file, known)
        self.crawler.stats.inc_value("sitemap/not_due_count")

    def _remembered_children(self, walk: Walk, file: SitemapFile, known: KnownFile) -> None:
        assert self.inventory is not None
        found_by = BY_URLSET if known.kind == "urlset" else "index"
        for url, date in self.inventory.children(known):
            self.add_file(walk, file, FoundFile(url, found_by, file.url, file.depth + 1, date))

    def _file_request(self, file: SitemapFile, known: KnownFile | None = None) -> Request:
        return Request(
            file.url,
            partial(self._parse_sitemap),  # stays in memory: what is to be read is in the inventory
            errback=self._sitemap_failed,
            headers=conditions(known),
            priority=FILE_PRIORITY,
            dont_filter=True,
            meta={
                "sitemap_file": file,
                "known_file": known,
                "handle_httpstatus_list": [NOT_MODIFIED] if known else [],
                "sitemap_body": True,
                "download_maxsize": 0,
                "download_warnsize": 0,
                "download_fail_on_dataloss": False,
            },
        )

    async def _parse_sitemap(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        """Read a sitemap or index: batches, requests for pages by the rules, then its record."""
        file = response.meta.get("sitemap_file") or self._adopt(response)
        walk = self._walk(file.origin)
        note_response(response, file)
        if file.final_url and not walk.frontier.claim(file.final_url, file.url):
            file.state, file.reason = State.SKIPPED, "duplicate-file"
            for output in self._end_of(file):
                yield output
            return
        known: KnownFile | None = response.meta.get("known_file")
        unchanged = known and self.unchanged(response, known)
        if known and unchanged:
            walk.urls += known.entries_kept
            self._remembered_children(walk, file, known)
            async for output in self.remembered(file, known, unchanged):
                yield output
            for output in self._end_of(file):
                yield output
            return
        if walk.guesses and walk.guesses.is_made_up(response.body):
            file.state, file.reason = State.FAILED, "soft-404"
            for output in self._end_of(file):
                yield output
            return
        first = walk.first_of(response.body, file.url)
        if response.body and first != file.url:
            file.findings.add("repeated-body", example=first)
        reader = SitemapReader(
            response.url,
            codings=codings_of(response),
            max_bytes=self.max_bytes,
            now=file.fetched_at,
        )
        async for output in self.read(reader, [response.body], file, walk, cut_of(response)):
            yield output
        if is_page(file):
            for output in self.take(page_of(file), file, walk):
                yield output
        note_lie(file, known)
        for output in self._end_of(file):
            yield output

    def _sitemap_failed(self, failure: Failure) -> Iterator[Any]:
        file: SitemapFile = failure.request.meta["sitemap_file"]  # type: ignore[attr-defined]
        file.reason = reason_of(failure)
        file.state = state_of(failure)
        file.status = status_of(file.reason)
        file.fetched_at = int(time.time())
        return self._end_of(file)

    def _end_of(self, file: SitemapFile) -> Iterator[Any]:
        """Hand a file's record on, then ask for the next files."""
        walk = self._walk(file.origin)
        if not self._is_wrong_guess(walk, file):
            yield from self._tell(walk, file)
        walk.frontier.in_flight -= 1
        yield from self._release(walk)

    def _tell(self, walk: Walk, file: SitemapFile) -> Iterator[SitemapFile]:
        self._count(walk, file)
        logger.info(
            "%(state)s %(url)s (%(reason)s, %(kept)d kept, %(lost)d lost, %(bytes)d bytes)",
            {
                "state": file.state,
                "url": file.url,
                "reason": file.reason,
                "kept": file.entries_kept,
                "lost": file.entries_lost,
                "bytes": file.bytes_unpacked,
            },
        )
        if self.sitemap_items:
            yield file

    def _count(self, walk: Walk, file: SitemapFile) -> None:
        stats = self.crawler.stats
        stats.inc_value(f"sitemap/file_count/{file.state}")
        if file.entries_lost:
            stats.inc_value("sitemap/lost_count", file.entries_lost)
        for finding in file.findings:
            stats.inc_value(f"sitemap/finding_count/{finding.code}", finding.count)
        walk.count(file)

    def _adopt(self, response: Response) -> SitemapFile:
        """A record for a response that a subclass asked for itself."""
        walk = self._walk(origin_of(response.url))
        walk.frontier.in_flight += 1
        return SitemapFile(response.url, walk.root, found_by="spider")

    # -- for a spider that guesses -------------------------------------------------------------

    def _guess(self, walk: Walk) -> Iterator[Request]:
        """What to ask for when nothing is left to read."""
        yield from ()

    def _is_wrong_guess(self, walk: Walk, file: SitemapFile) -> bool:
        """Whether a file is none that anything has named, and no sitemap: it is passed over."""
        return False

    # -- what files name -----------------------------------------------------------------------

    def found_files(self, entries: Entries, file: SitemapFile, walk: Walk) -> None:
        """Queue what an index names, unless it is one read before under another name, which could
        go on for ever with relative addresses."""
        if "repeated-body" in file.findings:
            return
        for loc, lastmod in zip(entries.locs, entries.lastmods):
            date = lastmod.time if lastmod else None
            self.add_file(walk, file, FoundFile(loc, "index", file.url, file.depth + 1, date))

    def add_file(self, walk: Walk, parent: SitemapFile, found: FoundFile) -> None:
        """Queue a file its parent names, or note on the parent why it is left out."""
        refused = self.refusal(walk, found) or walk.frontier.add(found, self._changed(walk, found))
        if refused:
            parent.findings.add(refused, example=found.url)
        if refused in (None, "duplicate-file", "index-loop"):
            parent.children.append(found._replace(url=walk.frontier.spelling(found.url)))

    def _changed(self, walk: Walk, found: FoundFile) -> float | None:
        """How often a file has changed, where not all files may be read."""
        if self.arguments.max_files is None or self.inventory is None:
            return None
        known = self.inventory.known_file(walk.root, found.url)
        return known.changes / known.reads if known and known.reads else None

    def refusal(self, walk: Walk, found: FoundFile) -> str | None:
        asked = self.arguments.follow
        if asked is not None and not asked.search(found.url):
            return "not-followed"
        if found.found_by == "robots" or found.found_by in GUESSED:
            return None
        if not any(pattern.search(found.url) for pattern in self._follow):
            return "not-followed"
        return None if walk.admits(found.url) else "off-site"
