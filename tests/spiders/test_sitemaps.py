"""The main job against a real server: what is found, read, emitted and stored."""

from __future__ import annotations

import gzip
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from sites import FAST, NS, files, index, paths, run, urlset

from sitemap_discovery.items import SitemapFile, SitemapUrl
from sitemap_discovery.spiders.sitemaps import SitemapsSpider

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from httpserver import CrawlResult, Site

    Crawl = Callable[..., CrawlResult]


@pytest.fixture
def tree(site: Site) -> Site:
    """robots.txt, an index, a plain and a gzipped child."""
    u = site.url
    site.add("/robots.txt", f"User-agent: *\nDisallow: /no/\nSiteMap : {u}/index.xml\n".encode())
    site.add(
        "/index.xml",
        index(f"{u}/old.xml", f"{u}/new.xml.gz", f"{u}/undated.xml",
              dates=("2026-01-01", "2026-09-01", "")),
    )  # fmt: skip
    site.add("/old.xml", urlset(f"{u}/a", f"{u}/b", lastmod="2026-01-01"))
    site.add("/new.xml.gz", gzip.compress(urlset(f"{u}/c", f"{u}/a", lastmod="2026-09-01")))
    site.add("/undated.xml", urlset(f"{u}/d"))
    return site


def test_every_url_once_newest_file_first(crawl: Crawl, tree: Site) -> None:
    result = run(crawl, tree, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1})
    assert paths(result) == ["/c", "/a", "/b", "/d"]
    assert tree.paths == ["/robots.txt", "/index.xml", "/new.xml.gz", "/old.xml", "/undated.xml"]
    assert result.stats["sitemap/url_count"] == 4
    assert result.stats["sitemap/duplicate_count"] == 1
    assert result.stats["sitemap/file_count/complete"] == 5
    assert "Run complete: 4 URLs of 1 origin" in result.log


def test_without_sitemap_lines_the_known_path_is_read(crawl: Crawl, site: Site) -> None:
    site.add("/sitemap.xml", urlset(site.url + "/a"))
    result = run(crawl, site)
    assert paths(result) == ["/a"]
    assert files(result)["/robots.txt"] == ("complete", "http-404")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "robots-empty"),
        (b"<!DOCTYPE html><html><body>Sitemap</body></html>", "robots-html"),
    ],
)
def test_a_robots_txt_that_says_nothing_leaves_the_known_path(
    crawl: Crawl, site: Site, body: bytes, code: str
) -> None:
    site.add("/robots.txt", body)
    site.add("/sitemap.xml", urlset(site.url + "/a"))
    result = run(crawl, site)
    assert paths(result) == ["/a"]
    assert result.stats[f"sitemap/finding_count/{code}"] == 1


def test_a_robots_txt_that_never_answers_is_a_timeout(crawl: Crawl, site: Site) -> None:
    site.add("/robots.txt", b"", delay=20)
    result = run(crawl, site, {"DOWNLOAD_TIMEOUT": 1, "RETRY_TIMES": 0})
    assert files(result) == {"/robots.txt": ("failed", "timeout")}


def test_a_batch_is_one_short_line_of_the_log(crawl: Crawl, tree: Site) -> None:
    result = run(crawl, tree, {"LOG_LEVEL": "DEBUG"})
    lines = [line for line in result.log.splitlines() if "Scraped" in line]
    assert len(lines) == 3
    assert all(line.endswith((".xml", ".gz")) for line in lines)
    assert all(len(line) < 120 for line in lines)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"status": 500}, "http-500"),
        ({"status": 429}, "http-429"),
        ({"raw": b""}, "connection-lost"),
    ],
)
def test_an_unreachable_robots_txt_stops_the_origin(
    crawl: Crawl, site: Site, answer: dict[str, Any], reason: str
) -> None:
    site.add("/robots.txt", b"Sitemap: /s.xml", **answer)
    site.add("/s.xml", urlset(site.url + "/a"))
    site.add("/sitemap.xml", urlset(site.url + "/a"))
    result = run(crawl, site, {"RETRY_TIMES": 0})
    assert set(site.paths) == {"/robots.txt"}
    assert files(result) == {"/robots.txt": ("failed", reason)}
    assert "nothing of this origin is fetched" in result.log


@pytest.mark.parametrize(
    ("body", "reason", "options"),
    [
        (b"", "empty-body", {}),
        (b"\n", "empty-body", {}),
        (b"<!DOCTYPE html><html><body>Not here</body></html>", "html-page", {}),
        (b"gone", "http-404", {"status": 404}),
        (b"no", "http-403", {"status": 403}),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><urlset/>', "entity-declaration", {}),
    ],
)
def test_a_child_that_is_no_sitemap_costs_only_itself(
    crawl: Crawl, tree: Site, body: bytes, reason: str, options: dict[str, Any]
) -> None:
    tree.add("/old.xml", body, **options)
    result = run(crawl, tree)
    assert sorted(paths(result)) == ["/a", "/c", "/d"]
    assert files(result)["/old.xml"] == ("failed", reason)
    assert "Run partial" in result.log


