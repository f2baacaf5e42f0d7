"""The numbers of an overview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stores import ORIGIN, Crawler

from sitemap_discovery.inventory.queries import FileCount, UrlCounts, origins, overview
from sitemap_discovery.protocol.codes import State

if TYPE_CHECKING:
    from sitemap_discovery.inventory.queries import Overview

D1, D2 = "2026-01-01", "2026-02-02"


def only(crawler: Crawler) -> Overview:
    (found,) = overview(crawler.store, ORIGIN, now=crawler.now)
    return found


def test_urls_are_counted_with_what_the_last_run_changed(crawler: Crawler) -> None:
    for urls in (
        {"a": D1, "b": D1, "back": D1},
        {"a": D1, "b": D1, "leaves": None},
        {"a": D2, "b": D1, "back": D1, "new": None},
    ):
        with crawler.run():
            crawler.read(urls)
    assert only(crawler).urls == UrlCounts(
        present=4, dated=3, gone=1, new=1, changed=1, returned=1, gone_in_run=1
    )


def test_files_are_counted_by_state_and_reason(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({}, file="index.xml", children=["1.xml", "2.xml", "3.xml"])
        crawler.fail(file="1.xml")
    assert only(crawler).files == [
        FileCount(None, None, 2),
        FileCount("complete", "ok", 1),
        FileCount("failed", "http-503", 1),
    ]


def test_faulty_files_are_named(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1})
    with crawler.run():
        crawler.read({"a": D1}, state=State.PARTIAL, reason="truncated", error_line=9)
    (faulty,) = only(crawler).faulty
    assert (faulty.state, faulty.reason, faulty.error_line) == ("partial", "truncated", 9)
    assert faulty.complete_at == crawler.now - 86_400


def test_runs_are_shown_newest_first(crawler: Crawler) -> None:
    for _ in range(2):
        with crawler.run():
            crawler.read({"a": D1})
    crawler.start()
    crawler.read({"a": D1})
    shown = [(run.id, run.state, run.urls, run.files) for run in only(crawler).runs]
    assert shown == [(3, None, None, None), (2, "complete", 1, 1), (1, "complete", 1, 1)]


def test_an_origin_without_runs_or_urls_is_all_zeros(crawler: Crawler) -> None:
    crawler.store.origin_id(ORIGIN, crawler.now)
    assert only(crawler).urls == UrlCounts(0, 0, 0, 0, 0, 0, 0)


def test_origins_are_listed_and_an_unknown_one_has_no_overview(crawler: Crawler) -> None:
    for root in (ORIGIN, "https://a.example"):
        crawler.store.origin_id(root, crawler.now)
    assert origins(crawler.store) == ["https://a.example", ORIGIN]
    assert [found.origin for found in overview(crawler.store, now=crawler.now)] == [
        "https://a.example",
        ORIGIN,
    ]
    assert overview(crawler.store, "https://unknown.example", now=crawler.now) == []
