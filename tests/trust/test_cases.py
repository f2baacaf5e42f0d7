"""Worked cases of the rules: each input has figures that the code must give, to four digits."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import Any

import pytest

from sitemap_discovery.protocol.dates import LastmodCache, parse_lastmod
from sitemap_discovery.trust.evidence import covers
from sitemap_discovery.trust.moves import Move, Movement, movement
from sitemap_discovery.trust.numbers import Table, numbers_of, wilson
from sitemap_discovery.trust.pagedates import compare
from sitemap_discovery.trust.plan import Page, make_plan
from sitemap_discovery.trust.rates import rate_of_gaps, rate_regular
from sitemap_discovery.trust.stamps import DAY, Stamp, stamp_of
from sitemap_discovery.trust.static import Clues, FileDates, Statistics, statistics
from sitemap_discovery.trust.verdict import PageDates, PartState, judge_site

CASE_12 = {"hits": 12, "bumps": 1, "looks": 200, "exposure": 600, "moves": 120, "compared": 6000}


def at(text: str) -> int:
    lastmod = parse_lastmod(text)
    assert lastmod is not None
    assert lastmod.time is not None
    return lastmod.time


def read(texts: list[str], fetched: str, last_modified: str = "", date: str = "") -> Statistics:
    """The statistics of one file with these dates."""
    cache, dates = LastmodCache(at(fetched)), FileDates()
    dates.add([cache[text] if text else None for text in texts])
    modified = at(last_modified) if last_modified else None
    dates.settle(Clues(at(fetched), at(date) if date else None, modified))
    return statistics([dates])


def rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in values.items()}


def shown(statistics: Statistics, **right: Any) -> None:
    found = rounded(asdict(statistics))
    assert {name: found[name] for name in right} == right


def part(
    reads: int = 8, hit_reads: int = 4, verdict: str = "unproven", **table: float
) -> PartState:
    state = PartState("part", 1000, reads, verdict, hit_reads=list(range(hit_reads)))
    state.long = Table(**table)
    return state


def judged(state: PartState) -> tuple[str, list[str]]:
    state.judge()
    return state.verdict, state.why


# -- one read ------------------------------------------------------------------------------------


def test_no_dates_at_all() -> None:
    found = read([""] * 10_236, "2026-09-29T12:00:00Z")
    shown(found, n=10_236, dated=0, coverage=0.0, invalid=0, distinct=0, cluster=0.0, track=0.0)
    state = PartState("part")
    state.begin_read(found)
    assert judged(state) == ("absent", ["coverage"])


def test_two_stamps_a_second_apart_at_generation() -> None:
    texts = ["2026-09-29T10:00:00Z"] * 240 + ["2026-09-29T10:00:01Z"] * 160
    found = read(texts, "2026-09-29T10:00:20Z", date="2026-09-29T10:00:20Z")
    shown(found, n=400, coverage=1.0, distinct=2, modal=0.6, cluster=1.0, entropy_bits=0.971)
    shown(found, effective=1.9601, days=1, track=1.0, gen_now=True, uniform=False)
    state = PartState("part")
    state.begin_read(found)
    assert judged(state) == ("generation-time", ["one-stamp-near-generation"])


def test_an_old_stamp_beside_an_old_file_proves_nothing() -> None:
    found = read(["2026-08-30T02:00:00Z"] * 50, "2026-09-29T12:00:00Z", "2026-08-30T02:05:00Z")
    shown(found, n=50, distinct=1, modal=1.0, cluster=1.0, days=1, track=0.0)
    shown(found, gen_now=False, uniform=True)
    state = PartState("part")
    state.begin_read(found)
    lacks = ["too-few-reads", "too-few-moves-checked", "recall-not-shown"]
    assert judged(state) == ("unproven", lacks)


def test_the_same_stamp_read_a_day_after_the_file_was_written() -> None:
    found = read(["2026-08-30T02:00:00Z"] * 50, "2026-08-31T01:00:00Z", "2026-08-30T02:05:00Z")
    shown(found, track=1.0, gen_now=True, uniform=False)


FORMS = [
    "2026-10-15", "2026-10-15T14:30:00+02:00", "2026-10-15T14:30Z", "2026-13-01", "2026",
    "0001-01-01", "1970-01-01T00:00:00Z", "2026-10-15 14:30:00", "2031-01-01",
    "2026-10-16T03:00:00Z", "now",
]  # fmt: skip


def test_forms_of_dates() -> None:
    found = read([*FORMS, "31/31/2026"], "2026-10-15T18:00:00Z")
    shown(found, n=12, dated=7, coverage=0.5833, invalid=3, placeholder=2, future=0.1429)
    shown(found, ahead=0.1429, date_only=0.4286, distinct=3, modal=0.5, cluster=0.5)
    shown(found, entropy_bits=1.5, effective=2.8284, days=2, track=0.0, gen_now=False)


def test_a_form_that_the_feeds_take_for_a_date_is_one_here_too() -> None:
    assert read([*FORMS, "15/10/2026"], "2026-10-15T18:00:00Z").dated == 8


def test_stamps_know_their_precision_and_zone() -> None:
    stamps = [stamp_of(parse_lastmod(text)) for text in FORMS]
    assert stamps[0] == Stamp(at("2026-10-15T00:00:00Z"), "day", zoned=False)
    assert stamps[1] == Stamp(at("2026-10-15T12:30:00Z"), "second", zoned=True)
    assert stamps[2] == Stamp(at("2026-10-15T14:30:00Z"), "minute", zoned=True)
    assert stamps[7] == Stamp(at("2026-10-15T14:30:00Z"), "second", zoned=False)
    assert [stamps[i] for i in (3, 10)] == ["invalid", "invalid"]


# -- two reads -----------------------------------------------------------------------------------


def moved(first: list[str], second: list[str]) -> Movement:
    pairs = [(Stamp(at(a)), Stamp(at(b))) for a, b in zip(first, second)]
    return movement([Move(a, b) for a, b in pairs if a != b], len(pairs))


def test_a_nightly_build_is_found_by_looking_at_its_pages() -> None:
    nights = [[f"2026-09-{day}T03:00:0{i % 3}Z" for i in range(12)] for day in (28, 29)]
    state = PartState("part")
    state.begin_read(read(nights[0], "2026-09-28T12:00:00Z"))
    assert judged(state)[0] == "unproven"
    state.begin_read(read(nights[1], "2026-09-29T12:00:00Z"))
    found = moved(*nights)
    assert (found.share, found.window, found.shift, found.is_bulk) == (1.0, 1.0, None, True)
    state.add_movement(found, 1.0)
    assert round(wilson(1, 6, 1.645)[0], 4) == 0.0381
    assert state.note_bulk(1, 6)
    assert judged(state) == ("generation-time", ["bulk-moves-without-change"])


def test_summer_time_is_no_move() -> None:
    first = [f"2026-01-{day:02}T08:15:00Z" for day in range(1, 13)]
    second = [text.replace("T08", "T09") for text in first]
    found = moved(first, second)
    assert (found.share, found.shift, found.is_bulk, found.moved) == (0.0, 3600, False, 0)


def test_two_of_twenty_move() -> None:
    first = [f"2026-01-{day:02}T08:15:00Z" for day in range(1, 21)]
    second = [*first]
    second[3], second[7] = "2026-09-29T08:00:00Z", "2026-09-29T09:30:00Z"
    found = moved(first, second)
    assert (found.moved, found.share, found.is_partial, found.is_bulk) == (2, 0.1, True, False)
    assert found.backward == 0


# -- evidence ------------------------------------------------------------------------------------

NUMBERS = {
    "precision": 0.9231, "precision_least": 0.7177, "precision_most": 0.9826, "move_rate": 0.02,
    "hit_rate": 0.0185, "silent_rate": 0.0, "silent_least": 0.0, "silent_most": 0.0061,
    "value": 11.0769, "recall": 1.0, "recall_least": 0.7512, "recall_most": 1.0,
}  # fmt: skip


def numbers(**table: float) -> dict[str, float]:
    return rounded(asdict(numbers_of(Table(**table))))


def test_precision_and_recall_are_shown() -> None:
    assert numbers(**CASE_12) == NUMBERS | {"moved_seen": 13}
    assert judged(part(**CASE_12)) == ("trusted", ["precision-and-recall-shown"])


def test_a_date_that_moves_too_often() -> None:
    table = CASE_12 | {"hits": 2, "bumps": 10, "moves": 600}
    found = numbers(**table)
    assert [found[k] for k in ("precision", "precision_least", "precision_most")] == [
        0.1667, 0.0568, 0.3992,
    ]  # fmt: skip
    assert [found[k] for k in ("hit_rate", "value", "recall_least")] == [0.0167, 10.0, 0.7316]
    assert judged(part(**table)) == ("untrusted", ["over-reports"])


def test_a_date_that_never_moves() -> None:
    table = {"misses": 4, "looks": 90, "exposure": 270, "compared": 6000}
    found = numbers(**table)
    assert isnan(found.pop("precision"))
    assert [found[k] for k in ("precision_least", "precision_most")] == [0.0, 1.0]
    assert [found[k] for k in ("silent_rate", "silent_least", "silent_most")] == [
        0.0148, 0.0034, 0.0379,
    ]  # fmt: skip
    assert [found[k] for k in ("value", "recall", "recall_least", "recall_most")] == [0.0] * 4
    assert judged(part(hit_reads=0, **table)) == ("untrusted", ["under-reports"])


def test_changes_of_the_size_of_noise_accuse_nobody() -> None:
    table = CASE_12 | {"bumps": 2, "misses": 4, "looks": 600, "exposure": 1800}
    found = numbers(**table)
    names = ("precision", "precision_least", "precision_most", "hit_rate", "silent_rate")
    assert [found[name] for name in names] == [0.8571, 0.647, 0.9515, 0.0171, 0.0022]
    names = ("silent_least", "silent_most", "value", "recall", "recall_least", "recall_most")
    assert [found[name] for name in names] == [0.0, 0.0057, 30.8571, 0.8852, 0.7508, 1.0]
    assert judged(part(**table))[0] == "trusted"


def test_page_dates_convict_on_the_first_read() -> None:
    march = Stamp(at("2026-03-01T00:00:00Z"), "day", zoned=False)
    assert compare(march, Stamp(at("2026-03-01T22:00:00+01:00"))) == "agree"
    assert compare(march, Stamp(at("2026-03-04T09:00:00Z"))) == "behind"
    late = Stamp(at("2026-09-29T10:00:00Z"))
    assert compare(late, Stamp(at("2026-03-04T09:00:00Z"))) == "ahead"
    assert round(wilson(3, 15, 1.645)[1], 4) == 0.4088
    state = part(reads=1, hit_reads=0)
    state.page_dates = PageDates(agree=3, behind=12)
    assert judged(state) == ("untrusted", ["page-dates-behind"])


OLD = CASE_12 | {
    "hits": 30, "bumps": 2, "looks": 300, "exposure": 900, "moves": 240, "compared": 12_000,
}  # fmt: skip


def test_trust_goes_when_all_stamps_jump_for_nothing() -> None:
    state = part(19, 5, "trusted", **OLD)
    state.short = Table(hits=6, looks=60, exposure=180, moves=40, compared=2000)
    state.reads, state.cluster = 20, 1.0
    jump = [Move(Stamp(1_000_000 + i * 5_000), Stamp(90_000_000)) for i in range(1_000)]
    state.add_movement(movement(jump, 1_000), 1.0)
    assert round(wilson(2, 15, 1.645)[0], 4) == 0.0451
    assert state.note_bulk(2, 15)
    assert judged(state) == ("generation-time", ["bulk-moves-without-change"])
    assert (state.long.hits, state.long.exposure) == (0.0, 0.0)
    state.reads = 21
    few = [Move(Stamp(90_000_000), Stamp(90_090_000 + 7_200 * i)) for i in range(20)]
    state.add_movement(movement(few, 1_000), 1.0)
    assert judged(state) == ("unproven", ["recent-bulk-move"])


def test_moves_that_stop_hold_trust_back() -> None:
    state = part(19, 5, "trusted", **OLD | {"compared": 20_000})
    state.short = Table(hits=6, looks=60, exposure=180, moves=40, compared=3000)
    steps = []
    for _ in range(4):
        state.reads += 1
        state.long.decay(20)
        state.short.decay(3)
        state.add_movement(movement([], 1_000), 1.0)
        steps.append((round(state.expected, 4), state.quiet_days, *judged(state)))
    assert steps == [
        (12.0, 1.0, "trusted", ["still-holds"]),
        (23.4094, 2.0, "trusted", ["still-holds"]),
        (34.2657, 3.0, "unproven", ["moves-stopped"]),
        (44.6031, 4.0, "unproven", ["moves-stopped"]),
    ]


def test_evidence_decays() -> None:
    state = part(8, 4, "trusted", **CASE_12)
    for _ in range(20):
        state.long.decay(20)
    found = numbers_of(state.long)
    assert [round(x, 4) for x in (state.long.hits, state.long.exposure)] == [6.0, 300.0]
    assert (round(found.recall_least, 4), round(found.precision_least, 4)) == (0.6016, 0.6081)
    assert judged(state) == ("trusted", ["still-holds"])
    for _ in range(40):
        state.long.decay(20)
    assert (round(state.long.hits, 4), round(numbers_of(state.long).recall_least, 4)) == (
        1.5, 0.274,
    )  # fmt: skip
    assert judged(state) == ("unproven", ["evidence-ran-out"])


@pytest.mark.parametrize(
    ("stamp", "right"), [("2026-09-28T09:00:00Z", True), ("2026-09-29T11:00:00Z", False)]
)
def test_a_late_stamp_counts_where_it_meets_the_change(stamp: str, right: bool) -> None:
    before, later = at("2026-09-27T12:00:00Z"), at("2026-09-28T12:00:00Z")
    assert covers(Stamp(at(stamp)), before, later) is right


def test_change_rates() -> None:
    looks = [(10, 3, 1), (10, 10, 1), (0, 0, 1), (10, 3, 1, 0.1), (0, 0, 7, 0.1)]
    rates = [round(rate_regular(*each), 4) for each in looks]
    assert rates == [0.3365, 3.0445, 0.0, 0.2957, 0.0119]
    assert round(rate_of_gaps([1, 2], [1, 3, 7]), 4) == 0.1609


# -- the site, and the plan ----------------------------------------------------------------------


def sized(state: PartState, size: int) -> PartState:
    state.judge()
    state.size = size
    return state


def site_of(*parts: PartState) -> str:
    site = PartState("")
    judge_site(site, parts)
    return site.verdict


def test_the_site_is_judged_by_its_parts() -> None:
    stale = {"misses": 4, "looks": 90, "exposure": 270, "compared": 6000}
    assert site_of(sized(part(**CASE_12), 500), sized(part(hit_reads=0, **stale), 500)) == "mixed"
    assert site_of(sized(part(**CASE_12), 900), sized(PartState("small"), 100)) == "trusted"
    absent = sized(PartState("none", coverage=0.0), 970)
    assert site_of(absent, sized(part(**CASE_12), 30)) == "absent"


def test_the_plan_of_a_trusted_site() -> None:
    now = at("2026-09-29T12:00:00Z")
    old, new = Stamp(now - 10**7), Stamp(now - 3_600)
    pages = [Page(f"u{i}", "part", new if i < 20 else old, now - DAY, old) for i in range(1_000)]
    state = part(**CASE_12)
    state.judge()
    plan = make_plan(pages, {"part": state}, now=now, audits={f"u{i}" for i in range(20, 50)})
    assert (len(plan.due), plan.saved) == (50, 950)
    assert [round(x, 4) for x in (plan.caught, plan.missed, plan.missed_most)] == [
        18.4615, 0.0, 5.7901,
    ]  # fmt: skip
