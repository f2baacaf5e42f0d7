"""The fast lane gives what the strict parser gives, or leaves it to the strict parser."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sitemapdata import entry, read, urlset

from sitemap_discovery.protocol.lane import read_lane

FIELD = st.sampled_from(
    ["", "2026-10-02", " 2026 ", "x]y", "a&amp;b", "\u00e9", "0.5", "weekly", "\n"]
)
PIECES = st.tuples(
    st.sampled_from(
        ["https://a.example/x", " https://a.example/y ", "https://a.example/?a=1&amp;b=2", "/rel",
         "https://a.example/\u00e9", "https://a.example/%zz", "", "ftp://a.example/", "HTTPS://A.EXAMPLE/"]
    ),
    FIELD, FIELD, FIELD, st.sampled_from(["", "\n  ", "<!-- c -->", "\t"]),
)  # fmt: skip


def document(pieces: list[tuple[str, str, str, str, str]]) -> bytes:
    return urlset(
        *(
            f"<url>{gap}<loc>{loc}</loc>{gap}<lastmod>{a}</lastmod><changefreq>{b}</changefreq>"
            f"{gap}<priority>{c}</priority></url>{gap}".encode()
            for loc, a, b, c, gap in pieces
        )
    )


@given(st.lists(PIECES, min_size=1, max_size=8))
def test_both_lanes_agree(pieces: list[tuple[str, str, str, str, str]]) -> None:
    data = document(pieces)
    fast, _, with_lane = read(data)
    with patch("sitemap_discovery.protocol.xml.XmlReader._lane", lambda _: False):
        strict, _, without = read(data)
    assert fast == strict
    assert {f.code: f.count for f in with_lane.findings} == {
        f.code: f.count for f in without.findings
    }


@pytest.mark.parametrize(
    "text",
    [
        "<url><loc>http://a.example/<!-- --></loc></url>",
        "<url><loc>http://a.example/]]></loc></url>",
        "<url><loc>http://a.example/&lt;</loc></url>",
        "<url><loc>http://a.example/\x01</loc></url>",
        "<url><loc>http://a.example/\ufffe</loc></url>",
        "<url a='1'><loc>http://a.example/</loc></url>",
        "<url><loc>http://a.example/</loc>x</url>",
        "<url><loc>http://a.example/</loc><x/></url>",
        "<URL><loc>http://a.example/</loc></URL>",
        "x<url><loc>http://a.example/</loc></url>",
    ],
)
def test_what_is_not_plain_is_left_alone(text: str) -> None:
    assert read_lane(text.encode())[:2] == ([], 0)


def test_the_lane_stops_where_plain_entries_end() -> None:
    plain = entry(1) + entry(2)
    lane = read_lane(plain + b"<!-- -->" + plain)
    assert (len(lane.rows), lane.size) == (2, len(plain))
