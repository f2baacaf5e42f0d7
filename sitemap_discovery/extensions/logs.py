"""Log lines of items: one short line a batch, none for a file, which the spider tells itself."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

from sitemap_discovery.items import SitemapFile, UrlBatch

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.http import Response
    from scrapy.logformatter import LogFormatterResult
    from twisted.python.failure import Failure


class BatchLogFormatter(LogFormatter):
    """Scrapy's formatter, but for this project's items."""

    def scraped(  # type: ignore[override]  # None is no line, says Scrapy
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        if isinstance(item, SitemapFile):
            return None
        if not isinstance(item, UrlBatch):
            return super().scraped(item, response, spider)
        return {
            "level": logging.DEBUG,
            "msg": "Scraped %(count)d URLs of %(url)s",
            "args": {"count": len(item), "url": item.file.url},
        }
