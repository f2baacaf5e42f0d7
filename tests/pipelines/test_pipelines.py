"""Pipelines: each URL once a run, filters on what is fed, batches and single items alike."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import DropItem
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from sitemap_discovery.items import SitemapFile, UrlBatch
from sitemap_discovery.pipelines.dedupe import DedupePipeline
from sitemap_discovery.pipelines.seen import SeenKeys
from sitemap_discovery.pipelines.select import SelectPipeline
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.spiders.arguments import parse_arguments

FILE = SitemapFile("https://a.example/s.xml", "https://a.example", fetched_at=1)


def batch(*names: str, dates: tuple[str, ...] = ()) -> UrlBatch:
    size = len(names)
    lastmods = [parse_lastmod(date) for date in dates or ("",) * size]
    entries = Entries(
        "url",
        [f"https://a.example/{name}" for name in names],
        lastmods,
        [None] * size,
        [None] * size,
        [None] * size,
    )
    return UrlBatch(FILE, entries, ["in-path"] * size)


def names(made: UrlBatch) -> list[str]:
    return [loc.rpartition("/")[2] for loc in made.entries.locs]


@pytest.fixture
def stats() -> StatsCollector:
    return StatsCollector(get_crawler())


def test_repeats_are_dropped_counted_and_remembered(stats: StatsCollector) -> None:
    pipeline = DedupePipeline(stats)
    first = pipeline.process_item(batch("a", "b", "a"))
    second = pipeline.process_item(batch("b", "c"))
    assert (names(first), names(second)) == (["a", "b"], ["c"])
    assert len(second.repeats) == 1
    assert stats.get_value("sitemap/duplicate_count") == 2
    assert stats.get_value("sitemap/url_count") == 3


def test_single_items_pass_the_same_way(stats: StatsCollector) -> None:
    pipeline = DedupePipeline(stats)
    one, two = batch("a", "b").singles()
    assert pipeline.process_item(one) is one
    assert pipeline.process_item(two) is two
    with pytest.raises(DropItem):
        pipeline.process_item(next(batch("a").singles()))


@pytest.mark.parametrize("item", [{"own": 1}, FILE, "text"])
def test_other_items_pass_untouched(stats: StatsCollector, item: Any) -> None:
    assert DedupePipeline(stats).process_item(item) is item
    assert SelectPipeline(stats).process_item(item) is item


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({}, ["a1", "b2", "c3"]),
        ({"include": "[12]"}, ["a1", "b2"]),
        ({"exclude": "1"}, ["b2", "c3"]),
        ({"include": "[12]", "exclude": "1"}, ["b2"]),
        ({"since": "2026-05-01"}, ["b2", "c3"]),
        ({"since": "2026-05-01", "undated": "drop"}, ["b2"]),
        ({"emit": "changes"}, ["a1", "c3"]),
    ],
)
def test_what_was_not_asked_for_is_not_fed(
    stats: StatsCollector, arguments: dict[str, str], kept: list[str]
) -> None:
    pipeline = SelectPipeline(stats)
    pipeline.arguments = parse_arguments(arguments, 0)
    made = batch("a1", "b2", "c3", dates=("2026-01-01", "2026-09-01", ""))
    made.changes, made.first_seen = ["new", "unchanged", "changed"], [1, 2, 3]
    assert names(pipeline.process_item(made)) == kept
    assert stats.get_value("sitemap/emitted_count") == len(kept)


@given(st.lists(st.integers(0, 50).map(lambda n: n.to_bytes(16, "big") * 1), max_size=60))
def test_seen_keys_are_a_set(keys: list[bytes]) -> None:
    seen: set[bytes] = set()
    expected = [key not in seen and not seen.add(key) for key in keys]  # type: ignore[func-returns-value]
    spread = [key[8:] + key[:8] for key in keys]
    assert SeenKeys().add_all(spread) == expected


def test_a_key_across_two_others_is_not_taken_for_one() -> None:
    first, second = bytes(2) + b"ABCDEFGH" + bytes(6), bytes(2) + b"IJKLMNOP" + bytes(6)
    across = bytes(2) + b"EFGHIJKL" + bytes(6)
    assert SeenKeys().add_all([first, second, across, first]) == [True, True, True, False]


def test_each_origin_has_its_own_urls() -> None:
    seen = SeenKeys()
    keys = [bytes([n]) * 16 for n in range(9)]
    assert all(seen.add_all(keys, "https://a.example"))
    assert all(seen.add_all(keys, "https://b.example"))
    assert not any(seen.add_all(keys, "https://a.example"))


def test_origins_whose_names_have_one_checksum_have_their_own_urls() -> None:
    """Any 14 bits of a checksum are alike for some pair of a few hundred origins."""
    seen = SeenKeys()
    keys = [bytes([n]) * 16 for n in range(3)]
    for number in range(2_000):
        assert all(seen.add_all(keys, f"https://{number}.example"))


def test_many_keys_are_all_remembered() -> None:
    keys = [os.urandom(16) for _ in range(50_000)]
    seen = SeenKeys()
    assert all(seen.add_all(keys))
    assert not any(seen.add_all(keys))
