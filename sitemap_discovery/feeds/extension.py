"""Scrapy's feed exports, with batches written as rows and one clear line when a feed fails."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import CloseSpider
from scrapy.extensions.feedexport import (
    FeedExporter,
    FileFeedStorage,
    ItemFilter,
    apply_uri_params,
)

from sitemap_discovery.items import SitemapFile, SitemapUrl, UrlBatch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Spider
    from scrapy.extensions.feedexport import FeedSlot

logger = logging.getLogger(__name__)

FEED_ERROR: Final = "feed-error"
ENDED_BEFORE_START: Final = frozenset({"storage-error", FEED_ERROR})
"""Finish reasons after which a feed without rows must not replace an earlier one."""


class BatchFeedExporter(FeedExporter):
    """Every option of ``FEEDS`` means what Scrapy documents, counted in rows.

    A :class:`SitemapFile` goes only to feeds that name it in ``item_classes``. A feed that cannot
    be written ends the run with the finish reason ``feed-error``.
    """

    def open_spider(self, spider: Spider) -> None:
        self._broken: set[int] = set()
        super().open_spider(spider)
        for slot in self.slots:
            if isinstance(slot.storage, FileFeedStorage):
                self._check_path(Path(slot.storage.path))

    def item_scraped(self, item: Any, spider: Spider) -> None:
        if not isinstance(item, UrlBatch):
            self._guarded(super().item_scraped, item, spider)
            return
        for number in range(len(self.slots)):
            self._guarded(self._export, number, item, spider)

    async def close_spider(self, spider: Spider, reason: str = "") -> None:
        if reason in ENDED_BEFORE_START:
            for slot in self.slots:
                slot.store_empty = False
        await super().close_spider(spider)

    # -- rows ----------------------------------------------------------------------------------

    def _export(self, number: int, batch: UrlBatch, spider: Spider) -> None:
        """Write a batch to one feed, going on to the feed's next file wherever one is full."""
        slot = self.slots[number]
        if id(slot) in self._broken:
            return
        rows = self._accepted(slot, batch)
        size = len(batch) if rows is None else len(rows)
        limit = self.feeds[slot.uri_template]["batch_item_count"]
        start = 0
        while start < size:
            slot = self.slots[number]
            stop = min(size, start + limit - slot.itemcount) if limit else size
            slot.start_exporting()
            _write(slot, batch, rows, start, stop)
            slot.itemcount += stop - start
            start = stop
            if limit and slot.itemcount >= limit:
                self.slots[number] = self._next_file(slot, spider)

    def _accepted(self, slot: FeedSlot, batch: UrlBatch) -> list[SitemapUrl] | None:
        """The rows that the feed's filter lets through; ``None`` for all of them."""
        chosen = slot.filter
        if isinstance(chosen, _FileAware) and chosen.takes_every_url:
            return None
        return [row for row in batch.rows() if chosen.accepts(row)]

    def _next_file(self, slot: FeedSlot, spider: Spider) -> FeedSlot:
        options = self.feeds[slot.uri_template]
        parameters = self._get_uri_params(spider, options["uri_params"], slot)
        self._schedule_slot_close(slot, spider)
        return self._start_new_batch(
            batch_id=slot.batch_id + 1,
            uri=apply_uri_params(slot.uri_template, parameters),
            feed_options=options,
            spider=spider,
            uri_template=slot.uri_template,
        )

    def _load_filter(self, feed_options: dict[str, Any]) -> ItemFilter:
        return _FileAware(super()._load_filter(feed_options), feed_options)

    # -- faults --------------------------------------------------------------------------------

    def _check_path(self, path: Path) -> None:
        """Refuse a file that cannot be written, before anything is asked for."""
        existed = path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("ab").close()
        except OSError as error:
            logger.error(
                "The feed %(path)s cannot be written: %(cause)s. Give a path in a folder that you "
                "may write to.",
                {"path": path, "cause": error.strerror},
            )
            raise CloseSpider(FEED_ERROR) from None
        if not existed:
            path.unlink()

    def _guarded(self, write: Any, *arguments: Any) -> None:
        try:
            write(*arguments)
        except OSError as error:
            slot = self.slots[arguments[0]] if isinstance(arguments[0], int) else None
            self._fail(error, slot)

    def _fail(self, error: OSError, slot: FeedSlot | None) -> None:
        """One line for the first fault; the run ends, what the feed holds is left as it is."""
        for broken in [slot] if slot else self.slots:
            self._broken.add(id(broken))
            self.crawler.stats.inc_value(f"feedexport/failed_count/{type(broken.storage).__name__}")
        uri = slot.uri if slot else ", ".join(each.uri for each in self.slots)
        logger.error(
            "The feed %(uri)s cannot be written any further: %(cause)s. The run ends here.",
            {"uri": uri, "cause": error.strerror or error},
        )
        closing = self.crawler.engine.close_spider_async(reason=FEED_ERROR)
        self._closing = asyncio.ensure_future(closing)

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        if id(slot) not in self._broken:
            await super()._close_slot(slot, spider)


class _FileAware(ItemFilter):
    """A feed's own filter that keeps files out of feeds of URLs."""

    def __init__(self, chosen: ItemFilter, feed_options: dict[str, Any]) -> None:
        super().__init__(feed_options)
        self._chosen = chosen
        stock = type(chosen) is ItemFilter
        self.takes_every_url = stock and (
            not self.item_classes or issubclass(SitemapUrl, self.item_classes)
        )

    def accepts(self, item: Any) -> bool:
        if isinstance(item, SitemapFile) and not self.item_classes:
            return False
        return self._chosen.accepts(item)


def _write(
    slot: FeedSlot, batch: UrlBatch, rows: list[SitemapUrl] | None, start: int, stop: int
) -> None:
    """Rows to an exporter: by columns when it can, one item at a time when not."""
    export_batch = getattr(slot.exporter, "export_batch", None)
    assert slot.exporter is not None
    if rows is None and export_batch is not None:
        export_batch(batch, start, stop)
        return
    chosen: Iterable[SitemapUrl] = batch.rows(start, stop) if rows is None else rows[start:stop]
    for row in chosen:
        slot.exporter.export_item(row)
