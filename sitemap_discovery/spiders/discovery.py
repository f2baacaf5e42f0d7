"""The base spider: finds the sitemaps of its origins and reads them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, Final

from sitemap_discovery.items import FoundFile, SitemapFile
from sitemap_discovery.protocol.reader import SitemapReader
from sitemap_discovery.protocol.unpack import MAX_BYTES
from sitemap_discovery.protocol.urls import Origin, address_of, is_robots, origin_of
from sitemap_discovery.spiders.arguments import (
    Arguments,
    as_text,
    check_settings,
    parse_arguments,
)
from sitemap_discovery.spiders.finding import FindingSpider
from sitemap_discovery.spiders.frontier import Budget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from pathlib import Path

    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

LOCAL_STEP: Final = 1_048_576


class DiscoverySpider(FindingSpider):
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

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings, asked = crawler.settings, spider.arguments
        check_settings(settings, asked)
        spider.batch_size = settings.getint("SITEMAP_BATCH_SIZE", cls.batch_size)
        spider.max_bytes = settings.getint("SITEMAP_MAX_BYTES", MAX_BYTES)
        spider.parallel = max(1, settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN", 1))
        spider.recheck_after = settings.getint("INVENTORY_RECHECK_AFTER", cls.recheck_after)
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
        arguments = self.check_arguments(kwargs)
        super().__init__(*args, **kwargs)
        self.arguments = arguments
        self.given = {name: as_text(value) for name, value in kwargs.items()}

    @property
    def origin_addresses(self) -> list[tuple[str, int]]:
        """Host and port of every address the operator named, for the address guard."""
        named = [origin.root for origin in self.arguments.origins]
        if isinstance(self.arguments.sitemap, str):
            named.append(self.arguments.sitemap)
        return [address_of(url) for url in (*named, *self.sitemap_urls)]

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
        if is_robots(url):
            yield self._robots_request(walk, url)
        elif walk.frontier.add(FoundFile(url, found_by)) is None:
            yield from self._release(walk)


def _pieces_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(LOCAL_STEP):
            yield piece
