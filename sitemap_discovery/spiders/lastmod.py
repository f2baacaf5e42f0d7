"""Looks at a sample of pages: did ``lastmod`` tell the truth about them?"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from sitemap_discovery.spiders.looking import LookingSpider

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_discovery.inventory.evidence import StoredPage
    from sitemap_discovery.trust.keeper import TrustKeeper


class LastmodSpider(LookingSpider):
    """``scrapy crawl lastmod -a origin=https://example.com -a sample=60``.

    To be run after ``sitemaps``, as often: pages whose lastmod moved, pages whose did not, and
    fresh ones are fetched, politely, and compared with what they were.
    """

    name = "lastmod"
    argument_names: ClassVar[tuple[str, ...]] = ("origin", "sample", "seed")

    def choose(self, keeper: TrustKeeper, origin_id: int) -> Iterable[StoredPage]:
        """A sample, the same for the same seed."""
        count = self.arguments.sample or self.limits.sample
        now = int(time.time())
        return keeper.choose_pages(origin_id, count, seed=self.arguments.seed, now=now)