def test_a_cut_gzip_file_keeps_its_whole_entries(crawl: Crawl, tree: Site) -> None:
    whole = gzip.compress(urlset(*(f"{tree.url}/{n:05d}" for n in range(5_000))))
    tree.add("/old.xml", whole[: len(whole) // 2])
    result = run(crawl, tree)
    assert files(result)["/old.xml"] == ("partial", "truncated-gzip")
    numbers = sorted(path for path in paths(result) if path[1:].isdigit())
    assert numbers == [f"/{n:05d}" for n in range(len(numbers))]
    assert len(numbers) > 1_000


def test_only_http_and_admitted_addresses_are_requested(
    crawl: Crawl, tree: Site, make_site: Callable[[], Site], tmp_path: Path
) -> None:
    other = make_site()
    secret = tmp_path / "secret.xml"
    secret.write_bytes(urlset(tree.url + "/secret"))
    tree.add(
        "/index.xml",
        index(
            secret.as_uri(), "ftp://127.0.0.1/x", "data:text/xml,x", f"{other.url}/x.xml",
            f"{tree.url}/old.xml", f"{tree.url}/away.xml", f"{tree.url}/local.xml",
        ),
    )  # fmt: skip
    tree.add("/away.xml", status=302, headers={"Location": f"{other.url}/x.xml"})
    tree.add("/local.xml", status=302, headers={"Location": secret.as_uri()})
    result = run(crawl, tree)
    assert other.requests == []
    assert sorted(paths(result)) == ["/a", "/b"]
    assert result.stats["sitemap/finding_count/loc-scheme"] == 3
    assert files(result)["/away.xml"][1] in ("port-refused", "address-refused")
    assert files(result)["/local.xml"][1] == "scheme-refused"


def test_loops_and_repeats_are_cut(crawl: Crawl, site: Site) -> None:
    u = site.url
    site.add("/robots.txt", f"Sitemap: {u}/a.xml\nSitemap: {u}/a.xml#x\n".encode())
    site.add("/a.xml", index(f"{u}/b.xml", f"{u}/a.xml", f"{u}/alias.xml"))
    site.add("/b.xml", index(f"{u}/a.xml", f"{u}/s.xml"))
    site.add("/alias.xml", status=301, headers={"Location": "/s.xml"})
    site.add("/s.xml", urlset(f"{u}/page"))
    result = run(crawl, site)
    assert paths(result) == ["/page"]
    assert site.paths.count("/a.xml") == 1
    assert result.stats["sitemap/finding_count/index-loop"] == 2
    assert "duplicate-file" in [reason for _, reason in files(result).values()]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"max_files": "2"}, "budget-files"),
        ({"max_urls": "3"}, "budget-urls"),
        ({"max_depth": "0"}, "budget-depth"),
    ],
)
def test_a_budget_cuts_the_run_and_is_named(
    crawl: Crawl, tree: Site, args: dict[str, str], reason: str
) -> None:
    result = run(crawl, tree, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, **args)
    assert f"Run partial (cut short by {reason})" in result.log
    assert len(paths(result)) <= 3


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"include": "/[ab]$"}, ["/a", "/b"]),
        ({"exclude": "/[ab]$"}, ["/c", "/d"]),
        ({"follow": "(index|old)"}, ["/a", "/b"]),
        ({"since": "2026-06-01"}, ["/a", "/c", "/d"]),
        ({"since": "2026-06-01", "undated": "drop"}, ["/a", "/c"]),
    ],
)
def test_filters_decide_what_is_emitted(
    crawl: Crawl, tree: Site, args: dict[str, str], expected: list[str]
) -> None:
    result = run(crawl, tree, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, **args)
    assert sorted(paths(result)) == expected


def test_since_counts_what_the_dates_say(crawl: Crawl, tree: Site) -> None:
    result = run(crawl, tree, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, since="2026-06-01")
    assert "total 4, 2 changed, 1 unchanged, 1 undated" in result.log


def test_a_sitemap_address_or_argument_reads_that_file_only(crawl: Crawl, tree: Site) -> None:
    assert paths(run(crawl, tree, origin=f"{tree.url}/old.xml")) == ["/a", "/b"]
    assert paths(run(crawl, tree, sitemap=f"{tree.url}/undated.xml")) == ["/d"]


