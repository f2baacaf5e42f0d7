"""Sitemaps among pages and pages among sitemaps are told apart by what the server answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sites import files, index, paths, run, urlset

from sitemap_discovery.spiders.misplaced import MOST_IN_VAIN, sitemaps_among

if TYPE_CHECKING:
    from pathlib import Path

    from httpserver import Site
    from sites import Crawl

HTML = b"<!doctype html><html><body><h1>A page</h1></body></html>"


def publish(site: Site, **named: bytes) -> None:
    site.add("/robots.txt", f"Sitemap: {site.url}/main.xml".encode())
    for path, body in named.items():
        site.add("/" + path.replace("_dot_", "."), body)


def test_sitemaps_that_a_urlset_lists_are_read_and_are_no_pages(crawl: Crawl, site: Site) -> None:
    main = urlset(f"{site.url}/sitemap-a.xml", f"{site.url}/a", f"{site.url}/sitemap-b.xml")
    publish(site, main_dot_xml=main)
    site.add("/sitemap-a.xml", urlset(f"{site.url}/b"))
    site.add("/sitemap-b.xml", HTML)
    result = run(crawl, site)
    assert sorted(paths(result)) == ["/a", "/b", "/sitemap-b.xml"]
    assert files(result)["/sitemap-a.xml"] == ("complete", "ok")
    assert "/sitemap-b.xml" not in files(result)
    assert result.stats["sitemap/finding_count/sitemap-in-urlset"] == 1


def test_few_pages_are_opened_for_their_names_alone(crawl: Crawl, site: Site) -> None:
    locs = [f"{site.url}/sitemap-{i}.xml" for i in range(3 * MOST_IN_VAIN)]
    publish(site, main_dot_xml=urlset(*locs))
    result = run(crawl, site)
    assert len(paths(result)) == len(locs)
    asked = [path for path in site.paths if path.startswith("/sitemap-")]
    assert len(asked) == MOST_IN_VAIN


def test_a_page_that_an_index_names_is_a_page(crawl: Crawl, site: Site) -> None:
    main = index(f"{site.url}/about", f"{site.url}/sitemap-old", f"{site.url}/a.xml")
    publish(site, main_dot_xml=main, about=HTML, a_dot_xml=urlset(f"{site.url}/b"))
    site.add("/sitemap-old", HTML)
    result = run(crawl, site)
    assert sorted(paths(result)) == ["/about", "/b"]
    assert files(result)["/about"] == ("complete", "ok")
    assert files(result)["/sitemap-old"] == ("failed", "html-page")
    assert result.stats["sitemap/finding_count/page-in-index"] == 1


def test_both_are_remembered_and_forgotten(crawl: Crawl, site: Site, tmp_path: Path) -> None:
    store = {"INVENTORY_URL": f"sqlite:///{tmp_path / 'inventory.db'}"}
    main = index(f"{site.url}/about", f"{site.url}/a.xml")
    publish(site, main_dot_xml=main, about=HTML, a_dot_xml=urlset(f"{site.url}/sitemap-c.xml"))
    site.add("/sitemap-c.xml", urlset(f"{site.url}/c"))
    assert sorted(paths(run(crawl, site, store))) == ["/about", "/c"]
    assert sorted(paths(run(crawl, site, store))) == ["/about", "/c"]
    publish(site, main_dot_xml=index(f"{site.url}/a.xml"), a_dot_xml=urlset(f"{site.url}/d"))
    site.add("/sitemap-c.xml", status=404)
    changed = run(crawl, site, store, emit="changes")
    assert sorted(paths(changed)) == ["/about", "/d"]
    assert changed.stats["inventory/url_count/gone"] == 1


def test_names_of_sitemaps() -> None:
    names = [
        "/sitemap.xml",
        "/x/Sitemap_1.xml.gz",
        "/sitemap",
        "/my-sitemap.txt?a=b",
        "/sitemap/x.html",
    ]
    assert sitemaps_among(names) == [0, 1, 3]
