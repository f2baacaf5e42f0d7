"""The base spider: finds the sitemaps of its origins and reads them."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import urlsplit

from scrapy import Request

from sitemap_discovery.items import FoundFile, SitemapFile
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.reader import SitemapReader
from sitemap_discovery.protocol.robots import read_robots
from sitemap_discovery.protocol.unpack import MAX_BYTES
from sitemap_discovery.protocol.urls import Origin, normal_origin, origin_of
from sitemap_discovery.spiders.arguments import (
    Arguments,
    as_text,
    check_settings,
    parse_arguments,
)
from sitemap_discovery.spiders.failures import is_missing, reason_of, state_of, status_of
from sitemap_discovery.spiders.frontier import Budget, Frontier
from sitemap_discovery.spiders.reading import ReadingSpider, codings_of, cut_of, note_response
from sitemap_discovery.spiders.walk import Walk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure
    from typing_extensions import Self

    from sitemap_discovery.protocol.entries import Entries

logger = logging.getLogger(__name__)

KNOWN_PATHS: Final = ("/sitemap.xml",)
"""Where a sitemap is looked for when robots.txt names none."""

FILE_PRIORITY, ROBOTS_PRIORITY = 100, 200
LOCAL_STEP: Final = 1_048_576


class DiscoverySpider(ReadingSpider):
    """A :class:`~scrapy.spiders.SitemapSpider` that reads every sitemap it can be given.

    All of that class's documented behaviour holds: ``sitemap_urls``, ``sitemap_rules`` with
    callbacks, ``sitemap_follow``, ``sitemap_alternate_links``, ``sitemap_filter`` and ``start()``.
    New are the arguments in :attr:`argument_names` and, with :attr:`sitemap_items`, a
    :class:`~sitemap_discovery.items.UrlBatch` per chunk and a
    :class:`~sitemap_discovery.items.SitemapFile` per file for the item pipelines.
    """

    argument_names: ClassVar[tuple[str, ...]] = (
        "origin", "origins_file", "sitemap", "follow",
        "max_files", "max_urls", "max_depth", "max_seconds",
    )  # fmt: skip
    """The arguments this spider reads; any other becomes an attribute, as Scrapy does."""

    max_bytes = MAX_BYTES
    parallel = 1

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings, asked = crawler.settings, spider.arguments
        check_settings(settings, asked)
        spider.batch_size = settings.getint("SITEMAP_BATCH_SIZE", cls.batch_size)
        spider.max_bytes = settings.getint("SITEMAP_MAX_BYTES", MAX_BYTES)
        spider.parallel = max(1, settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN", 1))
        spider.max_urls = asked.max_urls
        depth = settings.getint("SITEMAP_MAX_DEPTH", 5)
        spider._budget = Budget(
            files=asked.max_files or settings.getint("SITEMAP_MAX_FILES", 50_000),
            depth=depth if asked.max_depth is None else asked.max_depth,
        )
        return spider

    @classmethod
    def check_arguments(cls, given: Mapping[str, Any]) -> Arguments:
        """The checked arguments; raises :class:`ArgumentError`, one line, at a wrong one."""
        named = {name: given[name] for name in cls.argument_names if name in given}
        return parse_arguments(named, int(time.time()))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.arguments: Arguments = self.check_arguments(kwargs)
        super().__init__(*args, **kwargs)
        self.given = {name: as_text(value) for name, value in kwargs.items()}
        self.walks: dict[str, Walk] = {}
        self._started_at = time.monotonic()
        self._budget = Budget()

    @property
    def origin_addresses(self) -> list[tuple[str, int]]:
        """Host and port of every address the operator named, for the address guard."""
        named = [origin.root for origin in self.arguments.origins]
        if isinstance(self.arguments.sitemap, str):
            named.append(self.arguments.sitemap)
        return [_address(url) for url in (*named, *self.sitemap_urls)]

    def time_is_up(self) -> bool:
        limit = self.arguments.max_seconds
        return limit is not None and time.monotonic() - self._started_at >= limit

    # -- where a run starts --------------------------------------------------------------------

    async def start(self) -> AsyncIterator[Any]:
        """Ask for the robots.txt of each origin, or for the sitemap that was named instead."""
        if self.arguments.sitemap is not None:
            async for output in self._start_sitemap(self.arguments.sitemap):
                yield output
            return
        for url in self.sitemap_urls:
            for request in self._start_url(url, "spider"):
                yield request
        for origin in self.arguments.origins:
            for request in self._start_origin(origin):
                yield request

    async def _start_sitemap(self, sitemap: str | Path) -> AsyncIterator[Any]:
        origins = self.arguments.origins
        if isinstance(sitemap, str):
            root = origins[0].root if origins else None
            for request in self._start_url(sitemap, "argument", root):
                yield request
            return
        walk = self._walk(origins[0].root if origins else sitemap.as_uri())
        walk.frontier.in_flight += 1
        file = SitemapFile(sitemap.as_uri(), walk.root, found_by="argument")
        file.fetched_at = int(time.time())
        reader = SitemapReader(walk.root, max_bytes=self.max_bytes, now=file.fetched_at)
        async for output in self.read(reader, _pieces_of(sitemap), file, walk):
            yield output
        for output in self._end_of(file):
            yield output

    def _start_origin(self, origin: Origin) -> Iterator[Request]:
        if origin.sitemap:
            yield from self._start_url(origin.sitemap, "argument", origin.root)
        else:
            yield self._robots_request(self._walk(origin.root), origin.robots)

    def _start_url(self, url: str, found_by: str, root: str | None = None) -> Iterator[Request]:
        """A robots.txt is searched for sitemaps, any other address is read as one."""
        walk = self._walk(root or origin_of(url))
        if urlsplit(url).path == "/robots.txt":
            yield self._robots_request(walk, url)
        elif walk.frontier.add(url, found_by) is None:
            yield from self._release(walk)

    def _walk(self, root: str) -> Walk:
        root = normal_origin(root)
        walk = self.walks.get(root)
        if walk is None:
            walk = self.walks[root] = Walk(root, Frontier(root, self._budget))
        return walk

    # -- robots.txt ----------------------------------------------------------------------------

    def _robots_request(self, walk: Walk, url: str) -> Request:
        walk.frontier.note(url)
        return Request(
            url,
            self._parse_robots,
            errback=self._robots_failed,
            priority=ROBOTS_PRIORITY,
            dont_filter=True,
            meta={"robots_origin": walk.root, "robots_url": url, "dont_obey_robotstxt": True},
        )

    def _parse_robots(self, response: Response) -> Iterator[Any]:
        walk = self._walk(response.meta["robots_origin"])
        robots = read_robots(response.body, response.url)
        file = _robots_file(
            walk, response.meta["robots_url"], State.COMPLETE, "ok", response.status
        )
        file.bytes_wire = file.bytes_unpacked = len(response.body)
        file.findings, file.entries_kept = robots.findings, len(robots.sitemaps)
        walk.named_hosts.update(urlsplit(line.url).hostname or "" for line in robots.sitemaps)
        for line in robots.sitemaps:
            self._add(walk, file, FoundFile(line.url, "robots", file.url, 0, None))
        if not robots.sitemaps:
            _try_known_paths(walk)
        return self._finish(walk, file)

    def _robots_failed(self, failure: Failure) -> Iterator[Any]:
        """No robots.txt leaves everything allowed; one that cannot be asked for, nothing."""
        request = failure.request  # type: ignore[attr-defined]
        walk = self._walk(request.meta["robots_origin"])
        reason = reason_of(failure)
        file = _robots_file(
            walk, request.meta["robots_url"], State.FAILED, reason, status_of(reason)
        )
        if is_missing(failure, request.url):
            file.state = State.COMPLETE
            file.findings.add("robots-missing")
            _try_known_paths(walk)
        else:
            file.findings.add("robots-unreachable")
            logger.warning(
                "%(url)s cannot be read (%(reason)s): nothing of this origin is fetched",
                {"url": request.url, "reason": reason},
            )
        return self._finish(walk, file)

    # -- files ---------------------------------------------------------------------------------

    def _release(self, walk: Walk) -> Iterator[Any]:
        """Requests for the next files, as many as may be under way; at the end, what was cut."""
        frontier = walk.frontier
        if self.time_is_up():
            frontier.cut("budget-seconds")
        while frontier.in_flight < self.parallel:
            file = frontier.release()
            if file is None:
                break
            yield self._file_request(file)
        if frontier.in_flight == 0 and self.sitemap_items:
            for file in frontier.skipped():
                self._count(walk, file)
                yield file

    def _file_request(self, file: SitemapFile) -> Request:
        return Request(
            file.url,
            self._parse_sitemap,
            errback=self._sitemap_failed,
            priority=FILE_PRIORITY,
            dont_filter=True,
            meta={
                "sitemap_file": file,
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
        reader = SitemapReader(
            response.url,
            codings=codings_of(response),
            max_bytes=self.max_bytes,
            now=file.fetched_at,
        )
        async for output in self.read(reader, [response.body], file, walk, cut_of(response)):
            yield output
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
        walk = self._walk(file.origin)
        walk.frontier.in_flight -= 1
        return self._finish(walk, file)

    def _finish(self, walk: Walk, file: SitemapFile) -> Iterator[Any]:
        """Hand a file's record on and ask for the next files."""
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
        yield from self._release(walk)

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

    # -- what files name -----------------------------------------------------------------------

    def found_files(self, entries: Entries, file: SitemapFile, walk: Walk) -> None:
        for loc, lastmod in zip(entries.locs, entries.lastmods):
            date = lastmod.time if lastmod else None
            self._add(walk, file, FoundFile(loc, "index", file.url, file.depth + 1, date))

    def _add(self, walk: Walk, parent: SitemapFile, found: FoundFile) -> None:
        """Queue a file its parent names, or note on the parent why it is left out."""
        refused = self._refusal(walk, found) or walk.frontier.add(*found)
        if refused:
            parent.findings.add(refused, example=found.url)
        if refused in (None, "duplicate-file", "index-loop"):
            parent.children.append(found._replace(url=walk.frontier.spelling(found.url)))

    def _refusal(self, walk: Walk, found: FoundFile) -> str | None:
        asked = self.arguments.follow
        if asked is not None and not asked.search(found.url):
            return "not-followed"
        if found.found_by == "robots":
            return None
        if not any(pattern.search(found.url) for pattern in self._follow):
            return "not-followed"
        return None if walk.admits(found.url) else "off-site"


def _robots_file(
    walk: Walk, url: str, state: State, reason: str, status: int | None
) -> SitemapFile:
    return SitemapFile(
        url,
        walk.root,
        found_by="origin",
        kind="robots",
        state=state,
        reason=reason,
        status=status,
        fetched_at=int(time.time()),
    )


def _pieces_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(LOCAL_STEP):
            yield piece


def _try_known_paths(walk: Walk) -> None:
    for path in KNOWN_PATHS:
        walk.frontier.add(walk.root + path, "known-path")


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
