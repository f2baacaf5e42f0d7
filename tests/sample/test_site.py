"""The sample site is what it says: good files read whole, each fault under its own name."""

from __future__ import annotations

import pytest

from sitemap_discovery.protocol.reader import SitemapReader
from sitemap_discovery.protocol.robots import read_robots
from sitemap_discovery.sample.site import LISTED, POSTS, PRODUCTS, page, pages

HOST = "http://127.0.0.1:8000"
FILES = pages(HOST)

OUTCOMES = {
    "/posts.xml.gz": ("complete", "ok", POSTS),
    "/products.xml": ("complete", "ok", PRODUCTS),
    "/pages.txt": ("complete", "ok", LISTED),
    "/news-sitemap.xml": ("complete", "ok", 20),
    "/languages.xml": ("complete", "ok", 60),
    "/videos.xml": ("complete", "ok", 30),
    "/archive/2025.xml": ("complete", "ok", 150),
    "/search.xml": ("complete", "ok", 40),
    "/sitemap_index.xml": ("complete", "ok", 10),
    "/cut.xml": ("partial", "truncated", 44),
    "/login.xml": ("failed", "login-page", 0),
    "/entity.xml": ("failed", "entity-declaration", 0),
}


@pytest.mark.parametrize(("path", "expected"), OUTCOMES.items(), ids=OUTCOMES)
def test_each_file_reads_as_it_is_meant_to(path: str, expected: tuple[str, str, int]) -> None:
    reader = SitemapReader(HOST + path)
    for _ in (*reader.feed(FILES[path]), *reader.close()):
        pass
    outcome = reader.outcome
    assert (outcome.state, outcome.reason, outcome.entries_kept) == expected


def test_robots_txt_names_three_sitemaps() -> None:
    lines = read_robots(FILES["/robots.txt"], HOST + "/robots.txt").sitemaps
    assert [line.url for line in lines] == [
        f"{HOST}/sitemap_index.xml", f"{HOST}/pages.txt", f"{HOST}/news-sitemap.xml",
    ]  # fmt: skip


def test_pages_are_there_and_others_are_not() -> None:
    assert b"<h1>blog/post-1</h1>" in (page("/blog/post-1") or b"")
    assert page("/missing.xml") is None
