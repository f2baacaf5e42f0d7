"""Batches for the tests of feeds: built by hand, drawn by hypothesis, written by an exporter."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import strategies as st

from sitemap_discovery.items import SitemapFile, UrlBatch
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries

FILE = SitemapFile("https://a.example/s.xml", "https://a.example", fetched_at=1_790_000_000)


def batch(*rows: tuple[Any, ...], changes: list[str] | None = None) -> UrlBatch:
    """A batch of (loc, lastmod text, changefreq, priority, details, scope) rows."""
    entries = Entries("url")
    for loc, lastmod, changefreq, priority, details, _ in rows:
        entries.locs.append(loc)
        entries.lastmods.append(parse_lastmod(lastmod))
        entries.changefreqs.append(changefreq)
        entries.priorities.append(priority)
        entries.details.append(details)
    made = UrlBatch(FILE, entries, [row[-1] for row in rows], changes=changes)
    if changes:
        made.first_seen = [1_780_000_000 + n // 2 for n in range(len(entries))]
    return made


def plain(count: int) -> UrlBatch:
    """``count`` URLs that end in their number and have nothing else."""
    return batch(
        *((f"https://a.example/p/{n}", "", None, None, None, "in-path") for n in range(count))
    )


TEXT = st.text(max_size=12)
DETAILS = st.dictionaries(st.sampled_from(["news", "extra"]), st.dictionaries(TEXT, TEXT))
LISTS = st.dictionaries(
    st.sampled_from(["images", "videos"]), st.lists(st.dictionaries(TEXT, TEXT), min_size=1)
)
LOCS = st.sampled_from(["https://a.example/x/y", "https://a.example/", "http://b.example/%s/a?b=/"])
DATES = st.sampled_from(["", "2026", "2026-10-02T00:00:00+00:00", "2026-10-02T00:00:00Z"])
ROWS = st.tuples(
    LOCS | TEXT.map(lambda text: "https://a.example/" + text),
    DATES | TEXT,
    st.sampled_from([None, "weekly"]),
    st.sampled_from([None, 0.5, 1.0]),
    st.none() | DETAILS | LISTS,
    st.sampled_from(["in-path", "foreign"]),
)


@st.composite
def batches(draw: st.DrawFn) -> UrlBatch:
    """Any batch, before or after the inventory has seen it; rows alike as often as not."""
    rows = draw(st.lists(ROWS, max_size=6) | ROWS.map(lambda row: [row] * 3))
    change = st.sampled_from(["new", "changed"])
    changes = st.lists(change, min_size=len(rows), max_size=len(rows))
    return batch(*rows, changes=draw(st.none() | changes))


def written(exporter_class: type, made: UrlBatch, by_batch: bool, **options: Any) -> bytes:
    """What an exporter makes of a batch, given as one or a row at a time."""
    out = io.BytesIO()
    exporter = exporter_class(out, **options)
    exporter.start_exporting()
    if by_batch:
        exporter.export_batch(made, 0, len(made) // 2)
        exporter.export_batch(made, len(made) // 2, len(made))
    else:
        for row in made.rows():
            exporter.export_item(row)
    exporter.finish_exporting()
    return out.getvalue()
