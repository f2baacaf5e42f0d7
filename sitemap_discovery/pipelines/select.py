"""Lets through to the feeds what the run was asked for; the inventory has stored everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

from sitemap_discovery.pipelines.batches import on_batch
from sitemap_discovery.spiders.arguments import Arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from typing_extensions import Self

    from sitemap_discovery.items import UrlBatch


class SelectPipeline:
    """Applies ``since`` with ``undated``, ``include``, ``exclude`` and ``emit`` to what is fed.

    With ``since`` the stats count what the dates say: ``sitemap/since_count/changed`` (later than
    it), ``…/unchanged`` and ``…/undated``.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        pipeline = cls(crawler.stats)
        pipeline._crawler = crawler
        return pipeline

    def __init__(self, stats: StatsCollector) -> None:
        self.stats = stats
        self.arguments = Arguments()
        self._crawler: Crawler | None = None

    def open_spider(self) -> None:
        spider = self._crawler.spider if self._crawler else None
        self.arguments = getattr(spider, "arguments", self.arguments)

    def process_item(self, item: Any) -> Any:
        kept = on_batch(item, self.select)
        if kept is None:
            raise DropItem("not asked for", log_level="DEBUG")
        return kept

    def select(self, batch: UrlBatch) -> None:
        """Drop the rows of ``batch`` that were not asked for, in place."""
        asked = self.arguments
        if asked.emit == "all" and batch.changes is not None and "gone" in batch.changes:
            batch.keep([change != "gone" for change in batch.changes])
        if asked.include is not None:
            batch.keep([bool(asked.include.search(loc)) for loc in batch.entries.locs])
        if asked.exclude is not None:
            batch.keep([not asked.exclude.search(loc) for loc in batch.entries.locs])
        if asked.since is not None:
            batch.keep(list(self._since(batch, asked.since)))
        if asked.emit == "changes" and batch.changes is not None:
            batch.keep([change != "unchanged" for change in batch.changes])
        self.stats.inc_value("sitemap/emitted_count", len(batch))

    def _since(self, batch: UrlBatch, since: int) -> Iterable[bool]:
        keep_undated = self.arguments.undated == "keep"
        counts = {"changed": 0, "unchanged": 0, "undated": 0}
        for lastmod in batch.entries.lastmods:
            if lastmod is None or lastmod.time is None:
                counts["undated"] += 1
                yield keep_undated
            else:
                later = lastmod.time > since
                counts["changed" if later else "unchanged"] += 1
                yield later
        for name, count in counts.items():
            self.stats.inc_value(f"sitemap/since_count/{name}", count)
