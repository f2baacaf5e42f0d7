"""Stores batches and files in the inventory; marks each row new, changed, unchanged, returned."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import CloseSpider, DropItem, NotConfigured

from sitemap_discovery.extensions.ending import end_run, set_finish_reason
from sitemap_discovery.extensions.summary import summarize
from sitemap_discovery.inventory.rows import GONE, REJECTED, UNCHANGED
from sitemap_discovery.inventory.store import StoreError, open_store
from sitemap_discovery.items import OriginRead, SitemapFile, SitemapUrl, UrlBatch
from sitemap_discovery.pipelines.batches import on_batch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from sitemap_discovery.inventory.store import FileRead, KnownFile, Store, StoredUrls

logger = logging.getLogger(__name__)

STORAGE_ERROR: Final = "storage-error"

BATCH: Final = 10_000
"""Rows of what is gone that go through the pipelines at a time."""


class InventoryPipeline:
    """One transaction a batch; a file's record and what it no longer lists in one more.

    A store that fails ends the run with the finish reason ``storage-error`` and one ERROR line.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("INVENTORY_ENABLED", True):
            raise NotConfigured
        pipeline = cls(crawler, crawler.settings["INVENTORY_URL"])
        crawler.signals.connect(pipeline.spider_closed, signals.spider_closed)
        return pipeline

    def __init__(self, crawler: Crawler, url: str) -> None:
        self.crawler = crawler
        self.url = url
        self.gone_after = crawler.settings.getint("INVENTORY_GONE_AFTER", 2)
        self.store: Store | None = None
        self.run_id = 0
        self._failed = False
        self._reads: dict[tuple[str, str], FileRead] = {}
        self._origins: dict[str, int] = {}

    def open_spider(self) -> None:
        spider = self.crawler.spider
        try:
            self.store = open_store(self.url)
            self.run_id = self.store.begin_run(
                spider=spider.name if spider else "",
                job=getattr(spider, "_job", None),
                arguments=getattr(spider, "given", {}),
                now=int(time.time()),
            )
        except StoreError as error:
            self.give_up(error)
            raise CloseSpider(STORAGE_ERROR) from None

    def proven_files(self, root: str) -> list[str]:
        """Addresses that earlier runs have found to be sitemaps of an origin by guessing."""
        try:
            return self.store.proven_files(root) if self.store is not None else []
        except StoreError as error:
            logger.warning("%(error)s", {"error": error})
            return []

    def known_file(self, root: str, url: str) -> KnownFile | None:
        """What earlier runs left of a file."""
        if self.store is None:
            return None
        try:
            return self.store.known_file(self.origin_id(root, int(time.time())), url)
        except StoreError as error:
            logger.warning("%(error)s", {"error": error})
            return None

    def children(self, known: KnownFile) -> list[tuple[str, int | None]]:
        """The files that a file named when it was last read, and their dates there."""
        return self.store.children(known.id) if self.store is not None else []

    def listed_urls(self, file: SitemapFile, known: KnownFile, size: int) -> Iterator[UrlBatch]:
        """The rows of a file that is unchanged."""
        stored = self.store.listed_urls(known.id, size) if self.store is not None else ()
        for urls in stored:
            changes = [UNCHANGED] * len(urls.keys)
            yield _batch_of(file, urls, changes)

    def process_item(self, item: Any) -> Any:
        if self.store is None:
            if isinstance(item, OriginRead):
                raise DropItem(STORAGE_ERROR, log_level="DEBUG")
            return item
        try:
            if isinstance(item, SitemapFile):
                self.finish_file(item)
                return item
            if isinstance(item, OriginRead):
                return self._end_of_origin(item)
            kept = on_batch(item, self.store_batch)
        except StoreError as error:
            self.give_up(error)
            self._ending = asyncio.ensure_future(end_run(self.crawler, STORAGE_ERROR))
            raise DropItem(STORAGE_ERROR, log_level="DEBUG") from None
        if kept is None:
            raise DropItem("seen in this run, or no database holds it", log_level="DEBUG")
        return kept

    def store_batch(self, batch: UrlBatch) -> None:
        """Store the rows of ``batch`` and fill in its ``changes`` and ``first_seen``."""
        assert self.store is not None
        if batch.stored:
            self._count(UNCHANGED, (batch.changes or []).count(UNCHANGED))
            return
        now = batch.file.fetched_at or int(time.time())
        read = self._read(batch.file, now)
        marks = self.store.add_urls(read, batch.entries, batch.keys, batch.scopes, now)
        batch.changes, batch.first_seen = marks.changes, marks.first_seen
        if batch.repeats:
            self.store.add_listings(read, batch.repeats)
        if REJECTED in marks.changes:
            batch.keep([change != REJECTED for change in marks.changes])
        self._count_all(marks.changes)

    def finish_file(self, file: SitemapFile) -> None:
        """Store how the read of ``file`` ended and which files it names."""
        assert self.store is not None
        now = file.fetched_at or int(time.time())
        read = self._read(file, now)
        del self._reads[file.origin, file.url]
        self.store.finish_file(read, file, now, gone_after=self.gone_after)

    def _end_of_origin(self, read: OriginRead) -> UrlBatch | SitemapUrl:
        """Have files asked for that nothing names any more; when there are none, what is gone."""
        assert self.store is not None
        origin_id = self.origin_id(read.origin, int(time.time()))
        open_reads = any(origin == read.origin for origin, _ in self._reads)
        if read.orphans and not open_reads:
            orphans = self.store.orphans(origin_id, self.run_id)
            spider: Any = self.crawler.spider  # one that yields an OriginRead can read more
            requests = list(spider.read_orphans(read.origin, orphans))
            for request in requests:
                self.crawler.engine.crawl(request)
            if requests:
                raise DropItem("files are left to read", log_level="DEBUG")
        if not read.gone:
            raise DropItem("nothing is left to read", log_level="DEBUG")
        return self._gone(origin_id, read.origin)

    def _gone(self, origin_id: int, root: str) -> UrlBatch | SitemapUrl:
        """What is gone from an origin, as rows for the feeds."""
        rows: Iterator[UrlBatch | SitemapUrl] = self._retire(origin_id, root)
        if self.crawler.settings.getint("SITEMAP_BATCH_SIZE") == 1:
            rows = (row for batch in rows if isinstance(batch, UrlBatch) for row in batch.singles())
        first = next(rows, None)
        if first is None:
            raise DropItem(f"nothing is gone from {root}", log_level="DEBUG")
        self._feeding = asyncio.ensure_future(self._feed(rows))
        return first

    async def _feed(self, items: Iterator[UrlBatch | SitemapUrl]) -> None:
        """A pipeline gives one item for one; the others go through all pipelines too."""
        scraper = self.crawler.engine.scraper
        for item in items:
            await scraper.start_itemproc_async(item, response=None)

    def _retire(self, origin_id: int, root: str) -> Iterator[UrlBatch]:
        assert self.store is not None
        gone = self.store.retire(origin_id, int(time.time()))
        self._count("gone", sum(map(len, gone.values())))
        for url, ids in gone.items():
            for start in range(0, len(ids), BATCH):
                yield from _gone_batches(root, url, self.store.urls(ids[start : start + BATCH]))

    def close_spider(self) -> None:
        """Count what is gone before the run is summed up."""
        if self.store is None:
            return
        try:
            for origin_id in self.store.origins_of(self.run_id):
                gone = self.store.retire(origin_id, int(time.time()))
                self._count("gone", sum(map(len, gone.values())))
        except StoreError as error:
            self.give_up(error)

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Store how the run went; a fault met while it was closing is its finish reason."""
        if self.store is not None:
            self._finish_run(reason)
        if self._failed:
            set_finish_reason(self.crawler, STORAGE_ERROR)

    def _finish_run(self, reason: str) -> None:
        assert self.store is not None
        summary = summarize(self.crawler, reason)
        try:
            self.store.finish_run(
                self.run_id,
                state=summary.state,
                reason=summary.cut_by,
                finish_reason=reason,
                summary=summary.as_dict(),
                now=int(time.time()),
            )
            self._close_store()
        except StoreError as error:
            self.give_up(error)

    def _read(self, file: SitemapFile, now: int) -> FileRead:
        key = (file.origin, file.url)
        if key not in self._reads:
            assert self.store is not None
            origin_id = self.origin_id(file.origin, now)
            self._reads[key] = self.store.begin_file(origin_id, file, self.run_id, now)
        return self._reads[key]

    def origin_id(self, root: str, now: int) -> int:
        if root not in self._origins:
            assert self.store is not None
            self._origins[root] = self.store.origin_id(root, now)
        return self._origins[root]

    def _count_all(self, changes: list[str]) -> None:
        for change in set(changes):
            self._count(change, changes.count(change))

    def _count(self, change: str, count: int) -> None:
        if count:
            self.crawler.stats.inc_value(f"inventory/url_count/{change}", count)

    def give_up(self, error: StoreError) -> None:
        """One line for the fault; nothing is stored from now on."""
        logger.error("%(error)s", {"error": error})
        self._failed = True
        try:
            self._close_store()
        except StoreError as another:
            logger.debug("%(error)s", {"error": another})

    def _close_store(self) -> None:
        store, self.store = self.store, None
        if store is not None:
            store.close()


def _batch_of(file: SitemapFile, urls: StoredUrls, changes: list[str]) -> UrlBatch:
    return UrlBatch(
        file,
        urls.entries,
        urls.scopes,
        keys=urls.keys,
        changes=changes,
        first_seen=urls.first_seen,
        stored=True,
    )


def _gone_batches(root: str, url: str, urls: StoredUrls) -> Iterator[UrlBatch]:
    """URLs that ``url`` listed last, a batch for each moment at which they were last seen."""
    for last_seen in dict.fromkeys(urls.last_seen):
        file = SitemapFile(url, root, fetched_at=last_seen)
        batch = _batch_of(file, replace(urls), [GONE] * len(urls.keys))
        batch.entries = replace(urls.entries)
        batch.keep([moment == last_seen for moment in urls.last_seen])
        yield batch
