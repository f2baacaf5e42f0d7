"""The base spider: finds the sitemaps of its origins and reads them."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.spiders import SitemapSpider

from sitemap_discovery.items import FoundFile, SitemapFile, UrlBatch
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.reader import SitemapReader
from sitemap_discovery.protocol.robots import read_robots
from sitemap_discovery.protocol.urls import Origin, origin_of
from sitemap_discovery.spiders.arguments import Arguments, parse_arguments
from sitemap_discovery.spiders.failures import reason_of
from sitemap_discovery.spiders.filters import filtered
from sitemap_discovery.spiders.frontier import Budget, Frontier
from sitemap_discovery.spiders.walk import Walk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure
    from typing_extensions import Self

logger = logging.getLogger(__name__)

FALLBACK_PATHS: Final = ("/sitemap.xml",)
"""Where a sitemap is looked for when robots.txt names none."""

FILE_PRIORITY, ROBOTS_PRIORITY = 100, 200
STEP: Final = 1_048_576

OUTCOME_FIELDS: Final = (
    "state",
    "reason",
    "kind",
    "bytes_wire",
    "bytes_unpacked",
    "entries_kept",
    "entries_lost",
    "error_line",
    "error_byte",
    "digest",
)

CUT_FLAGS: Final = {"size-limit": "too-large", "time-limit": "timeout", "dataloss": "data-loss"}
"""Response flags that say the body is not whole, and the reason each stands for."""


class DiscoverySpider(SitemapSpider):
    """A :class:`~scrapy.spiders.SitemapSpider` that reads every sitemap it can be given.

    All of that class's documented behaviour holds: ``sitemap_urls``, ``sitemap_rules`` with
    callbacks, ``sitemap_follow``, ``sitemap_alternate_links``, ``sitemap_filter`` and ``start()``.
    New are the arguments in :attr:`argument_names` and, with :attr:`sitemap_items`, a
    :class:`~sitemap_discovery.items.UrlBatch` per chunk and a
    :class:`~sitemap_discovery.items.SitemapFile` per file for the item pipelines.
    """

    sitemap_items: ClassVar[bool] = False
    """Whether URLs and files go to the item pipelines as well as to the rules' callbacks."""

    argument_names: ClassVar[tuple[str, ...]] = (
        "origin",
        "origins_file",
        "sitemap",
        "follow",
        "max_files",
        "max_urls",
        "max_depth",
        "max_seconds",
    )
    """The arguments this spider reads; any other becomes an attribute, as Scrapy does."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings = crawler.settings
        spider._batch_size = max(1, settings.getint("SITEMAP_BATCH_SIZE", 10_000))
        spider._max_bytes = settings.getint("SITEMAP_MAX_BYTES", 52_428_800)
        spider._parallel = max(1, settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN", 1))
        spider._budget = Budget(
            spider.arguments.max_files or settings.getint("SITEMAP_MAX_FILES", 50_000),
            spider.arguments.max_urls,
            spider.arguments.max_depth
            if spider.arguments.max_depth is not None
            else settings.getint("SITEMAP_MAX_DEPTH", 5),
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
        self.given = {name: value for name, value in kwargs.items() if isinstance(value, str)}
        self.walks: dict[str, Walk] = {}
        self.started_at = time.monotonic()
        self._batch_size, self._max_bytes, self._parallel = 10_000, 52_428_800, 1
        self._budget = Budget()

    @property
    def origin_addresses(self) -> list[tuple[str, int]]:
        """Host and port of every address the operator named: what the address guard lets through."""
        named = [origin.root for origin in self.arguments.origins]
        if isinstance(self.arguments.sitemap, str):
            named.append(self.arguments.sitemap)
        return [_address(url) for url in (*named, *self.sitemap_urls) if "//" in url]

    # -- where a run starts ----------------------------------------------------------------------

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
            walk = self._walk(origins[0].root if origins else origin_of(sitemap))
            walk.frontier.add(sitemap, found_by="argument")
            for request in self._release(walk):
                yield request
            return
        walk = self._walk(origins[0].root if origins else sitemap.as_uri())
        file = SitemapFile(sitemap.as_uri(), walk.root, found_by="argument")
        walk.frontier.in_flight += 1
        async for output in self._read_local(sitemap, file, walk):
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
        elif walk.frontier.add(url, found_by=found_by) is None:
            yield from self._release(walk)

    def _walk(self, root: str) -> Walk:
        walk = self.walks.get(root)
        if walk is None:
            walk = self.walks[root] = Walk(root, Frontier(root, self._budget))
        return walk

    # -- robots.txt ------------------------------------------------------------------------------

    def _robots_request(self, walk: Walk, url: str) -> Request:
        return Request(
            url,
            self._parse_robots,
            errback=self._robots_failed,
            priority=ROBOTS_PRIORITY,
            dont_filter=True,
            meta={
                "robots_origin": walk.root,
                "dont_obey_robotstxt": True,
                "download_timeout": 30,
                "download_fail_on_dataloss": False,
            },
        )

    def _parse_robots(self, response: Response) -> Iterator[Any]:
        walk = self._walk(response.meta["robots_origin"])
        robots = read_robots(response.body, response.url)
        file = self._robots_file(walk, State.COMPLETE, "ok", response.status)
        file.bytes_wire = file.bytes_unpacked = len(response.body)
        file.findings, file.entries_kept = robots.findings, len(robots.sitemaps)
        walk.named_hosts.update(urlsplit(line.url).hostname or "" for line in robots.sitemaps)
        for line in robots.sitemaps:
            self._add(walk, file, line.url, found_by="robots", depth=0)
        if not robots.sitemaps:
            self._try_known_paths(walk)
        return self._finish(walk, file)

    def _robots_failed(self, failure: Failure) -> Iterator[Any]:
        """No robots.txt leaves everything allowed; one that cannot be asked for, nothing."""
        request = failure.request  # type: ignore[attr-defined]
        walk = self._walk(request.meta["robots_origin"])
        reason = reason_of(failure)
        status = int(reason[5:]) if reason.startswith("http-") else None
        file = self._robots_file(walk, State.FAILED, reason, status)
        if status is not None and 400 <= status < 500 and status != 429:
            file.state = State.COMPLETE
            file.findings.add("robots-missing")
            self._try_known_paths(walk)
        elif reason in ("redirect-limit", "redirect-loop"):
            file.findings.add("robots-missing")
            self._try_known_paths(walk)
        else:
            file.findings.add("robots-unreachable")
            logger.warning(
                "%(url)s cannot be read (%(reason)s): nothing of this origin is fetched",
                {"url": request.url, "reason": reason},
            )
        return self._finish(walk, file)

    def _robots_file(
        self, walk: Walk, state: State, reason: str, status: int | None
    ) -> SitemapFile:
        return SitemapFile(
            walk.root + "/robots.txt",
            walk.root,
            found_by="origin",
            kind="robots",
            state=state,
            reason=reason,
            status=status,
            fetched_at=int(time.time()),
        )

    def _try_known_paths(self, walk: Walk) -> None:
        for path in FALLBACK_PATHS:
            walk.frontier.add(walk.root + path, found_by="known-path")

    # -- requests for files ----------------------------------------------------------------------

    def _release(self, walk: Walk) -> Iterator[Any]:
        """Requests for the next files, as many as may be under way; at the end, what was cut."""
        frontier = walk.frontier
        if self._time_is_up():
            frontier.cut("budget-seconds")
        while frontier.in_flight < self._parallel and frontier.cut_by in (None, "budget-depth"):
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
            self._parse_sitemap,  # type: ignore[arg-type]
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

    def _sitemap_failed(self, failure: Failure) -> Iterator[Any]:
        request = failure.request  # type: ignore[attr-defined]
        file: SitemapFile = request.meta["sitemap_file"]
        file.reason = reason_of(failure)
        refused = file.reason.endswith(("-refused", "-disallowed")) and "connection" not in file.reason
        file.state = State.SKIPPED if refused else State.FAILED
        file.fetched_at = int(time.time())
        if file.reason.startswith("http-"):
            file.status = int(file.reason[5:])
        return self._end_of(file)

    def _end_of(self, file: SitemapFile) -> Iterator[Any]:
        walk = self._walk(file.origin)
        walk.frontier.in_flight -= 1
        return self._finish(walk, file)

    def _finish(self, walk: Walk, file: SitemapFile) -> Iterator[Any]:
        """Hand a file's record on and ask for the next files."""
        self._count(walk, file)
        logger.info(
            "%(state)s %(url)s (%(reason)s, %(kept)d entries, %(bytes)d bytes)",
            {
                "state": file.state,
                "url": file.url,
                "reason": file.reason,
                "kept": file.entries_kept,
                "bytes": file.bytes_unpacked,
            },
        )
        if self.sitemap_items:
            yield file
        yield from self._release(walk)

    def _count(self, walk: Walk, file: SitemapFile) -> None:
        stats = self.crawler.stats
        stats.inc_value(f"sitemap/file_count/{file.state}")
        for finding in file.findings:
            stats.inc_value(f"sitemap/finding_count/{finding.code}", finding.count)
        walk.count(file)

    # -- reading ---------------------------------------------------------------------------------

    async def _parse_sitemap(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        """Read a sitemap or index: batches, requests for pages by the rules, then its record."""
        file = response.meta.get("sitemap_file") or self._adopt(response)
        walk = self._walk(file.origin)
        file.status, file.fetched_at = response.status, int(time.time())
        file.etag = _header(response, "ETag")
        file.last_modified = _header(response, "Last-Modified")
        if response.url != file.url:
            file.final_url = response.url
            if not walk.frontier.claim(response.url):
                file.state, file.reason = State.SKIPPED, "duplicate-file"
                for output in self._end_of(file):
                    yield output
                return
        codings = response.headers.getlist("Content-Encoding")
        names = [part for line in codings for part in line.decode("latin-1").split(",")]
        reader = SitemapReader(response.url, codings=names, max_bytes=self._max_bytes)
        async for output in self._read(reader, [response.body], file, walk, _cut(response)):
            yield output

    async def _read_local(self, path: Path, file: SitemapFile, walk: Walk) -> AsyncIterator[Any]:
        file.fetched_at = int(time.time())
        reader = SitemapReader(walk.root, max_bytes=self._max_bytes)
        with path.open("rb") as stream:
            pieces = iter(lambda: stream.read(STEP), b"")
            async for output in self._read(reader, pieces, file, walk, None):
                yield output

    async def _read(
        self,
        reader: SitemapReader,
        pieces: Iterable[bytes],
        file: SitemapFile,
        walk: Walk,
        cut: str | None,
    ) -> AsyncIterator[Any]:
        """Read a file in steps, giving way to the event loop after each."""
        waiting = Entries("url")
        for entries in _chunks(reader, pieces, cut):
            cut = self._budget_cut(walk, entries) or cut
            for output in self._take(entries, waiting, file, walk):
                yield output
            if cut and cut.startswith("budget-"):
                walk.frontier.cut(cut)
                list(reader.close(cut))
                break
            await asyncio.sleep(0)
        for output in self._batches(waiting, file, walk, least=1):
            yield output
        self._record(reader, file)
        for output in self._end_of(file):
            yield output

    def _take(
        self, entries: Entries, waiting: Entries, file: SitemapFile, walk: Walk
    ) -> Iterator[Any]:
        entries = filtered(self, entries)
        if entries.element == "sitemap":
            self._add_children(entries, file, walk)
            return
        walk.urls += len(entries)
        if self.sitemap_items:
            waiting.extend(entries)
            yield from self._batches(waiting, file, walk, least=self._batch_size)
        if self._cbs:
            yield from self._page_requests(entries)

    def _batches(
        self, waiting: Entries, file: SitemapFile, walk: Walk, *, least: int
    ) -> Iterator[Any]:
        """Batches of the waiting entries; a batch size of one gives plain items."""
        size = self._batch_size
        while len(waiting) >= least:
            entries = waiting.slice(0, size)
            waiting.drop(size)
            batch = UrlBatch(file, entries, walk.scopes(file, entries.locs))
            if size == 1:
                yield from batch.singles()
            else:
                yield batch

    def _page_requests(self, entries: Entries) -> Iterator[Request]:
        for loc in entries.locs:
            for pattern, callback in self._cbs:
                if pattern.search(loc):
                    yield Request(loc, callback=callback)
                    break

    def _add_children(self, entries: Entries, file: SitemapFile, walk: Walk) -> None:
        for loc, lastmod in zip(entries.locs, entries.lastmods):
            followed = any(pattern.search(loc) for pattern in self._follow)
            self._add(
                walk,
                file,
                loc,
                found_by="index",
                depth=file.depth + 1,
                lastmod=lastmod.time if lastmod else None,
                refused=None if followed else "not-followed",
            )

    def _add(
        self,
        walk: Walk,
        parent: SitemapFile,
        url: str,
        *,
        found_by: str,
        depth: int,
        lastmod: int | None = None,
        refused: str | None = None,
    ) -> None:
        """Queue a file its parent names, or note on the parent why it is left out."""
        follow = self.arguments.follow
        if follow is not None and not follow.search(url):
            refused = "not-followed"
        elif found_by == "index" and not walk.admits(url):
            refused = "off-site"
        found = FoundFile(url, found_by, parent.url, depth, lastmod)
        refused = refused or walk.frontier.add(*found)
        if refused:
            parent.findings.add(refused, example=url)
        if refused in (None, "duplicate-file", "index-loop"):
            parent.children.append(found)

    def _budget_cut(self, walk: Walk, entries: Entries) -> str | None:
        """Which budget the entries spend, if any; they are cut to what is left of it."""
        limit = self._budget.urls
        if limit is not None and entries.element == "url" and walk.urls + len(entries) > limit:
            entries.keep([True] * (limit - walk.urls) + [False] * len(entries))
            return "budget-urls"
        return "budget-seconds" if self._time_is_up() else None

    def _time_is_up(self) -> bool:
        limit = self.arguments.max_seconds
        return limit is not None and time.monotonic() - self.started_at >= limit

    def _record(self, reader: SitemapReader, file: SitemapFile) -> None:
        """Copy the reader's outcome to the file's record."""
        outcome = reader.outcome
        for name in OUTCOME_FIELDS:
            setattr(file, name, getattr(outcome, name))
        for finding in outcome.findings:
            file.findings.add(
                finding.code, finding.count, line=finding.line, example=finding.example
            )

    def _adopt(self, response: Response) -> SitemapFile:
        """A record for a response that a subclass asked for itself."""
        walk = self._walk(origin_of(response.url))
        walk.frontier.in_flight += 1
        return SitemapFile(response.url, walk.root, found_by="spider")


def _chunks(reader: SitemapReader, pieces: Iterable[bytes], cut: str | None) -> Iterator[Entries]:
    for piece in pieces:
        if reader.stopped:
            break
        yield from reader.feed(piece)
    yield from reader.close(cut)


def _cut(response: Response) -> str | None:
    """Why a body is known to be shorter than the file, ``None`` when it is whole."""
    for flag, reason in CUT_FLAGS.items():
        if flag in response.flags:
            return reason
    return None


def _header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1")[:1_024] if value else None


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
