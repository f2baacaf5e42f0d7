"""The base class for spiders that fetch the pages which are due."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Any, ClassVar

from sitemap_discovery.protocol.urls import url_key
from sitemap_discovery.spiders.looking import LookingSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

    from sitemap_discovery.inventory.evidence import StoredPage
    from sitemap_discovery.trust.keeper import TrustKeeper


class InventorySpider(LookingSpider):
    """A spider whose pages come from the inventory: write ``parse``, and call it with
    ``-a origin=https://example.com -a limit=1000``.

    ``start()`` asks for the pages that ``scrapy due`` names, best first; with ``due=0`` for all
    that are listed. Each page that is fetched is recorded: ordinary crawling is evidence about
    lastmod.
    """

    argument_names: ClassVar[tuple[str, ...]] = ("origin", "due", "limit", "seed")
    conditional = False
    page_meta: ClassVar[dict[str, Any]] = {}

    def choose(self, keeper: TrustKeeper, origin_id: int) -> Iterator[StoredPage]:
        """The pages that are due, or all."""
        asked, store = self.arguments, self._inventory().store
        assert store is not None
        if not asked.due:
            pages = (page for some in store.pages_of(origin_id, 1_000) for page in some)
            yield from (page for i, page in enumerate(pages) if not asked.limit or i < asked.limit)
            return
        for due in keeper.plan(origin_id, now=int(time.time()), limit=asked.limit).due:
            page = store.page(origin_id, url_key(due.loc))
            if page is not None:
                yield page

    async def outputs(self, response: Response) -> AsyncIterator[Any]:
        """What ``parse`` makes of a page."""
        found = self.parse(response)
        if inspect.isasyncgen(found):
            async for output in found:
                yield output
            return
        if inspect.isawaitable(found):
            found = await found
        for output in found or ():
            yield output

    def _note(self, look: Any) -> Any:
        """Looks are no items of the spider's own."""
        super()._note(look)
        return None
