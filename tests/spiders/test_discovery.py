"""The base class keeps what SitemapSpider documents: rules, follow, filter, start, alternates."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request

from sitemap_discovery.spiders import DiscoverySpider

if TYPE_CHECKING:
    from httpserver import CrawlResult, Site

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
XHTML = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
SETTINGS = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, "INVENTORY_ENABLED": False}


class Titled(DiscoverySpider):
    """What the subclasses share: the site is an argument, so that one class serves all tests."""

    name = "titled"

    def __init__(self, site: str, **kwargs: Any) -> None:
        self.sitemap_urls = [site + path for path in self.paths]
        super().__init__(**kwargs)

    paths = ("/robots.txt",)

    def parse(self, response: Any) -> Any:
        yield {"by": "parse", "path": response.url.rpartition("/")[2]}


class Plain(Titled):
    """Every URL to ``parse``."""

    paths = ("/sitemap.xml",)


class Rules(Titled):
    sitemap_rules = [("/product/", "parse_product"), ("/category/", "parse_category")]

    def parse_product(self, response: Any) -> Any:
        yield {"by": "product", "path": response.url.rpartition("/")[2]}

    def parse_category(self, response: Any) -> Any:
        yield {"by": "category", "path": response.url.rpartition("/")[2]}


class Follow(Rules):
    sitemap_follow = ["/sitemap_shops"]


class Extra(Rules):
    async def start(self) -> Any:
        async for output in super().start():
            yield output
        yield Request(self.sitemap_urls[0].replace("robots.txt", "about"), self.parse)


class Filtered(Plain):
    def sitemap_filter(self, entries: Any) -> Any:
        for entry in entries:
            moment = datetime.strptime(entry["lastmod"], "%Y-%m-%d")
            if moment.year >= 2026:
                yield entry


class Moved(Plain):
    """A filter that changes an address, as the documentation allows."""

    def sitemap_filter(self, entries: Any) -> Any:
        for entry in entries:
            entry["loc"] = entry["loc"].replace("/old", "/new")
            yield entry


class Alternates(Plain):
    sitemap_alternate_links = True


@pytest.fixture
def shop(site: Site) -> Site:
    u = site.url
    site.add("/robots.txt", f"User-agent: *\nDisallow:\nSitemap: {u}/index.xml\n".encode())
    site.add(
        "/index.xml",
        f"<sitemapindex {NS}><sitemap><loc>{u}/sitemap_shops.xml</loc></sitemap>"
        f"<sitemap><loc>{u}/sitemap_other.xml</loc></sitemap></sitemapindex>".encode(),
    )
    site.add("/sitemap_shops.xml", urlset(f"{u}/product/1", f"{u}/category/2", f"{u}/else/3"))
    site.add("/sitemap_other.xml", urlset(f"{u}/product/4"))
    site.add(
        "/sitemap.xml",
        f"<urlset {NS} {XHTML}><url><loc>{u}/old</loc><lastmod>2025-01-01</lastmod></url>"
        f'<url><loc>{u}/a</loc><lastmod>2026-01-01</lastmod><xhtml:link rel="alternate" '
        f'hreflang="de" href="{u}/de"/></url></urlset>'.encode(),
    )
    for path in ("/product/1", "/category/2", "/else/3", "/product/4", "/about", "/old", "/new"):
        site.add(path, b"<html></html>", headers={"Content-Type": "text/html"})
    for path in ("/a", "/de"):
        site.add(path, b"<html></html>", headers={"Content-Type": "text/html"})
    return site


def urlset(*locs: str) -> bytes:
    return (
        f"<urlset {NS}>{''.join(f'<url><loc>{loc}</loc></url>' for loc in locs)}</urlset>".encode()
    )


@pytest.mark.parametrize(
    ("spider", "expected"),
    [
        (Plain, {("parse", "old"), ("parse", "a")}),
        (Rules, {("product", "1"), ("category", "2"), ("product", "4")}),
        (Follow, {("product", "1"), ("category", "2")}),
        (Extra, {("product", "1"), ("category", "2"), ("product", "4"), ("parse", "about")}),
        (Filtered, {("parse", "a")}),
        (Moved, {("parse", "new"), ("parse", "a")}),
        (Alternates, {("parse", "old"), ("parse", "a"), ("parse", "de")}),
    ],
)
def test_documented_examples_run_on_our_base_class(
    crawl: Any, shop: Site, spider: type, expected: set[tuple[str, str]]
) -> None:
    result: CrawlResult = crawl(spider, SETTINGS, site=shop.url)
    assert "Traceback" not in result.log
    assert {(item["by"], item["path"]) for item in result.items} == expected


class Both(Rules):
    sitemap_items = True


def test_with_sitemap_items_urls_reach_pipelines_and_callbacks(crawl: Any, shop: Site) -> None:
    result = crawl(Both, SETTINGS, site=shop.url)
    assert result.stats["sitemap/url_count"] == 4
    assert sum(isinstance(item, dict) for item in result.items) == 3


def test_pages_obey_robots_txt(crawl: Any, shop: Site) -> None:
    shop.add(
        "/robots.txt", f"User-agent: *\nDisallow: /product/\nSitemap: {shop.url}/index.xml".encode()
    )
    result = crawl(Rules, SETTINGS, site=shop.url)
    assert {item["by"] for item in result.items} == {"category"}
    assert not any(path.startswith("/product/") for path in shop.paths)
    assert shop.paths.count("/robots.txt") == 1


class Narrow(Filtered):
    """A filter over what an earlier run has stored in full."""

    sitemap_items = True
    sitemap_rules = ()


class Whole(Plain):
    sitemap_items = True
    sitemap_rules = ()


def test_a_filter_never_makes_the_rest_look_gone(crawl: Any, shop: Site) -> None:
    settings = {**SETTINGS, "INVENTORY_ENABLED": True}
    crawl(Whole, settings, site=shop.url)
    narrow = crawl(Narrow, settings, site=shop.url)
    assert narrow.stats["sitemap/finding_count/filtered"] == 1
    assert "inventory/url_count/gone" not in narrow.stats
    again = crawl(Whole, settings, site=shop.url)
    assert again.stats["inventory/url_count/unchanged"] == 2


class Faulty(Plain):
    """A filter that fails at the first of two files, as a bug in a spider would."""

    paths = ("/sitemap_shops.xml", "/sitemap_other.xml")
    sitemap_items = True

    def sitemap_filter(self, entries: Any) -> Any:
        for entry in entries:
            if "/category/" in entry["loc"]:
                raise ZeroDivisionError("a fault of the filter")
            yield entry


def test_a_filter_that_fails_costs_only_its_file(crawl: Any, shop: Site) -> None:
    settings = {**SETTINGS, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    result = crawl(Faulty, settings, site=shop.url)
    assert "a fault of the filter" in result.log
    assert result.stats["sitemap/file_count/skipped"] == 1
    assert result.stats["sitemap/file_count/complete"] == 1
    assert "Run partial" in result.log


class Halved(Whole):
    """A filter that leaves one of two entries out, while alternates make two of the other."""

    sitemap_alternate_links = True

    def sitemap_filter(self, entries: Any) -> Any:
        return (entry for entry in entries if "alternate" in entry)


def test_a_filter_is_noticed_though_alternates_add_as_many(crawl: Any, shop: Site) -> None:
    result = crawl(Halved, SETTINGS, site=shop.url)
    assert result.stats["sitemap/url_count"] == 2
    assert result.stats["sitemap/finding_count/filtered"] == 1
    assert "Run partial" in result.log
