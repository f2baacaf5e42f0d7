"""The link crawl tells what sitemaps leave out, and what no link reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sites import FAST, run, urlset

if TYPE_CHECKING:
    from pathlib import Path

    from httpserver import Site
    from sites import Crawl

HTML = {"Content-Type": "text/html"}


def links(*hrefs: str) -> bytes:
    return "".join(f"<a href='{href}'>x</a>" for href in hrefs).encode()


def publish(site: Site) -> None:
    u = site.url
    site.add("/robots.txt", f"User-agent: *\nDisallow: /no/\nSitemap: {u}/s.xml".encode())
    site.add("/s.xml", urlset(f"{u}/", f"{u}/a/1", f"{u}/a/2"))
    body = links("/a/1#top", "/b/1", "/no/1", "https://elsewhere.example/", "mailto:x@y.example")
    site.add("/", body, headers=HTML)
    site.add("/a/1", links("/b/2", "/"), headers=HTML)
    site.add("/b/1", links("/b/1"), headers=HTML)


def test_what_only_links_or_only_sitemaps_have(crawl: Crawl, site: Site, tmp_path: Path) -> None:
    store = {**FAST, "INVENTORY_URL": f"sqlite:///{tmp_path}/inventory.db"}
    publish(site)
    run(crawl, site, store)
    result = crawl("coverage", store, origin=site.url)
    assert "Traceback" not in result.log
    found = {item["loc"].removeprefix(site.url): item["in_sitemap"] for item in result.items}
    assert found == {"/": True, "/a/1": True, "/b/1": False, "/no/1": False, "/b/2": False}
    assert "2 URLs are in both; 3 only by links, 1 only in sitemaps" in result.log
    assert "/no/1" not in site.paths


def test_no_more_pages_are_read_than_asked_for(crawl: Crawl, site: Site, tmp_path: Path) -> None:
    store = {**FAST, "INVENTORY_URL": f"sqlite:///{tmp_path}/inventory.db"}
    publish(site)
    run(crawl, site, store)
    site.requests.clear()
    result = crawl("coverage", store, origin=site.url, max_pages="1")
    assert [path for path in site.paths if path != "/robots.txt"] == ["/"]
    assert "cut at max_pages=1" in result.log
