"""Drops URLs that this run has seen already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

from sitemap_discovery.pipelines.batches import on_batch
from sitemap_discovery.pipelines.seen import SeenKeys

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from typing_extensions import Self

    from sitemap_discovery.items import UrlBatch


class DedupePipeline:
    """Each URL once a run and origin. A repeat is counted, and kept in ``repeats`` so that the
    inventory can note that another file lists it too."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.stats, listed=crawler.settings.getbool("INVENTORY_ENABLED", True))

    def __init__(self, stats: StatsCollector, *, listed: bool = False) -> None:
        """``listed`` lets a single item that is a repeat pass, for the inventory to note."""
        self.stats = stats
        self.listed = listed
        self.seen = SeenKeys()

    def process_item(self, item: Any) -> Any:
        kept = on_batch(item, self.dedupe)
        if kept is None and self.listed:
            return item
        if kept is None:
            raise DropItem("seen in this run", log_level="DEBUG")
        return kept

    def dedupe(self, batch: UrlBatch) -> None:
        """Drop the rows of ``batch`` that were seen, in place."""
        flags = self.seen.add_all(batch.keys, batch.file.origin)
        repeats = len(flags) - sum(flags)
        if repeats:
            batch.repeats += [key for key, new in zip(batch.keys, flags) if not new]
            batch.keep(flags)
            self.stats.inc_value("sitemap/duplicate_count", repeats)
        self.stats.inc_value("sitemap/url_count", len(batch))
