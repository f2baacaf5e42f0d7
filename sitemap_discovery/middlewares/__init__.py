"""Downloader middlewares: what may be asked for, how politely, and how much of it is taken.

Each is one small file: ``guard`` with ``resolver`` (addresses), ``robots`` (one robots.txt an
origin), ``retry`` (``Retry-After``), ``compression`` (bodies stay packed), ``redirect`` (few hops,
none silent), ``bodylimit`` (bytes and seconds). What they refuse is an ``errors.RequestRefused``
with a code.
"""

from __future__ import annotations

from typing import Final

_STOCK = "scrapy.downloadermiddlewares."
_OURS = "sitemap_discovery.middlewares."

DOWNLOADER_MIDDLEWARES: Final[dict[str, int | None]] = {
    _STOCK + "robotstxt.RobotsTxtMiddleware": None,
    _STOCK + "retry.RetryMiddleware": None,
    _STOCK + "redirect.MetaRefreshMiddleware": None,
    _STOCK + "httpcompression.HttpCompressionMiddleware": None,
    _STOCK + "redirect.RedirectMiddleware": None,
    _STOCK + "cookies.CookiesMiddleware": None,
    _OURS + "guard.AddressGuardMiddleware": 40,
    _OURS + "robots.SharedRobotsTxtMiddleware": 100,
    _OURS + "retry.PoliteRetryMiddleware": 550,
    _OURS + "compression.RawBodyCompressionMiddleware": 590,
    _OURS + "redirect.QuietRedirectMiddleware": 600,
    _OURS + "bodylimit.BodyLimitMiddleware": 900,
}
"""Component path to order, for the setting of the same name; ``None`` takes a stock one out.

The guard comes before everything that could send or wait, also before the offsite filter (50);
the body limit sits at the download itself, so that it sees each single try and hop.
"""