def test_a_local_file_is_read_from_disk(crawl: Crawl, site: Site, tmp_path: Path) -> None:
    path = tmp_path / "s.xml.gz"
    path.write_bytes(gzip.compress(urlset("https://a.example/x")))
    result = run(crawl, site, sitemap=str(path))
    assert paths(result) == ["/x"]
    assert site.requests == []


def test_a_batch_size_of_one_gives_plain_items(crawl: Crawl, tree: Site) -> None:
    result = run(crawl, tree, {"SITEMAP_BATCH_SIZE": 1})
    rows = [item for item in result.items if isinstance(item, SitemapUrl)]
    assert sorted(row.loc.rpartition("/")[2] for row in rows) == ["a", "b", "c", "d"]
    assert {row.scope for row in rows} == {"in-path"}
    assert {row.change for row in rows} == {"new"}


def test_nothing_found_is_told_in_one_line(crawl: Crawl, site: Site) -> None:
    result = run(crawl, site)
    (line,) = [line for line in result.log.splitlines() if "  nothing " in line]
    assert "robots.txt: http-404" in line
    assert "/sitemap.xml http-404" in line


def test_a_second_run_knows_what_changed(crawl: Crawl, tree: Site) -> None:
    u = tree.url
    run(crawl, tree)
    tree.add("/old.xml", urlset(f"{u}/a", f"{u}/e", lastmod="2026-11-01"))
    second = run(crawl, tree)
    assert "1 new, 3 unchanged, 1 gone" in second.log
    assert second.stats["inventory/url_count/gone"] == 1
    tree.add("/old.xml", urlset(f"{u}/a", f"{u}/b", lastmod="2026-11-01"))
    tree.add("/undated.xml", b"", status=500)
    third = run(crawl, tree, {"RETRY_TIMES": 0})
    assert third.stats["inventory/url_count/returned"] == 1
    assert third.stats["inventory/url_count/gone"] == 1  # /e; the failed file removes nothing


@pytest.mark.parametrize(
    ("asked", "target"),
    [("//s.xml", "/s.xml"), ("/s.xml#top", "/x/../s.xml"), ("/%73.xml", "/s.xml")],
)
def test_a_redirect_to_another_spelling_of_the_same_file_is_read(
    crawl: Crawl, site: Site, asked: str, target: str
) -> None:
    site.add("/robots.txt", f"Sitemap: {site.url}{asked}".encode())
    for path in {asked.partition("#")[0], target}:
        site.add(path, urlset(site.url + "/a"))
    if asked.partition("#")[0] != target:
        site.add(asked.partition("#")[0], status=301, headers={"Location": site.url + target})
    result = run(crawl, site)
    assert paths(result) == ["/a"]
    assert "Run complete" in result.log


@pytest.mark.parametrize("form", ["{}#x", "{}?a=1#x", "{}"])
def test_a_sitemap_with_a_fragment_or_without_a_path_is_read(
    crawl: Crawl, site: Site, form: str
) -> None:
    site.add("/", urlset(site.url + "/a"))
    site.add("/?a=1", urlset(site.url + "/a"))
    result = run(crawl, site, sitemap=form.format(site.url))
    assert paths(result) == ["/a"]


def test_max_urls_inside_a_small_file_leaves_it_partial(crawl: Crawl, tree: Site) -> None:
    result = run(crawl, tree, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, max_urls="3")
    assert paths(result) == ["/c", "/a"]  # the third is listed twice
    assert files(result)["/old.xml"] == ("partial", "budget-urls")
    assert files(result)["/undated.xml"] == ("skipped", "budget-urls")
    records = {item.url: item for item in result.items if isinstance(item, SitemapFile)}
    assert records[f"{tree.url}/old.xml"].entries_kept == 1
    assert records[f"{tree.url}/old.xml"].kind == "urlset"


def test_budgets_stop_the_run_after_a_depth_cut(crawl: Crawl, tree: Site) -> None:
    u = tree.url
    tree.add("/index.xml", index(f"{u}/deep.xml", f"{u}/old.xml", f"{u}/undated.xml"))
    tree.add("/deep.xml", index(f"{u}/new.xml.gz"))
    args = {"max_depth": "1", "max_files": "3"}
    result = run(crawl, tree, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, **args)
    assert len(tree.paths) == 4
    assert "cut short by budget-files" in result.log


def test_a_repeated_file_leaves_the_run_complete(crawl: Crawl, tree: Site) -> None:
    tree.add("/undated.xml", status=301, headers={"Location": "/old.xml"})
    result = run(crawl, tree)
    assert files(result)["/undated.xml"] == ("skipped", "duplicate-file")
    assert "Run complete" in result.log


def test_many_files_that_fail_are_all_counted(crawl: Crawl, tree: Site) -> None:
    children = [f"{tree.url}/missing-{n}.xml" for n in range(30)]
    tree.add("/index.xml", index(f"{tree.url}/old.xml", *children))
    result = run(crawl, tree)
    assert "… and 25 more" in result.log
    tree.add("/index.xml", index(*children))
    assert "and 25 more" in run(crawl, tree).log


