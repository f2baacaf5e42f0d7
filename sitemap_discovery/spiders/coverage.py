"""The safety net: a bounded link crawl that tells what the sitemaps leave out."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from sitemap_discovery.inventory.coverage import Coverage, compare
from sitemap_discovery.inventory.store import StoreError
from sitemap_discovery.pipelines.inventory import InventoryPipeline
from sitemap_discovery.protocol.urls import address_of, judge_loc, origin_of, section_of, url_key
from sitemap_discovery.spiders.arguments import (
    PageArguments,
    check_settings,
    parse_page_arguments,
    refuse_unknown,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure
    from typing_extensions import Self

logger = logging.getLogger(__name__)

MAX_PAGES: Final = 500
MOST_FOUND: Final = 1_000_000
"""Addresses that are remembered."""

NO_PAGE: Final = 4_194_304


class CoverageSpider(Spider):
    """``scrapy crawl coverage -a origin=https://example.com -a max_pages=500``.

    Follows links from the home page, breadth first, within the origin, up to ``max_pages`` fetches;
    emits each URL that links reach, with whether a sitemap lists it, and compares both in the end.
    """

    name = "coverage"
    argument_names: ClassVar[tuple[str, ...]] = ("origin", "max_pages")
    custom_settings = {
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        check_settings(crawler.settings)
        return spider

    @classmethod
    def check_arguments(cls, given: Mapping[str, Any]) -> PageArguments:
        """The checked arguments; raises :class:`ArgumentError`, one line, at a wrong one."""
        refuse_unknown(given, frozenset(cls.argument_names), only=True)
        return parse_page_arguments(given)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.arguments = self.check_arguments(kwargs)
        super().__init__(*args, **kwargs)
        self.given = {name: str(value) for name, value in kwargs.items()}
        self.max_pages = self.arguments.max_pages or MAX_PAGES
        self.found: dict[bytes, str] = {}
        self.asked = self.read = 0
        self.refusal = ""
        self.coverage: Coverage | None = None
        self._links = LinkExtractor(canonicalize=False, unique=True, strip=True)

    @property
    def origin_addresses(self) -> list[tuple[str, int]]:
        """Host and port of the origin, for the address guard."""
        return [address_of(self.arguments.origin.root)]

    async def start(self) -> AsyncIterator[Any]:
        """Begin with the home page."""
        if self._origin_id() is None:
            self.refusal = f"nothing is stored of {self.arguments.origin.root}: run sitemaps first"
            logger.warning("%(refusal)s", {"refusal": self.refusal})
            return
        for output in self._take(self.arguments.origin.root + "/", None):
            yield output

    def _take(self, url: str, found_on: str | None) -> Iterator[Any]:
        """A URL that is met: emitted once, and asked for while there is room."""
        key = url_key(url)
        if key in self.found or len(self.found) >= MOST_FOUND:
            return
        self.found[key] = url
        listed = self._is_listed(key)
        self.crawler.stats.inc_value(f"coverage/{'listed' if listed else 'unlisted'}_count")
        yield {
            "loc": url,
            "section": section_of(url),
            "in_sitemap": listed,
            "found_on": found_on,
        }
        if self.asked < self.max_pages:
            self.asked += 1
            yield Request(
                url,
                partial(self._parse_page),
                errback=self._failed,
                meta={"download_maxsize": NO_PAGE},
            )

    def _parse_page(self, response: Response) -> Iterator[Any]:
        self.read += 1
        if not isinstance(response, HtmlResponse) or not self._is_ours(response.url):
            return
        for link in self._links.extract_links(response):
            url, _ = judge_loc(link.url.partition("#")[0], response.url)
            if url is not None and self._is_ours(url):
                yield from self._take(url, response.url)

    def _is_ours(self, url: str) -> bool:
        return origin_of(url) == self.arguments.origin.root

    def _failed(self, failure: Failure) -> None:
        """Noted by Scrapy's stats; a link that leads nowhere is still one that was found."""

    def _is_listed(self, key: bytes) -> bool:
        store, origin_id = self._store(), self._origin_id()
        assert origin_id is not None
        return store.page(origin_id, key) is not None

    def _store(self) -> Any:
        found = self.crawler.get_item_pipeline(InventoryPipeline)
        assert isinstance(found, InventoryPipeline)
        return found.store

    def _origin_id(self) -> int | None:
        root = self.arguments.origin.root
        found = self._store().rows("SELECT id FROM origin WHERE root = ?", (root,))
        return int(found[0][0]) if found else None

    def closed(self, reason: str) -> None:
        """Compare what was found with what is listed."""
        origin_id = self._origin_id() if self._store() is not None else None
        if origin_id is None or not self.found:
            return
        try:
            self.coverage = compare(self._store(), origin_id, self.found)
        except StoreError as error:
            logger.error("%(error)s", {"error": error})

    def summary_lines(self) -> list[str]:
        """The run in a few lines to read."""
        if self.refusal or self.coverage is None:
            return [self.refusal or "nothing was found"]
        cut = f", cut at max_pages={self.max_pages}" if self.asked >= self.max_pages else ""
        lines = self.coverage.lines("by links")
        lines[0] = f"Read {self.read:,} pages{cut}: {lines[0]}"
        return lines + [f"  not in a sitemap: {url}" for url in self.coverage.only_found[:5]]
