"""Later runs: what is unchanged costs nothing, what changed is told, what is gone is proved."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from sites import files, index, paths, run, urlset

from sitemap_discovery.items import UrlBatch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from httpserver import CrawlResult, Seen, Site

    Crawl = Callable[..., CrawlResult]

IN_ORDER = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
"""Files are read one after another, in the order in which they are named."""


def serve(site: Site, path: str, body: bytes, etag: str = "", *, always: bool = False) -> None:
    """Serve a file with an ETag; with ``always`` a request that names one is told 304."""

    def answer(seen: Seen) -> tuple[int, dict[str, str], bytes]:
        asked = seen.headers.get("If-None-Match")
        if etag and (asked == etag or (always and asked)):
            return 304, {"ETag": etag}, b""
        return 200, {"ETag": etag} if etag else {}, body

    site.add(path, answer)


@pytest.fixture
def tree(site: Site) -> Site:
    u = site.url
    site.add("/robots.txt", f"Sitemap: {u}/index.xml\n".encode())
    serve(site, "/index.xml", index(f"{u}/a.xml", f"{u}/b.xml"), '"i"')
    serve(site, "/a.xml", urlset(f"{u}/1", f"{u}/2", lastmod="2026-01-01"), '"a"')
    serve(site, "/b.xml", urlset(f"{u}/3", f"{u}/1"))
    return site


def changes(result: CrawlResult) -> dict[str, str]:
    batches = [item for item in result.items if isinstance(item, UrlBatch)]
    return {
        "/" + row.loc.split("/", 3)[3]: str(row.change) for batch in batches for row in batch.rows()
    }


def query(tmp_path: Path, sql: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(tmp_path / "inventory.db")
    rows = database.execute(sql).fetchall()
    database.close()
    return rows


def test_an_unchanged_file_is_told_from_the_inventory(crawl: Crawl, tree: Site) -> None:
    first = run(crawl, tree)
    again = run(crawl, tree)
    assert files(again) == {
        "/robots.txt": ("complete", "ok"),
        "/index.xml": ("unchanged", "not-modified"),
        "/a.xml": ("unchanged", "not-modified"),
        "/b.xml": ("unchanged", "same-bytes"),
    }
    assert sorted(paths(again)) == sorted(paths(first)) == ["/1", "/2", "/3"]
    assert set(changes(again).values()) == {"unchanged"}
    rows = [row for item in again.items if isinstance(item, UrlBatch) for row in item.rows()]
    assert {row.lastmod for row in rows} == {"2026-01-01T00:00:00+00:00", None}
    assert "Run complete" in again.log


def test_nothing_is_fed_when_only_changes_are_asked_for(crawl: Crawl, tree: Site) -> None:
    run(crawl, tree)
    again = run(crawl, tree, emit="changes")
    assert changes(again) == {}
    assert "Run complete: 4 URLs of 1 origin" in again.log


def test_one_item_a_url_comes_out_of_the_inventory_too(crawl: Crawl, tree: Site) -> None:
    run(crawl, tree)
    again = run(crawl, tree, {"SITEMAP_BATCH_SIZE": 1})
    rows = [item for item in again.items if type(item).__name__ == "SitemapUrl"]
    assert sorted(row.loc[-1] for row in rows) == ["1", "2", "3"]
    assert {row.change for row in rows} == {"unchanged"}
    serve(tree, "/b.xml", urlset(f"{tree.url}/4"))
    serve(tree, "/a.xml", urlset(f"{tree.url}/5"), '"a2"')
    again = run(crawl, tree, {"SITEMAP_BATCH_SIZE": 1}, emit="changes")
    rows = [item for item in again.items if type(item).__name__ == "SitemapUrl"]
    assert {row.loc[-1]: row.change for row in rows} == {
        "1": "gone", "2": "gone", "3": "gone", "4": "new", "5": "new",
    }  # fmt: skip


def test_a_budget_of_urls_holds_in_later_runs(crawl: Crawl, tree: Site) -> None:
    run(crawl, tree)
    again = run(crawl, tree, max_urls="1")
    assert len(paths(again)) == 1
    assert "cut short by budget-urls" in again.log


def test_what_moved_is_told(crawl: Crawl, tree: Site, tmp_path: Path) -> None:
    u = tree.url
    run(crawl, tree)
    serve(tree, "/a.xml", urlset(f"{u}/1", f"{u}/4", lastmod="2026-02-01"), '"a2"')
    again = run(crawl, tree, emit="changes")
    assert changes(again) == {"/1": "changed", "/4": "new", "/2": "gone"}
    (gone,) = [
        r for i in again.items if isinstance(i, UrlBatch) for r in i.rows() if r.change == "gone"
    ]
    assert (gone.sitemap, gone.lastmod) == (f"{u}/a.xml", "2026-01-01T00:00:00+00:00")
    assert gone.last_seen is not None
    assert query(tmp_path, "SELECT loc FROM url WHERE gone_at IS NOT NULL") == [(f"{u}/2",)]
    assert changes(run(crawl, tree, emit="changes")) == {}
    serve(tree, "/a.xml", urlset(f"{u}/1", f"{u}/2", lastmod="2026-02-01"), '"a3"')
    assert changes(run(crawl, tree, emit="changes")) == {"/2": "returned", "/4": "gone"}


def test_a_url_is_what_its_first_file_says_unless_another_is_later(
    crawl: Crawl, tree: Site
) -> None:
    def serve_b(date: str) -> None:
        serve(tree, "/b.xml", urlset(*(f"{tree.url}/{n}" for n in (3, 1, 5)), lastmod=date))

    run(crawl, tree, IN_ORDER)
    serve_b("2025-05-01")
    assert changes(run(crawl, tree, IN_ORDER, emit="changes")) == {"/3": "changed", "/5": "new"}
    serve(tree, "/a.xml", urlset(f"{tree.url}/1", f"{tree.url}/2", lastmod="2026-02-01"), '"a2"')
    serve_b("2026-02-01")
    told = changes(run(crawl, tree, IN_ORDER, emit="changes"))
    assert told == dict.fromkeys(["/1", "/2", "/3", "/5"], "changed")
    serve(tree, "/a.xml", urlset(f"{tree.url}/2", lastmod="2026-02-01"), '"a3"')
    serve_b("2026-01-01")
    told = changes(run(crawl, tree, IN_ORDER, emit="changes"))
    assert told == dict.fromkeys(["/1", "/3", "/5"], "changed")


def test_more_is_gone_than_a_batch_holds(crawl: Crawl, site: Site) -> None:
    locs = [f"{site.url}/{n}" for n in range(25_000)]
    site.add("/robots.txt", f"Sitemap: {site.url}/a.xml".encode())
    site.add("/a.xml", urlset(*locs))
    run(crawl, site)
    site.add("/a.xml", urlset(locs[0]))
    again = run(crawl, site, emit="changes")
    assert len(changes(again)) == 24_999
    assert set(changes(again).values()) == {"gone"}
    assert again.stats["inventory/url_count/gone"] == 24_999


def test_a_file_that_vanished_keeps_its_urls_for_a_while(crawl: Crawl, tree: Site) -> None:
    run(crawl, tree)
    tree.pages.pop("/a.xml")
    assert changes(run(crawl, tree, emit="changes")) == {}
    assert changes(run(crawl, tree, emit="changes")) == {"/2": "gone"}


def test_a_file_that_nothing_names_is_asked_for_until_it_is_gone(crawl: Crawl, tree: Site) -> None:
    run(crawl, tree)
    serve(tree, "/index.xml", index(f"{tree.url}/b.xml"), '"i2"')
    again = run(crawl, tree, emit="changes")
    assert (changes(again), tree.paths[-1]) == ({}, "/a.xml")
    tree.pages.pop("/a.xml")
    assert changes(run(crawl, tree, emit="changes")) == {}
    assert changes(run(crawl, tree, emit="changes")) == {"/2": "gone"}
    tree.requests.clear()
    run(crawl, tree)
    assert "/a.xml" not in tree.paths


def test_names_that_change_with_every_read_do_not_add_up(crawl: Crawl, site: Site) -> None:
    u = site.url
    site.add("/a.xml", urlset(f"{u}/1", f"{u}/2"))
    for version in range(3):
        site.add("/robots.txt", f"Sitemap: {u}/a.xml?v={version}\n".encode())
        site.requests.clear()
        told = changes(run(crawl, site, emit="changes"))
        assert site.paths == ["/robots.txt", f"/a.xml?v={version}"]
        assert set(told.values()) == ({"new"} if version == 0 else set())
    site.add("/a.xml", urlset(f"{u}/1"))
    site.add("/robots.txt", f"Sitemap: {u}/a.xml?v=3\n".encode())
    assert changes(run(crawl, site, emit="changes")) == {"/2": "gone"}
    assert site.paths[-2:] == ["/a.xml?v=3", "/a.xml?v=2"]


def test_a_file_that_is_named_by_itself_is_all_that_is_asked_for(crawl: Crawl, tree: Site) -> None:
    run(crawl, tree)
    serve(tree, "/index.xml", index(f"{tree.url}/b.xml"), '"i2"')
    run(crawl, tree, max_files="1")
    tree.requests.clear()
    run(crawl, tree, sitemap=f"{tree.url}/b.xml")
    assert [path for path in tree.paths if path != "/robots.txt"] == ["/b.xml"]


def test_a_file_that_fails_keeps_its_urls(crawl: Crawl, tree: Site) -> None:
    run(crawl, tree)
    tree.add("/a.xml", b"sorry", status=403)
    for _ in range(3):
        assert changes(run(crawl, tree, emit="changes")) == {}


def test_bytes_are_believed_before_validators(crawl: Crawl, tree: Site, tmp_path: Path) -> None:
    run(crawl, tree)
    tree.add("/a.xml", urlset(f"{tree.url}/9"), headers={"ETag": '"a"'})
    again = run(crawl, tree, emit="changes")
    assert changes(again) == {"/9": "new", "/2": "gone"}
    assert again.stats["sitemap/finding_count/validator-lie"] == 1
    tree.requests.clear()
    run(crawl, tree)
    (asked,) = [seen for seen in tree.requests if seen.path == "/a.xml"]
    assert "If-None-Match" not in asked.headers


def test_a_304_that_lies_is_found_out(crawl: Crawl, tree: Site) -> None:
    settings = {"INVENTORY_RECHECK_AFTER": 2, **IN_ORDER}
    run(crawl, tree, settings)
    serve(tree, "/a.xml", urlset(f"{tree.url}/9"), '"a"', always=True)
    told = [changes(run(crawl, tree, settings, emit="changes")) for _ in range(3)]
    assert told == [{}, {}, {"/9": "new", "/1": "changed", "/2": "gone"}]


def test_a_read_that_was_cut_is_done_again(crawl: Crawl, tree: Site) -> None:
    run(crawl, tree, max_urls="1")
    again = run(crawl, tree)
    assert sorted(paths(again)) == ["/1", "/2", "/3"]
    assert files(again)["/a.xml"] == ("complete", "ok")


def test_only_files_that_are_due_are_asked_for(crawl: Crawl, tree: Site, tmp_path: Path) -> None:
    run(crawl, tree)
    tree.requests.clear()
    again = run(crawl, tree, due_files="1")
    assert tree.paths == ["/robots.txt"]
    assert again.stats["sitemap/not_due_count"] == 3
    assert "Run complete" in again.log
    database = sqlite3.connect(tmp_path / "inventory.db")
    database.execute("UPDATE file SET fetched_at = fetched_at - 90000 WHERE url LIKE '%/a.xml'")
    database.commit()
    database.close()
    tree.requests.clear()
    run(crawl, tree, due_files="1")
    assert tree.paths == ["/robots.txt", "/a.xml"]


def test_a_budget_goes_to_new_files_and_then_to_those_that_change(
    crawl: Crawl, site: Site, tmp_path: Path
) -> None:
    u = site.url
    names = [f"{u}/{name}.xml" for name in "abc"]
    site.add("/robots.txt", f"Sitemap: {u}/index.xml\n".encode())
    site.add("/index.xml", index(*names))
    for n, name in enumerate("abcd"):
        site.add(f"/{name}.xml", urlset(f"{u}/{n}"))
    run(crawl, site)
    site.add("/b.xml", urlset(f"{u}/9"))
    run(crawl, site)
    site.add("/index.xml", index(*names, f"{u}/d.xml"))
    site.requests.clear()
    cut = run(crawl, site, max_files="3")
    assert sorted(site.paths[2:]) == ["/b.xml", "/d.xml"]
    assert "cut short by budget-files" in cut.log
