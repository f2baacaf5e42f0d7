"""Watches the dates of what is read, and gives each row the verdict on its ``lastmod``."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import NotConfigured

from sitemap_discovery.feeds.columns import sections_of
from sitemap_discovery.inventory.evidence import OTHER
from sitemap_discovery.inventory.store import StoreError
from sitemap_discovery.items import SitemapFile, UrlBatch
from sitemap_discovery.pipelines.batches import on_batch
from sitemap_discovery.pipelines.inventory import InventoryPipeline
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.spiders.reading import seconds_of
from sitemap_discovery.trust.keeper import TrustKeeper
from sitemap_discovery.trust.parts import SITE
from sitemap_discovery.trust.static import Clues, FileDates
from sitemap_discovery.trust.thresholds import Thresholds

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from sitemap_discovery.protocol.dates import Lastmod
    from sitemap_discovery.trust.keeper import Verdicts

logger = logging.getLogger(__name__)

MOST_SECTIONS: Final = 64
"""Sections of one file whose dates are kept apart."""


class TrustPipeline:
    """Collects dates file by file, and has each origin judged when all of it was read."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("INVENTORY_ENABLED", True):
            raise NotConfigured
        return cls(crawler, Thresholds.from_settings(crawler.settings.get))

    def __init__(self, crawler: Crawler, limits: Thresholds) -> None:
        self.crawler = crawler
        self.limits = limits
        self._files: dict[tuple[str, str], dict[str, FileDates]] = {}
        self._verdicts: dict[str, Verdicts] = {}

    def process_item(self, item: Any) -> Any:
        inventory = self._inventory
        if inventory is None or inventory.store is None:
            return item
        if isinstance(item, SitemapFile):
            self._end_of_file(inventory, item)
            return item
        return on_batch(item, self.watch)

    @property
    def _inventory(self) -> InventoryPipeline | None:
        found = self.crawler.get_item_pipeline(InventoryPipeline)
        return found if isinstance(found, InventoryPipeline) else None

    def watch(self, batch: UrlBatch) -> None:
        """Note the dates of ``batch`` and fill in its verdict."""
        verdict = self._verdicts_of(batch.file.origin).of(batch.file.url, batch.entries.locs)
        if isinstance(verdict, str):
            batch.trust = verdict
        else:
            batch.trusts = verdict
        if batch.stored:
            return
        sections = self._files.setdefault((batch.file.origin, batch.file.url), {})
        note_dates(sections, batch)

    def _end_of_file(self, inventory: InventoryPipeline, file: SitemapFile) -> None:
        sections = self._files.pop((file.origin, file.url), None)
        if file.state is not State.COMPLETE or file.kind in ("index", "robots"):
            return
        known = inventory.known_file(file.origin, file.url)
        if known is not None:
            self._keeper(inventory).note_file(known.id, sections or {}, _clues(file))

    def close_spider(self) -> None:
        """Judge what was read."""
        inventory = self._inventory
        if inventory is None or inventory.store is None:
            return
        try:
            for origin_id in inventory.store.origins_of(inventory.run_id):
                self._judge(inventory, origin_id)
        except StoreError as error:
            inventory.give_up(error)

    def _judge(self, inventory: InventoryPipeline, origin_id: int) -> None:
        now = int(time.time())
        judged = self._keeper(inventory).after_read(origin_id, inventory.run_id, now)
        for part in judged:
            if part.name != SITE:
                self.crawler.stats.inc_value(f"lastmod/verdict_count/{part.verdict}")

    def _verdicts_of(self, root: str) -> Verdicts:
        if root not in self._verdicts:
            inventory = self._inventory
            assert inventory is not None
            origin_id = inventory.origin_id(root, int(time.time()))
            self._verdicts[root] = self._keeper(inventory).verdicts(origin_id)
        return self._verdicts[root]

    def _keeper(self, inventory: InventoryPipeline) -> TrustKeeper:
        assert inventory.store is not None
        return TrustKeeper(inventory.store, self.limits)


def note_dates(sections: dict[str, FileDates], batch: UrlBatch) -> None:
    """Add the dates of a batch to those of its file, by section."""
    if not len(batch):
        return
    entries = batch.entries
    is_news = any(more and "news" in more for more in entries.details)
    groups: dict[str, list[Lastmod | None]] = defaultdict(list)
    for section, lastmod in zip(sections_of(entries.locs), entries.lastmods):
        groups[section].append(lastmod)
    for section, lastmods in groups.items():
        name = section if section in sections or len(sections) < MOST_SECTIONS else OTHER
        dates = sections.setdefault(name, FileDates())
        dates.add(lastmods)
        dates.is_news = dates.is_news or is_news


def _clues(file: SitemapFile) -> Clues:
    return Clues(
        file.fetched_at or int(time.time()),
        file.served_at,
        seconds_of(file.last_modified),
        file.index_lastmod,
    )
