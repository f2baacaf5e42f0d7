"""What every store promises; each test runs against every kind of store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from stores import ORIGIN, START, Crawler, entries, opened, page

from sitemap_discovery.items import SitemapFile
from sitemap_discovery.protocol.codes import Findings, State
from sitemap_discovery.protocol.urls import url_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_discovery.inventory.store import Marks

D1, D2 = "2026-01-01", "2026-02-02"


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        pytest.param(D1, D1, "unchanged", id="same-date"),
        pytest.param(None, None, "unchanged", id="no-date"),
        pytest.param("soon", "soon", "unchanged", id="same-unusable-text"),
        pytest.param(
            "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00", "unchanged", id="spelling"
        ),
        pytest.param(D1, D2, "changed", id="later"),
        pytest.param(D2, D1, "changed", id="earlier"),
        pytest.param(D1, "2026-01-01T00:00:00Z", "changed", id="precision"),
        pytest.param(None, D1, "changed", id="date-appears"),
        pytest.param(D1, None, "changed", id="date-disappears"),
        pytest.param("soon", "later", "changed", id="unusable-text"),
        pytest.param("soon", D1, "changed", id="repaired"),
    ],
)
def test_a_second_reading_tells_what_became_of_a_url(
    crawler: Crawler, before: str | None, after: str | None, change: str
) -> None:
    with crawler.run():
        assert crawler.read({"a": before}).changes == ["new"]
    first_seen = crawler.now
    with crawler.run():
        marks = crawler.read({"a": after})
    assert (marks.changes, marks.first_seen) == ([change], [first_seen])


def test_a_change_keeps_the_date_before_it(crawler: Crawler) -> None:
    for text in (D1, D1, D2):
        with crawler.run():
            crawler.read({"a": text})
    ((lastmod, before, changed_at),) = crawler.rows("lastmod, lastmod_before, changed_at")
    assert (lastmod - before, changed_at) == (32 * 86_400, crawler.now)


def test_other_fields_are_kept_up_to_date_without_a_change(crawler: Crawler) -> None:
    for priority in (0.5, 0.9):
        with crawler.run():
            columns = {"priorities": [priority], "details": [{"news": {"title": "é"}}]}
            marks = crawler.read({"a": D1}, columns=columns)
    assert marks.changes == ["unchanged"]
    assert crawler.rows("priority, details, changed_at") == [(0.9, '{"news":{"title":"é"}}', None)]


def test_a_url_that_comes_back_is_returned(crawler: Crawler) -> None:
    for urls in ({"a": D1, "b": D1}, {"a": D1}):
        with crawler.run():
            crawler.read(urls)
    assert crawler.present() == {"a"}
    with crawler.run():
        assert crawler.read({"a": D1, "b": D2}).changes == ["unchanged", "returned"]
    assert crawler.present() == {"a", "b"}
    assert crawler.rows("returned_at, gone_at")[1] == (crawler.now, None)


@pytest.mark.parametrize(
    ("state", "left"),
    [
        (State.COMPLETE, {"a"}),
        (State.PARTIAL, {"a", "b"}),
        (State.FAILED, {"a", "b"}),
        (State.SKIPPED, {"a", "b"}),
        (State.UNCHANGED, {"a", "b"}),
    ],
)
def test_only_a_complete_read_makes_urls_gone(
    crawler: Crawler, state: State, left: set[str]
) -> None:
    with crawler.run():
        crawler.read({"a": D1, "b": D1})
    with crawler.run():
        crawler.read({"a": D1}, state=state)
    assert crawler.present() == left
    assert crawler.gone == 2 - len(left)


def test_a_complete_empty_file_makes_its_urls_gone(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1})
    with crawler.run():
        crawler.read({})
    assert (crawler.dropped, crawler.gone, crawler.present()) == (1, 1, set())


def test_a_url_that_moves_to_a_later_file_is_never_gone(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1, "b": D1}, file="1.xml")
        crawler.read({"c": D1}, file="2.xml")
    with crawler.run():
        crawler.read({"new": D1, "a": D1}, file="1.xml")
        marks = crawler.read({"b": D1, "c": D1}, file="2.xml")
    assert (marks.changes, crawler.gone) == (["unchanged", "unchanged"], 0)


@pytest.mark.parametrize("as_repeat", [True, False])
def test_a_url_of_two_files_is_gone_when_both_have_dropped_it(
    crawler: Crawler, as_repeat: bool
) -> None:
    with crawler.run():
        crawler.read({"a": D1}, file="1.xml")
        crawler.read({} if as_repeat else {"a": D1}, file="2.xml", repeats=["a"] * as_repeat)
    assert crawler.rows("listed_by", "urls") == [(2,)]
    with crawler.run():
        crawler.read({}, file="1.xml")
    assert crawler.present() == {"a"}
    with crawler.run():
        crawler.read({}, file="2.xml")
    assert crawler.present() == set()


def test_a_repeat_counts_as_met(crawler: Crawler) -> None:
    for _ in range(2):
        with crawler.run():
            crawler.read({"a": D1}, file="1.xml")
            crawler.read({"b": D1}, file="2.xml", repeats=["a"])
    assert (crawler.dropped, crawler.present()) == (0, {"a", "b"})


def test_an_unchanged_file_renews_its_urls_for_one_row(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1, "b": D1})
    before = crawler.rows("*")
    with crawler.run():
        crawler.fail(State.UNCHANGED)
    assert crawler.rows("*") == before
    assert crawler.last_seen("a") == str(crawler.now)


def test_an_unchanged_url_row_is_not_written(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1})
    before = crawler.rows("*")
    with crawler.run():
        crawler.read({"a": D1})
    assert crawler.rows("*") == before
    assert crawler.last_seen("a") == str(crawler.now)


def test_a_partial_read_renews_only_what_it_met(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1, "b": D1})
    first = crawler.now
    with crawler.run():
        crawler.read({"a": D1}, state=State.PARTIAL)
    assert crawler.last_seen("a") == str(crawler.now)
    assert crawler.last_seen("b") == str(first)


def test_a_gone_url_was_last_seen_by_the_last_complete_read(crawler: Crawler) -> None:
    for urls in ({"a": D1}, {"a": D1}, {}):
        with crawler.run():
            crawler.read(urls)
    ((last_seen, gone_at),) = crawler.rows("last_seen, gone_at")
    assert (last_seen, gone_at) == (crawler.now - 86_400, crawler.now)


def test_a_mass_removal_can_be_refused_and_accepted_later(crawler: Crawler) -> None:
    many = {f"p{n}": D1 for n in range(300)}
    with crawler.run():
        crawler.read(many)
    with crawler.run(share=0.3):
        crawler.read({"p0": D1})
    assert (crawler.gone, len(crawler.present())) == (0, 300)
    with crawler.run():
        crawler.fail()
    assert (crawler.gone, crawler.present()) == (299, {"p0"})


def test_duplicates_inside_a_batch_are_stored_once(crawler: Crawler) -> None:
    batch = entries({"a": D1})
    batch.extend(entries({"a": D2}))
    batch.extend(entries({"b": D1}))
    crawler.start()
    file = SitemapFile(page("sitemap.xml"), ORIGIN)
    read = crawler.store.begin_file(crawler.origin_id, file, crawler.run_id, crawler.now)
    keys = [url_key(loc) for loc in batch.locs]
    marks = crawler.store.add_urls(read, batch, keys, ["in-path"] * 3, crawler.now)
    assert marks.changes == ["new", "unchanged", "new"]
    assert len(crawler.rows("id")) == 2


def test_a_loc_that_cannot_be_stored_costs_its_row_only(crawler: Crawler) -> None:
    crawler.start()
    _begin(crawler, {"first": D1})
    marks = _begin(crawler, {"a": D1, "b\ud800": D1, "c": D1})
    assert marks.changes == ["new", "rejected", "new"]
    assert len(marks.first_seen) == 3
    assert crawler.present() == {"first", "a", "c"}


def test_other_text_that_cannot_be_stored_is_escaped(crawler: Crawler) -> None:
    columns = {"details": [{"news": {"title": "\ud800"}}]}
    with crawler.run():
        assert crawler.read({"a": "soon\ud800"}, columns=columns).changes == ["new"]
    with crawler.run():
        assert crawler.read({"a": "soon\ud800"}, columns=columns).changes == ["unchanged"]
    assert crawler.rows("lastmod_raw, details") == [("soon\\ud800", '{"news":{"title":"\\ud800"}}')]


def test_doing_everything_twice_equals_once(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1}, children=["child.xml"])
        before = (
            crawler.rows("*"),
            crawler.rows("*", "listing", "url_id"),
            crawler.rows("*", "file"),
        )
        crawler.read({"a": D1}, children=["child.xml"])
        after = crawler.rows("*"), crawler.rows("*", "listing", "url_id"), crawler.rows("*", "file")
    assert after == before


def test_children_are_found_and_not_read_yet(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({}, file="index.xml", children=["1.xml", "2.xml"])
        crawler.read({}, file="other.xml", children=["1.xml"])
    found = crawler.rows("url, found_in, state", "file")
    assert (page("1.xml"), page("index.xml"), None) in found
    assert len(crawler.rows("*", "file_parent", "file_id")) == 3


def test_a_complete_index_forgets_children_it_no_longer_names(crawler: Crawler) -> None:
    for children in (["1.xml", "2.xml"], ["2.xml"]):
        with crawler.run():
            crawler.read({}, file="index.xml", children=children)
    assert len(crawler.rows("*", "file_parent", "file_id")) == 1


def test_a_child_keeps_its_state_when_it_is_named_again(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1}, file="1.xml")
        crawler.read({}, file="index.xml", children=["1.xml"])
    assert crawler.rows("state, entries_kept", "file")[0] == ("complete", 0)


VALIDATORS: dict[str, Any] = {"etag": '"1"', "last_modified": "yesterday", "digest": b"1" * 16}


@pytest.mark.parametrize("state", [State.PARTIAL, State.FAILED, State.SKIPPED, State.UNCHANGED])
def test_validators_are_those_of_the_last_complete_read(crawler: Crawler, state: State) -> None:
    with crawler.run():
        crawler.read({"a": D1}, **VALIDATORS)
    complete_at = crawler.now
    with crawler.run():
        crawler.fail(state, etag='"2"', digest=b"2" * 16)
    known = crawler.store.known_file(crawler.origin_id, page("sitemap.xml"))
    assert known is not None
    assert (known.state, known.etag, known.digest) == (str(state), '"1"', b"1" * 16)
    assert known.complete_at == (crawler.now if state is State.UNCHANGED else complete_at)


def test_an_unknown_file_has_no_validators(crawler: Crawler) -> None:
    crawler.start()
    assert crawler.store.known_file(crawler.origin_id, page("none.xml")) is None


def test_a_read_records_how_it_ended(crawler: Crawler) -> None:
    found = Findings()
    found.add("truncated", line=7, example="\ud800")
    with crawler.run():
        crawler.read({}, state=State.PARTIAL, reason="truncated", error_line=7, findings=found)
    ((state, reason, line, findings, run_id),) = crawler.rows(
        "state, reason, error_line, findings, run_id", "file"
    )
    assert (state, reason, line, run_id) == ("partial", "truncated", 7, crawler.run_id)
    assert '"code": "truncated"' in findings


def test_what_a_killed_read_stored_is_told_again(store_url: str) -> None:
    with opened(store_url) as killed:
        killed.start()
        _begin(killed, {"a": D1})
    with opened(store_url) as crawler:
        crawler.now = killed.now
        with crawler.run():
            assert crawler.read({"a": D1, "b": D1}).changes == ["new", "new"]
        with crawler.run():
            assert crawler.read({"a": D1, "b": D1}).changes == ["unchanged", "unchanged"]


def test_a_change_that_a_killed_read_stored_is_told_again(store_url: str) -> None:
    with opened(store_url) as crawler:
        with crawler.run():
            crawler.read({"a": D1, "b": D1})
        crawler.start()
        _begin(crawler, {"a": D2})
        with crawler.run():
            assert crawler.read({"a": D2, "b": D1}).changes == ["changed", "unchanged"]


def _begin(crawler: Crawler, urls: Mapping[str, str | None]) -> Marks:
    """A batch of a read that does not come to its end."""
    file = SitemapFile(page("sitemap.xml"), ORIGIN)
    read = crawler.store.begin_file(crawler.origin_id, file, crawler.run_id, crawler.now)
    batch = entries(urls)
    keys = [url_key(loc.encode("ascii", "replace").decode()) for loc in batch.locs]
    return crawler.store.add_urls(read, batch, keys, ["in-path"] * len(keys), crawler.now)


def test_what_a_killed_run_dropped_is_judged_by_the_next(crawler: Crawler) -> None:
    with crawler.run():
        crawler.read({"a": D1, "b": D1})
    crawler.start()
    crawler.read({"a": D1})
    with crawler.run():
        crawler.read({"a": D1})
    assert (crawler.gone, crawler.present()) == (1, {"a"})


def test_another_writer_of_the_same_origin_does_no_harm(store_url: str) -> None:
    with opened(store_url) as one, opened(store_url) as other:
        one.start()
        other.start()
        assert one.read({"a": D1}, file="1.xml").changes == ["new"]
        assert other.read({"b": D1, "a": D1}, file="2.xml").changes == ["new", "unchanged"]
        assert one.read({"b": D1, "c": D1}, file="3.xml").changes == ["unchanged", "new"]
        assert [loc for (loc,) in one.rows("loc")] == [page("a"), page("b"), page("c")]


def test_origins_do_not_see_each_other(crawler: Crawler) -> None:
    crawler.start()
    crawler.read({"a": D1})
    crawler.origin_id = crawler.store.origin_id("https://example.org", START)
    assert crawler.read({"a": D1}).changes == ["new"]


def test_a_large_file_is_stored_whole(crawler: Crawler) -> None:
    urls = {f"p{n}": D1 for n in range(4_500)}
    with crawler.run():
        assert set(crawler.read(urls).changes) == {"new"}
    with crawler.run():
        assert set(crawler.read({**urls, "more": D1}, file="2.xml").changes) == {"unchanged", "new"}
    assert len(crawler.rows("*", "listing", "url_id")) == 9_001
