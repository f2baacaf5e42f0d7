"""Small sites to crawl, and what a crawl of one came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_discovery.items import SitemapFile, UrlBatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpserver import CrawlResult, Site

    Crawl = Callable[..., CrawlResult]

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
FAST = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False}


def urlset(*locs: str, lastmod: str = "") -> bytes:
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    body = "".join(f"<url><loc>{loc}</loc>{date}</url>" for loc in locs)
    return f"<urlset {NS}>{body}</urlset>".encode()


def index(*locs: str, dates: tuple[str, ...] = ()) -> bytes:
    body = "".join(
        f"<sitemap><loc>{loc}</loc>{f'<lastmod>{date}</lastmod>' if date else ''}</sitemap>"
        for loc, date in zip(locs, dates or ("",) * len(locs))
    )
    return f"<sitemapindex {NS}>{body}</sitemapindex>".encode()


def run(
    crawl: Crawl, site: Site, settings: dict[str, Any] | None = None, **args: str
) -> CrawlResult:
    args.setdefault("origin", site.url)
    result = crawl("sitemaps", {**FAST, **(settings or {})}, **args)
    assert "Traceback" not in result.log
    return result


def paths(result: CrawlResult) -> list[str]:
    """The paths of all URLs emitted."""
    batches = [item for item in result.items if isinstance(item, UrlBatch)]
    return ["/" + loc.split("/", 3)[3] for batch in batches for loc in batch.entries.locs]


def files(result: CrawlResult) -> dict[str, tuple[str, str]]:
    """Path of each file to its state and reason."""
    records = [item for item in result.items if isinstance(item, SitemapFile)]
    return {
        "/" + record.url.split("/", 3)[3]: (str(record.state), str(record.reason))
        for record in records
    }
