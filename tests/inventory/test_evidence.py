"""What every store promises of dates, looks at pages and verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from stores import DAY, page

from sitemap_discovery.inventory.evidence import (
    StoredDates,
    StoredLook,
    StoredPart,
    StoredWaiting,
)
from sitemap_discovery.protocol.urls import url_key

if TYPE_CHECKING:
    from stores import Crawler

    from sitemap_discovery.inventory.evidence import StoredPage

D1, D2, D3 = "2026-01-01", "2026-02-02", "2026-03-03"
NEW_YEAR = 1_767_225_600 * 8 + 2
"""2026-01-01 as time * 8 + the number of its precision, a day."""

DATES = StoredDates(
    1, "blog", n=3, dated=2, invalid=1, placeholder=0, future=0, ahead=0, timed=1, near_timed=0,
    near_days=0, is_news=0, weight=1.0, stamps=b"\0\1",
)  # fmt: skip
PART = StoredPart(
    "", "trusted", '["still-holds"]', "it holds", 0.75, urls=3, reads=4, read_at=5, judged_at=6,
    state="{}",
)  # fmt: skip


def pages(crawler: Crawler) -> dict[str, StoredPage]:
    found = [each for some in crawler.store.pages_of(crawler.origin_id, 2) for each in some]
    return {each.loc.rpartition("/")[2]: each for each in found}


def look(crawler: Crawler, name: str, outcome: str, **fields: object) -> None:
    seen = pages(crawler)[name]
    made = StoredLook(seen.url_id, "", crawler.now, 200, outcome, None, stamp=seen.stamp)
    crawler.store.save_looks(crawler.origin_id, crawler.run_id, [replace(made, **fields)])  # type: ignore[arg-type]


@pytest.fixture
def site(crawler: Crawler) -> Crawler:
    """Four pages, one of them undated, one gone."""
    with crawler.run():
        crawler.read({"a": D1, "b": D1, "undated": None, "gone": D1})
    with crawler.run():
        crawler.read({"a": D1, "b": D2, "undated": None})
    with crawler.run():
        crawler.read({"a": D1, "b": D2, "undated": None})
    return crawler


def test_dates_of_a_file_are_replaced_and_tell_how_it_was_read(site: Crawler) -> None:
    site.store.save_dates(1, [DATES, replace(DATES, section="*")])
    site.store.save_dates(1, [DATES])
    (found,) = site.store.dates(site.origin_id)
    assert replace(found, url="", state=None, complete_at=None) == DATES
    assert (found.url, found.state) == (page("sitemap.xml"), "complete")
    assert found.complete_at == site.now
    assert site.store.dates(site.origin_id + 1) == []


def test_moves_since_a_moment_have_both_dates(site: Crawler) -> None:
    (move,) = site.store.moves(site.origin_id, site.now - 3 * DAY)
    assert (move.loc, move.moved_at) == (page("b"), site.now - DAY)
    assert (move.old, move.new) == (NEW_YEAR, NEW_YEAR + 32 * DAY * 8)
    assert list(site.store.moves(site.origin_id, site.now)) == []


def test_an_older_copy_of_a_file_is_no_move(site: Crawler) -> None:
    for date in (D3, D2, D3):  # an old copy from a cache, then the new one again
        with site.run():
            site.read({"a": D1, "b": date, "undated": None})
    assert [move.moved_at for move in site.store.moves(site.origin_id, 0)] == [site.now - 2 * DAY]


def test_parts_are_replaced_and_each_run_keeps_its_verdicts(site: Crawler) -> None:
    site.store.save_parts(site.origin_id, [PART, replace(PART, name="/blog/")], 1)
    site.store.save_parts(site.origin_id, [replace(PART, verdict="unproven")], 2)
    assert [(p.name, p.verdict) for p in site.store.parts(site.origin_id)] == [("", "unproven")]
    told = site.store.rows("SELECT run_id, verdict, score FROM verdict ORDER BY run_id")
    assert told == [(1, "trusted", 0.75), (2, "unproven", 0.75)]


def test_looks_make_pages_and_pages_remember(site: Crawler) -> None:
    look(site, "a", "first", fingerprint=b"1", etag="x", modified=D1)
    look(site, "a", "changed", fingerprint=b"2", days=2.0)
    look(site, "a", "http-404", status=404, stamp=None)
    found = pages(site)["a"]
    assert (found.fetched_at, found.fingerprint, found.etag) == (site.now, b"2", "x")
    assert (found.looks, found.changes, found.observed) == (1, 1, 2.0)
    assert found.stamp == found.stamp_then == NEW_YEAR
    assert site.store.page(site.origin_id, url_key(page("a"))) == found
    assert site.store.page(site.origin_id, url_key(page("gone"))) is None
    assert site.store.outcomes(site.origin_id) == {"changed": 1, "first": 1, "http-404": 1}


def test_only_dated_quiet_pages_that_were_fetched_are_seen(site: Crawler) -> None:
    look(site, "a", "first")
    look(site, "b", "first")
    look(site, "b", "noisy")
    look(site, "undated", "first")
    assert [each.loc for each in site.store.pages_seen(site.origin_id, 9)] == [page("a")]


def test_pages_come_in_the_order_of_their_keys(site: Crawler) -> None:
    keys = sorted(url_key(page(name)) for name in "ab")
    found = site.store.pages_by_key(site.origin_id, b"", 9)
    assert [url_key(each.loc) for each in found] == keys
    (last,) = site.store.pages_by_key(site.origin_id, keys[1], 9)
    assert url_key(last.loc) == keys[1]


def test_looks_wait_until_they_are_booked(site: Crawler) -> None:
    waiting = [StoredWaiting(1, "", 10, 20, NEW_YEAR, True), StoredWaiting(2, "", 10, 20, 5, False)]
    site.store.save_waiting(site.origin_id, waiting)
    assert site.store.waiting(site.origin_id) == waiting
    site.store.save_waiting(site.origin_id, waiting[1:])
    assert site.store.waiting(site.origin_id) == waiting[1:]
    ids = {name: each.url_id for name, each in pages(site).items()}
    assert site.store.stamps_now(list(ids.values())) == {
        ids["a"]: (NEW_YEAR, D1),
        ids["b"]: (NEW_YEAR + 32 * DAY * 8, D2),
    }


def test_what_was_seen_is_shifted_written_off_or_dropped(site: Crawler) -> None:
    look(site, "a", "first", stamp=1)
    ids = [pages(site)["a"].url_id]
    site.store.shift_stamps(ids, 3_600)
    assert pages(site)["a"].stamp_then == 1 + 8 * 3_600
    site.store.write_off(ids)
    assert pages(site)["a"].stamp_then == NEW_YEAR
    site.store.drop_baselines(ids)
    assert pages(site)["a"].fetched_at is None


def test_pruning_takes_looks_and_verdicts_of_old_runs_along(site: Crawler) -> None:
    gone = site.store.rows("SELECT id FROM url WHERE gone_at IS NOT NULL")[0][0]
    look(site, "a", "first")
    looks = [StoredLook(gone, "", 1, 200, "first", None)]
    site.store.save_looks(site.origin_id, 1, looks)
    site.store.save_parts(site.origin_id, [PART], 1)
    site.store.save_parts(site.origin_id, [PART], site.run_id)
    site.store.prune(site.now)
    assert site.rows("url_id", "page", "url_id") == [(pages(site)["a"].url_id,)]
    assert site.rows("run_id", "look") == [(site.run_id,)]
    assert site.rows("run_id", "verdict", "run_id") == [(site.run_id,)]
