"""Where robots.txt names nothing: known paths, links of the home page, what worked before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.test import get_crawler
from spiders.test_sitemaps import FAST, files, paths, run, urlset
from twisted.python.failure import Failure

from sitemap_discovery.items import SitemapFile
from sitemap_discovery.spiders.guesses import (
    KNOWN_PATHS,
    header_sitemaps,
    linked_sitemaps,
    variants,
)
from sitemap_discovery.spiders.sitemaps import SitemapsSpider

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpserver import CrawlResult, Site

    Crawl = Callable[..., CrawlResult]

ROOT = "https://example.com/"
HTML = {"Content-Type": "text/html"}


def found_by(result: CrawlResult) -> dict[str, str]:
    records = [item for item in result.items if isinstance(item, SitemapFile)]
    return {"/" + file.url.split("/", 3)[3]: file.found_by for file in records}


@pytest.mark.parametrize("path", ["/sitemap.xml", "/wp-sitemap.xml", KNOWN_PATHS[-1]])
def test_a_sitemap_at_a_known_path_is_found_and_wrong_guesses_are_quiet(
    crawl: Crawl, site: Site, path: str
) -> None:
    site.add(path, urlset(site.url + "/a"))
    result = run(crawl, site)
    assert paths(result) == ["/a"]
    assert found_by(result) == {"/robots.txt": "origin", path: "known-path"}
    assert "Run complete" in result.log
    assert "No sitemap at" not in result.log
    assert result.stats.get("sitemap/guess_count", 0) <= len(KNOWN_PATHS)


def test_the_first_that_is_a_sitemap_ends_the_guessing(crawl: Crawl, site: Site) -> None:
    for path in KNOWN_PATHS[:3]:
        site.add(path, urlset(f"{site.url}{path}/page"))
    result = run(crawl, site)
    assert paths(result) == [f"{KNOWN_PATHS[0]}/page"]


@pytest.mark.parametrize(
    ("page", "headers", "way"),
    [
        (b'<html><link rel="sitemap" href="/hidden.xml"></html>', {}, "html-link"),
        (b"<html></html>", {"Link": "</hidden.xml>; rel=sitemap"}, "link-header"),
    ],
)
def test_a_link_of_the_home_page_is_followed(
    crawl: Crawl, site: Site, page: bytes, headers: dict[str, str], way: str
) -> None:
    site.add("/", page, headers={**HTML, **headers})
    site.add("/hidden.xml", urlset(site.url + "/a"))
    result = run(crawl, site)
    assert paths(result) == ["/a"]
    assert found_by(result)["/hidden.xml"] == way


def test_all_files_that_the_home_page_names_are_read(crawl: Crawl, site: Site) -> None:
    page = b'<link rel="sitemap" href="/1.xml"><link rel="sitemap" href="/2.xml">'
    site.add("/", page, headers={**HTML, "Link": "</3.xml>; rel=sitemap"})
    for name in "123":
        site.add(f"/{name}.xml", urlset(f"{site.url}/page-{name}"))
    assert sorted(paths(run(crawl, site))) == ["/page-1", "/page-2", "/page-3"]
    assert sorted(paths(run(crawl, site))) == ["/page-1", "/page-2", "/page-3"]


def test_a_guess_that_leads_to_a_dead_host_ends_no_guessing(crawl: Crawl, site: Site) -> None:
    site.add("/sitemap.xml", status=302, headers={"Location": "http://gone.invalid/sitemap.xml"})
    site.add("/wp-sitemap.xml", urlset(site.url + "/a"))
    assert paths(run(crawl, site)) == ["/a"]


def test_the_home_page_is_a_page_and_obeys_robots_txt(crawl: Crawl, site: Site) -> None:
    site.add("/robots.txt", b"User-agent: *\nDisallow: /$\n")
    site.add("/", b'<link rel="sitemap" href="/hidden.xml">', headers=HTML)
    site.add("/sitemap.txt", f"{site.url}/a".encode())
    result = run(crawl, site)
    assert "/" not in site.paths
    assert paths(result) == ["/a"]


def test_a_page_that_answers_to_any_name_is_named_so(crawl: Crawl, site: Site) -> None:
    site.fallback = b"<html><title>Welcome</title>" + b"x" * 500 + b"</html>"
    site.add("/robots.txt", b"User-agent: *\n")
    result = run(crawl, site)
    (line,) = [line for line in result.log.splitlines() if "  nothing " in line]
    assert "soft-404" in line
    assert "Run partial" in result.log
    site.add("/sitemap.php", urlset(site.url + "/a"))
    assert paths(run(crawl, site)) == ["/a"]


def test_what_worked_is_tried_first_the_next_time(crawl: Crawl, site: Site) -> None:
    site.add("/sitemap1.xml", urlset(site.url + "/a"))
    run(crawl, site)
    for _ in range(2):
        site.requests.clear()
        result = run(crawl, site)
        assert site.paths == ["/robots.txt", "/sitemap1.xml"]
        assert found_by(result)["/sitemap1.xml"] == "inventory"
        assert files(result)["/sitemap1.xml"] == ("unchanged", "same-bytes")


def test_wrong_guesses_spend_no_budget(crawl: Crawl, site: Site) -> None:
    site.add(KNOWN_PATHS[2], urlset(site.url + "/a"))
    result = run(crawl, site, max_files="1")
    assert paths(result) == ["/a"]
    assert "Run complete" in result.log


def test_a_site_in_trouble_is_not_asked_for_every_name(crawl: Crawl, site: Site) -> None:
    site.add("/sitemap.xml", b"", status=500)
    result = run(crawl, site, {"RETRY_TIMES": 0})
    assert site.paths == ["/robots.txt", "/sitemap.xml"]
    assert files(result)["/sitemap.xml"] == ("failed", "http-500")


def test_every_answer_is_told_when_nothing_was_found(crawl: Crawl, site: Site) -> None:
    result = run(crawl, site)
    (line,) = [line for line in result.log.splitlines() if "  nothing " in line]
    assert "/sitemap.xml http-404" in line
    assert f"and {len(KNOWN_PATHS) - 4} more" in line


@pytest.mark.parametrize(
    ("root", "others"),
    [
        ("https://example.com", ["https://www.example.com", "http://example.com", "http://www.example.com"]),
        ("http://www.example.com", ["http://example.com", "https://www.example.com", "https://example.com"]),
        ("https://example.com:8443", []),
        ("https://127.0.0.1", []),
        ("https://[::1]", []),
        ("https://localhost", []),
    ],
)  # fmt: skip
def test_other_addresses_of_a_site(root: str, others: list[str]) -> None:
    assert variants(root) == others


def test_a_site_that_does_not_answer_is_tried_by_its_other_names() -> None:
    crawler = get_crawler(SitemapsSpider, {**FAST, "INVENTORY_ENABLED": False})
    spider = SitemapsSpider.from_crawler(crawler, origin="example.com")
    crawler.stats.open_spider()
    outputs: list[Any] = list(spider._start_origin(spider.arguments.origins[0]))
    asked = []
    while isinstance(outputs[0], Request):
        asked.append(outputs[0].url)
        failure = Failure(CannotResolveHostError(""))
        failure.request = outputs[0]  # type: ignore[attr-defined]
        outputs = list(spider._robots_failed(failure))
    assert asked == [f"{root}/robots.txt" for root in (ROOT[:-1], *variants(ROOT[:-1]))]
    (file,) = outputs
    assert (file.reason, file.state.value) == ("dns-failure", "failed")
    assert "https://www.example.com/robots.txt dns-failure" in spider.walks[ROOT[:-1]].account()


@pytest.mark.parametrize(
    ("html", "urls"),
    [
        ('<link rel="sitemap" href="/s.xml">', ["https://example.com/s.xml"]),
        ('<LINK REL="alternate Sitemap" HREF=s.xml>', ["https://example.com/s.xml"]),
        ('<link rel="stylesheet" href="/s.css"><link rel="sitemap">', []),
        ('<link rel="sitemap" href="javascript:x">', []),
        ('<base href="/en/"><link rel=sitemap href="s.xml">', ["https://example.com/en/s.xml"]),
        ("", []),
        ("\x00<", []),
    ],
)
def test_links_of_a_page(html: str, urls: list[str]) -> None:
    assert linked_sitemaps(html, ROOT) == urls


@pytest.mark.parametrize(
    ("header", "urls"),
    [
        ("</s.xml>; rel=sitemap", ["https://example.com/s.xml"]),
        ('</a>; rel="next", </s.xml>; title="x"; rel="alternate sitemap"', ["https://example.com/s.xml"]),
        ("</a>; rel=next; title=sitemap", []),
        ("<", []),
        ("<" * 5_000, []),
    ],
)  # fmt: skip
def test_link_headers(header: str, urls: list[str]) -> None:
    assert header_sitemaps([header], ROOT) == urls
