"""Scrapy's feed exports, with batches written as rows and one clear line when a feed fails."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.extensions.feedexport import (
    FeedExporter,
    FileFeedStorage,
    ItemFilter,
    apply_uri_params,
)
from scrapy.utils.defer import ensure_awaitable

from sitemap_discovery.extensions.ending import end_run
from sitemap_discovery.items import SitemapFile, SitemapUrl, UrlBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot

logger = logging.getLogger(__name__)

FEED_ERROR: Final = "feed-error"
ENDED_BEFORE_START: Final = frozenset({"storage-error", FEED_ERROR})
"""Finish reasons after which a feed without rows must not replace an earlier one."""


class BatchFeedExporter(FeedExporter):
    """Every option of ``FEEDS`` means what Scrapy documents, counted in rows.

    An exporter with a method ``export_batch(batch, start, stop)`` is given the columns of a
    :class:`UrlBatch`, any other one :class:`SitemapUrl` a row. A :class:`SitemapFile` goes only to
    feeds that name it in ``item_classes``. A feed that cannot be written ends the run with the
    finish reason ``feed-error``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._broken: set[FeedSlot] = set()
        self._ending: asyncio.Task[None] | None = None

    def open_spider(self, spider: Spider) -> None:
        super().open_spider(spider)
        for slot in self.slots:
            if isinstance(slot.storage, FileFeedStorage):
                _check_path(Path(slot.storage.path))

    async def item_scraped(self, item: Any, spider: Spider) -> None:  # type: ignore[override]
        """Write an item to every feed that takes it; Scrapy awaits this before it goes on."""
        for number in range(len(self.slots)):
            await self._export(number, item, spider)

    async def close_spider(self, spider: Spider, reason: str = "") -> None:
        if reason in ENDED_BEFORE_START:
            for slot in self.slots:
                slot.store_empty = False
        await super().close_spider(spider)

    # -- rows ----------------------------------------------------------------------------------

    async def _export(self, number: int, item: Any, spider: Spider) -> None:
        """Write to one feed, going on to the feed's next file wherever one is full."""
        rows = _accepted(self.slots[number], item)
        limit = self.feeds[self.slots[number].uri_template]["batch_item_count"]
        start = 0
        while start < len(rows):
            slot = self.slots[number]
            if slot in self._broken:
                return
            stop = min(len(rows), start + limit - slot.itemcount) if limit else len(rows)
            try:
                _write(slot, rows, start, stop)
                if isinstance(item, UrlBatch):
                    _flush(slot)
            except OSError as error:
                self._fail(slot, error)
                return
            start = stop
            if limit and slot.itemcount >= limit:
                await self._next_file(number, spider)

    async def _next_file(self, number: int, spider: Spider) -> None:
        """Close a feed's full file and open its next.

        Waiting for the close keeps a batch that fills many files from holding them all open.
        """
        slot = self.slots[number]
        options = self.feeds[slot.uri_template]
        parameters = self._get_uri_params(spider, options["uri_params"], slot)
        self.slots[number] = self._start_new_batch(
            batch_id=slot.batch_id + 1,
            uri=apply_uri_params(slot.uri_template, parameters),
            feed_options=options,
            spider=spider,
            uri_template=slot.uri_template,
        )
        await self._schedule_slot_close(slot, spider)

    # -- faults --------------------------------------------------------------------------------

    def _fail(self, slot: FeedSlot, error: Exception) -> None:
        """One line for a feed's first fault, then the run ends; what the feed holds is left."""
        self._broken.add(slot)
        self._count("failed", slot)
        logger.error(
            "The feed %(uri)s cannot be written any further: %(cause)s. The run ends here.",
            {"uri": slot.uri, "cause": _cause(error)},
        )
        if self._ending is None:
            self._ending = asyncio.ensure_future(end_run(self.crawler, FEED_ERROR))

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        """Finish and store one file. A fault is one line and a count, never a traceback."""
        if slot in self._broken:
            _abandon(slot)
            return
        if not slot.itemcount and not (slot.store_empty and slot.batch_id == 1):
            return
        feed = {"format": slot.format, "count": slot.itemcount, "uri": slot.uri}
        try:
            slot.start_exporting()
            slot.finish_exporting()
            await ensure_awaitable(slot.storage.store(self._get_file(slot)))
        except Exception as error:
            self._count("failed", slot)
            message = "Error storing %(format)s feed (%(count)d items) in: %(uri)s: %(cause)s"
            logger.error(message, {**feed, "cause": _cause(error)}, extra={"spider": spider})
            _abandon(slot)
        else:
            self._count("success", slot)
            message = "Stored %(format)s feed (%(count)d items) in: %(uri)s"
            logger.info(message, feed, extra={"spider": spider})
        await self.crawler.signals.send_catch_log_async(signals.feed_slot_closed, slot=slot)

    def _count(self, outcome: str, slot: FeedSlot) -> None:
        self.crawler.stats.inc_value(f"feedexport/{outcome}_count/{type(slot.storage).__name__}")


def _accepted(slot: FeedSlot, item: Any) -> UrlBatch | Sequence[Any]:
    """What a feed's filter lets through: a batch as it is when that is every row of it."""
    judge = slot.filter
    if isinstance(item, UrlBatch):
        if type(judge) is ItemFilter and issubclass(SitemapUrl, judge.item_classes or SitemapUrl):
            return item
        return [row for row in item.rows() if judge.accepts(row)]
    if isinstance(item, SitemapFile) and not _names_class_of(slot, item):
        return ()
    return [item] if judge.accepts(item) else ()


def _names_class_of(slot: FeedSlot, item: Any) -> bool:
    return isinstance(item, ItemFilter(slot.feed_options).item_classes)


def _write(slot: FeedSlot, rows: UrlBatch | Sequence[Any], start: int, stop: int) -> None:
    """Rows to an exporter: by columns when it can, one item at a time when not."""
    slot.start_exporting()
    assert slot.exporter is not None
    if isinstance(rows, UrlBatch) and hasattr(slot.exporter, "export_batch"):
        slot.exporter.export_batch(rows, start, stop)
        slot.itemcount += stop - start
        return
    for row in rows.rows(start, stop) if isinstance(rows, UrlBatch) else rows[start:stop]:
        slot.exporter.export_item(row)
        slot.itemcount += 1


def _flush(slot: FeedSlot) -> None:
    """What is written reaches the disk: a full one shows now, a killed run leaves whole rows."""
    flush = getattr(slot.file, "flush", None)
    if flush is not None:
        flush()


def _check_path(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is asked for.

    An existing file is opened for append and so keeps what it holds; a pipe or a device is not
    touched.

    :raises CloseSpider: after one line that names the path and the cause
    """
    try:
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        existed = target.exists()
        if not existed or target.is_file() or target.is_dir():
            target.open("ab").close()
        if not existed:
            target.unlink()
    except (OSError, ValueError) as error:
        logger.error(
            "The feed %(path)s cannot be written: %(cause)s. Give a path in a folder that you "
            "may write to.",
            {"path": path, "cause": _cause(error)},
        )
        raise CloseSpider(FEED_ERROR) from None


def _abandon(slot: FeedSlot) -> None:
    """Let go of a file that cannot be written, which would complain once more when collected."""
    beneath = getattr(slot.file, "file", None)  # the one under post-processing
    for file in (slot.file, beneath):
        with suppress(Exception):
            file.close()  # type: ignore[union-attr]


def _cause(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return ascii(strerror or f"{type(error).__name__}: {error}")[1:-1][:200]
