"""The frontier: order, budgets, each file once."""

from __future__ import annotations

from typing import Any

import pytest

from sitemap_discovery.items import FoundFile
from sitemap_discovery.spiders.frontier import Budget, Frontier

ROOT = "https://example.com"


def frontier(**budget: int) -> Frontier:
    return Frontier(ROOT, Budget(**budget))


def add(waiting: Frontier, *found: Any, depth: int = 0, lastmod: int | None = None) -> str | None:
    file = FoundFile(*found)
    return waiting.add(file._replace(depth=file.depth or depth, index_lastmod=lastmod))


def order(waiting: Frontier) -> list[str]:
    urls = []
    while (file := waiting.release()) is not None:
        urls.append(file.url)
    return urls


def test_newest_first_undated_last_shallow_before_deep() -> None:
    waiting = frontier()
    add(waiting, "https://example.com/deep", "index", depth=2)
    add(waiting, "https://example.com/undated", "index", depth=1)
    add(waiting, "https://example.com/old", "index", depth=3, lastmod=10)
    add(waiting, "https://example.com/new", "index", depth=3, lastmod=20)
    assert [url.rpartition("/")[2] for url in order(waiting)] == ["new", "old", "undated", "deep"]


@pytest.mark.parametrize(
    "again",
    [
        "https://example.com/a.xml",
        "HTTPS://EXAMPLE.com:443/a.xml",
        "https://example.com/a.xml#top",
        "https://example.com/x/../a.xml",
        "https://example.com//a.xml",
        "https://example.com/%61.xml",
    ],
)
def test_each_file_once_however_it_is_written(again: str) -> None:
    waiting = frontier()
    assert add(waiting, "https://example.com/a.xml", "robots") is None
    assert add(waiting, again, "index") == "duplicate-file"
    assert not waiting.claim(again, "https://example.com/other.xml")


def test_a_redirect_to_another_spelling_of_itself_is_no_repeat() -> None:
    waiting = frontier()
    add(waiting, "https://example.com//a.xml", "robots")
    assert waiting.claim("https://example.com/a.xml", "https://example.com//a.xml")
    assert waiting.claim("https://example.com/new.xml", "https://example.com//a.xml")
    assert not waiting.claim("https://example.com/new.xml", "https://example.com/b.xml")


def test_a_child_that_is_its_own_ancestor_is_a_loop() -> None:
    waiting = frontier()
    add(waiting, "https://example.com/a", "robots")
    add(waiting, "https://example.com/b", "index", "https://example.com/a", 1)
    assert (
        add(waiting, "https://example.com/a", "index", "https://example.com/b", 2) == "index-loop"
    )
    assert (
        add(waiting, "https://example.com/b", "index", "https://example.com/b", 2) == "index-loop"
    )


def test_the_file_budget_cuts_and_says_so() -> None:
    waiting = frontier(files=2)
    for name in "abc":
        add(waiting, f"https://example.com/{name}", "index")
    assert len(order(waiting)) == 2
    assert waiting.cut_by == "budget-files"
    (left,) = waiting.skipped()
    assert (left.url, left.state, left.reason) == (
        "https://example.com/c",
        "skipped",
        "budget-files",
    )


def test_the_depth_budget_leaves_deeper_files_out() -> None:
    waiting = frontier(depth=1)
    assert add(waiting, "https://example.com/a", "index", depth=2) == "budget-depth"
    assert (len(waiting), waiting.cut_by) == (0, "budget-depth")


def test_other_budgets_still_hold_after_the_depth_budget_left_something_out() -> None:
    waiting = frontier(depth=1, files=1)
    for name in "ab":
        add(waiting, f"https://example.com/{name}", "index", depth=1)
    add(waiting, "https://example.com/c", "index", depth=2)
    assert len(order(waiting)) == 1
    assert waiting.cut_by == "budget-files"
