"""Dates: all precisions of the W3C form, other clear forms named, nothing guessed."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sitemapdata import entry, read, urlset

from sitemap_discovery.protocol.dates import (
    ANCIENT,
    Lastmod,
    LastmodCache,
    implausible,
    parse_lastmod,
)
from sitemap_discovery.protocol.fields import parse_changefreq, parse_priority

DAY = "2026-10-02T00:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "iso", "precision", "code"),
    [
        ("2026", "2026-01-01T00:00:00+00:00", "year", None),
        ("2026-10", "2026-10-01T00:00:00+00:00", "month", None),
        ("2026-10-02", DAY, "day", None),
        ("2026-10-02T08:30Z", "2026-10-02T08:30:00+00:00", "minute", None),
        ("2026-10-02T08:30:15+02:00", "2026-10-02T06:30:15+00:00", "second", None),
        ("2026-10-02T08:30:15.25Z", "2026-10-02T08:30:15.250000+00:00", "second", None),
        (" 2026-10-02 \n", DAY, "day", None),
        ("2026-10-02T08:30:15", "2026-10-02T08:30:15+00:00", "second", "lastmod-no-zone"),
        ("2026-10-02 08:30:15", "2026-10-02T08:30:15+00:00", "second", "lastmod-lenient"),
        ("2026-10-02T083015", "2026-10-02T08:30:15+00:00", "second", "lastmod-lenient"),
        ("20261002", DAY, "day", "lastmod-lenient"),
        ("2026/10/2", DAY, "day", "lastmod-lenient"),
        ("2026-10-01T24:00:00Z", DAY, "second", None),
        ("Fri, 02 Oct 2026 00:00:00 GMT", DAY, "second", "lastmod-rfc822"),
        ("Fri,2 Oct 26 00:00:00 GMT", DAY, "second", "lastmod-rfc822"),
        ("Fri, 02 Oct 2026 02:00:00 CEST", DAY, "second", "lastmod-rfc822"),
        ("October 2, 2026", DAY, "day", "lastmod-lenient"),
        ("2nd Oct, 2026 at 12:00 am", "2026-10-02T00:00:00+00:00", "minute", "lastmod-lenient"),
        ("Fri Oct  2 00:00:00 2026", DAY, "second", "lastmod-lenient"),
        ("Thu Oct 01 19:00:00 EST 2026", DAY, "second", "lastmod-lenient"),
        ("Friday, 2026/10/02", DAY, "day", "lastmod-lenient"),
        ("15/10/2026", "2026-10-15T00:00:00+00:00", "day", "lastmod-lenient"),
        ("10/15/2026 1:30 pm", "2026-10-15T13:30:00+00:00", "minute", "lastmod-lenient"),
        ("02.10.2026", DAY, "day", "lastmod-lenient"),
    ],
)
def test_a_clear_date_is_read(text: str, iso: str, precision: str, code: str | None) -> None:
    lastmod = parse_lastmod(text)
    assert lastmod is not None
    assert (lastmod.iso, lastmod.precision, lastmod.code) == (iso, precision, code)
    assert lastmod.raw == (None if text == iso else text.strip())


@pytest.mark.parametrize(
    "text",
    ["2026-13-01", "02 Oct 2026 08:30:15 XYZ", "Oct 2026", "26-Oct-02", "01-Feb-03", "26-Oct-02 10:00", "2026-10-02T123", "2026-10-02T12345", "31/13/2026", "0/0/2026", "2 Oct 2026 13:00 pm", "2026-02-30", "2026-W01-1", "yesterday", "0",
     "\u0662\u0660\u0662\u0666", "2026-10-02T25:00:00Z", "9" * 5_000, "{{ date }}"],
)  # fmt: skip
def test_anything_else_is_kept_as_text_only(text: str) -> None:
    lastmod = parse_lastmod(text)
    assert lastmod is not None
    assert (lastmod.time, lastmod.iso, lastmod.code) == (None, None, "lastmod-invalid")
    assert lastmod.raw == text[:64]


@pytest.mark.parametrize("text", ["10/11/2026", "1-2-2026", "1/2/2026 08:30"])
def test_day_and_month_are_not_guessed(text: str) -> None:
    lastmod = parse_lastmod(text)
    assert lastmod is not None
    assert (lastmod.time, lastmod.raw, lastmod.code) == (None, text, "lastmod-ambiguous")


@pytest.mark.parametrize(
    ("others", "month"), [(["31/12/2025"], 11), (["12/31/2025"], 10), ([], None),
                          (["31/12/2025", "12/31/2025"], None),
                          (["13/02/1990"], 11), (["31/13/2025"], None)],
)  # fmt: skip
def test_the_other_dates_of_a_file_settle_day_and_month(
    others: list[str], month: int | None
) -> None:
    for dates in ([*others, "10/11/2025"], ["10/11/2025", *others]):
        data = urlset(*(entry(n, f"<lastmod>{date}</lastmod>") for n, date in enumerate(dates)))
        pages, _, outcome = read(data, 7)
        (settled,) = [date for date in pages.lastmods if date and date.raw == "10/11/2025"]
        assert settled.iso == (month and f"2025-{month}-{21 - month}T00:00:00+00:00")
        assert ("lastmod-ambiguous" in outcome.findings) == (month is None)


@pytest.mark.parametrize(
    ("text", "code"),
    [("2031-01-01", "lastmod-future"), ("2031-01-01T00:00:00+00:00", "lastmod-future"),
     ("0001-01-01T00:00:00+00:00", "lastmod-ancient"), ("1970-01-01", "lastmod-ancient")],
)  # fmt: skip
def test_a_date_that_cannot_be_true_is_counted_and_not_used(text: str, code: str) -> None:
    now = 1_790_899_200  # 2026-10-02
    cache = LastmodCache(now)
    for lastmod in (cache[text], *cache.column([text, "2026-10-02T00:00:00+00:00"])[:1]):
        assert lastmod is not None
        assert (lastmod.time, lastmod.raw, lastmod.code) == (None, text, code)


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_a_blank_is_no_date(text: str) -> None:
    assert parse_lastmod(text) is None


@given(st.datetimes(datetime(1995, 1, 2), datetime(2100, 1, 1), timezones=st.just(timezone.utc)))
def test_columns_and_single_dates_agree(moment: datetime) -> None:
    texts = [moment.replace(microsecond=0).isoformat(), moment.strftime("%Y-%m-%dT%H:%M:%SZ")]
    for text in texts:
        cache = LastmodCache()
        assert cache.column([text, text[:10]]) == [parse_lastmod(text), parse_lastmod(text[:10])]
        assert cache.column([text] * 2) == [parse_lastmod(text)] * 2


@given(st.text("0123456789-T:+Z. ", max_size=26))
def test_any_text_gives_the_same_from_every_way_in(text: str) -> None:
    cache = LastmodCache()
    parsed = parse_lastmod(text)
    if parsed is not None and parsed.time is not None and parsed.time < ANCIENT:
        parsed = Lastmod(None, None, None, parsed.raw or parsed.iso, "lastmod-ancient")
    assert cache[text] == parsed
    assert cache.column([text, "2026"])[0] == parsed


def test_the_cache_forgets_rather_than_grows() -> None:
    cache = LastmodCache()
    for number in range(3 * cache.SIZE):
        cache[f"{number}x"]
        cache.trim()
    assert len(cache) <= cache.SIZE + 1
    assert len(cache.odd) <= cache.SIZE + 1


def test_implausible_dates_are_named() -> None:
    now = 1_790_000_000
    assert implausible(now + 15 * 3_600, now) == "lastmod-future"
    assert implausible(0, now) == "lastmod-ancient"
    assert implausible(now, now) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.8", 0.8), (" 1.0 ", 1.0), ("1", 1.0), (".5", 0.5), ("1.5", None), ("-0.1", None),
     ("nan", None), ("1e0", None), ("0.800000011920929", 0.800000011920929), ("0.8000000", 0.8), ("0,8", None), ("\u0661", None), ("1_0", None), ("", None)],
)  # fmt: skip
def test_priority_is_a_number_from_0_to_1(text: str, value: float | None) -> None:
    assert parse_priority(text) == value


@pytest.mark.parametrize(("text", "word"), [("Daily", "daily"), ("sometimes", None), ("", None)])
def test_changefreq_is_a_word_of_the_protocol(text: str, word: str | None) -> None:
    assert parse_changefreq(text) == word
