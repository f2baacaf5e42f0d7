"""Scrapy's own SitemapSpider, giving one dict a URL to a JSON lines feed; it stores nothing.

``scrapy runspider benchmarks/stock.py -a origin=ORIGIN -O OUT``
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.spiders import SitemapSpider
from scrapy.utils.sitemap import Sitemap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class StockSpider(SitemapSpider):
    name = "stock"
    custom_settings = {"LOG_LEVEL": "INFO", "FEED_EXPORT_ENCODING": "utf-8"}

    def __init__(self, origin: str, **kwargs: Any) -> None:
        self.sitemap_urls = [origin + "/robots.txt"]
        super().__init__(**kwargs)

    def _parse_sitemap(self, response: Response) -> Iterator[Any]:  # type: ignore[override]
        body = None if response.url.endswith("/robots.txt") else self._get_sitemap_body(response)
        sitemap = Sitemap(body) if body else None
        if sitemap is None or sitemap.type != "urlset":
            yield from super()._parse_sitemap(response)
            return
        for entry in sitemap:
            yield {**entry, "sitemap": response.url}
