"""What earlier runs left of a file: it is asked for with conditions, and its rows come from the
inventory when its bytes are what they were."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from scrapy.spiders import SitemapSpider

from sitemap_discovery.inventory.filerows import LIE
from sitemap_discovery.items import OriginRead
from sitemap_discovery.pipelines.inventory import InventoryPipeline
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.unpack import MAX_BYTES, digest_of
from sitemap_discovery.spiders.arguments import Arguments
from sitemap_discovery.spiders.reading import ReadingSpider, codings_of, cut_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

    from sitemap_discovery.inventory.store import KnownFile
    from sitemap_discovery.items import SitemapFile
    from sitemap_discovery.spiders.walk import Walk

NOT_MODIFIED: Final = 304


class RememberingSpider(ReadingSpider):
    """A reading spider whose inventory knows what its files held."""

    recheck_after = 24
    max_bytes = MAX_BYTES
    arguments = Arguments()

    @property
    def inventory(self) -> InventoryPipeline | None:
        """The inventory, unless the spider needs every file's bytes itself: for callbacks of its
        own, or for a filter."""
        own = self._cbs or type(self).sitemap_filter is not SitemapSpider.sitemap_filter
        if own or self.sitemap_alternate_links or not self.sitemap_items:
            return None
        pipeline = self.crawler.get_item_pipeline(InventoryPipeline)
        return pipeline if isinstance(pipeline, InventoryPipeline) else None

    def known(self, file: SitemapFile) -> KnownFile | None:
        """What is known of a file, ``None`` when it has to be read to its end anyway.

        That is so, too, once it was found unchanged so often that the server, or an older version
        of ours, may have been wrong.
        """
        if self.inventory is None or self.max_urls is not None:
            return None
        known = self.inventory.known_file(file.origin, file.url)
        if known is None or not known.is_whole or known.unchanged >= self.recheck_after:
            return None
        return known

    def is_due(self, known: KnownFile | None, now: int) -> bool:
        """Whether a file is to be read in this run."""
        if not self.arguments.due_files or known is None or known.next_read is None:
            return True
        return known.next_read <= now

    def unchanged(self, response: Response, known: KnownFile) -> str | None:
        """Why a file is what it was, ``None`` when it is not, or may not be."""
        if response.status == NOT_MODIFIED:
            return "not-modified"
        if cut_of(response):
            return None
        digest = digest_of(response.body, codings_of(response), self.max_bytes)
        return "same-bytes" if digest == known.digest else None

    async def remembered(
        self, file: SitemapFile, known: KnownFile, reason: str
    ) -> AsyncIterator[Any]:
        """Make ``file`` the record of one that is unchanged; its rows, if they are asked for."""
        file.state, file.reason, file.kind = State.UNCHANGED, reason, known.kind
        file.entries_kept = known.entries_kept
        inventory = self.inventory
        assert inventory is not None
        if self.arguments.emit == "all":
            for batch in inventory.listed_urls(file, known, self.batch_size):
                for item in batch.singles() if self.batch_size == 1 else [batch]:
                    yield item
                await asyncio.sleep(0)
        elif known.kind != "index":
            self.crawler.stats.inc_value("sitemap/url_count", known.entries_kept)
            self.crawler.stats.inc_value("inventory/url_count/unchanged", known.entries_kept)

    def end_of_origin(self, walk: Walk) -> Iterator[OriginRead]:
        """Once an origin is read, let the inventory say what is left to read, and what is gone."""
        wanted = walk.found and walk.is_discovery and not walk.frontier.cut_by
        orphans = wanted and not walk.orphaned and self.arguments.follow is None
        gone = self.arguments.emit == "changes"
        if (orphans or gone) and self.inventory:
            walk.orphaned = True
            yield OriginRead(walk.root, orphans, gone)


def conditions(known: KnownFile | None) -> dict[str, str]:
    """The headers that ask for a file only if it is another than the one that is known."""
    if known is None or known.lied_at is not None:
        return {}
    headers = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
    return {name: value for name, value in headers.items() if value}


def note_lie(file: SitemapFile, known: KnownFile | None) -> None:
    """Note on a file that was read that its validators stood for other bytes before."""
    if known is None or file.state is not State.COMPLETE or file.digest == known.digest:
        return
    pairs = (file.etag, known.etag), (file.last_modified, known.last_modified)
    now, before = next((pair for pair in pairs if any(pair)), (None, None))
    if now is not None and now == before:
        file.findings.add(LIE, example=now)