def test_the_robots_txt_that_was_asked_for_is_the_one_recorded(
    crawl: Crawl, tree: Site, make_site: Callable[[], Site]
) -> None:
    tree.add("/elsewhere.txt", f"Sitemap: {tree.url}/old.xml".encode())
    tree.add("/robots.txt", status=302, headers={"Location": "/elsewhere.txt"})
    result = run(crawl, tree)
    assert files(result)["/robots.txt"] == ("complete", "ok")


def test_a_run_that_reads_no_sitemap_is_not_complete(crawl: Crawl, tree: Site) -> None:
    result = run(crawl, tree, follow="old")
    assert "Run partial" in result.log
    assert "no sitemap file was read" in result.log


def test_single_items_make_no_url_gone_that_another_file_lists(crawl: Crawl, tree: Site) -> None:
    u, one = tree.url, {"SITEMAP_BATCH_SIZE": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    tree.add("/index.xml", index(f"{u}/old.xml", f"{u}/undated.xml"))
    tree.add("/old.xml", urlset(f"{u}/a", f"{u}/both"))
    tree.add("/undated.xml", urlset(f"{u}/both"))
    assert run(crawl, tree, one).stats["sitemap/duplicate_count"] == 1
    tree.add("/old.xml", urlset(f"{u}/a"))
    tree.add("/undated.xml", b"", status=500)
    assert "inventory/url_count/gone" not in run(crawl, tree, one).stats


def test_max_urls_counts_the_alternates_too(crawl: Crawl, tree: Site) -> None:
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="de" href="{tree.url}/{n}"/>' for n in range(30)
    )
    space = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    body = f"<url><loc>{tree.url}/a</loc>{links}</url>"
    tree.add("/old.xml", f"<urlset {NS} {space}>{body}</urlset>".encode())
    result = crawl(Alternating, FAST, origin=f"{tree.url}/old.xml", max_urls=4)
    assert len(paths(result)) == 4


class Alternating(SitemapsSpider):
    name = "alternating"
    sitemap_alternate_links = True


def test_a_robots_txt_in_an_index_is_not_read_as_a_sitemap(crawl: Crawl, tree: Site) -> None:
    u = tree.url
    tree.add("/index.xml", index(f"{u}/old.xml", f"{u}/robots.txt"))
    result = run(crawl, tree)
    assert files(result)["/robots.txt"] == ("complete", "ok")
    assert tree.paths.count("/robots.txt") == 1


def test_every_spelling_of_a_file_is_one_file(crawl: Crawl, tree: Site, tmp_path: Path) -> None:
    u = tree.url
    tree.add("/index.xml", index(f"{u}/old.xml#x", f"{u}/./old.xml"))
    result = run(crawl, tree)
    assert files(result)["/old.xml"] == ("complete", "ok")
    with sqlite3.connect(tmp_path / "inventory.db") as database:
        unread = database.execute("SELECT url FROM file WHERE state IS NULL").fetchall()
    database.close()
    assert unread == []


def test_an_origin_is_one_however_it_is_written(crawl: Crawl, tree: Site) -> None:
    for address in (tree.url, tree.url.replace("http", "HTTP")):
        result = run(crawl, tree, sitemap=f"{address}/old.xml")
    assert result.stats["inventory/url_count/unchanged"] == 2


def test_an_index_under_ever_new_names_is_followed_once(crawl: Crawl, site: Site) -> None:
    site.fallback = index("deeper/index.xml", f"{site.url}/s.xml")
    site.add("/robots.txt", b"Sitemap: /index.xml")
    site.add("/s.xml", urlset(site.url + "/a"))
    result = run(crawl, site)
    assert paths(result) == ["/a"]
    assert sorted(site.paths) == ["/deeper/index.xml", "/index.xml", "/robots.txt", "/s.xml"]
    assert result.stats["sitemap/finding_count/repeated-body"] == 1


def test_a_file_with_a_very_long_address_is_read(crawl: Crawl, tree: Site) -> None:
    u, one = tree.url, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    long = "/long.xml?" + "x" * 3_000
    tree.add(long, urlset(f"{u}/long"))
    tree.add("/index.xml", index(u + long, f"{u}/old.xml"))
    assert sorted(paths(run(crawl, tree, one))) == ["/a", "/b", "/long"]


def test_a_run_with_a_request_that_was_dropped_is_not_complete(crawl: Crawl, tree: Site) -> None:
    result = run(crawl, tree, {"URLLENGTH_LIMIT": len(tree.url) + 11})
    assert "Run partial" in result.log
    assert "not read  " in result.log
