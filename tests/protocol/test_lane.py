"""The fast lane gives what the strict parser gives, or leaves it to the strict parser."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sitemapdata import entry, read, urlset

from sitemap_discovery.protocol.lane import read_lane

FIELD = st.sampled_from(
    [
        "",
        "2026-10-02",
        " 2026 ",
        "2026\ufffd",
        "2026" + " " * 8_200,
        "x]y",
        "a&amp;b",
        "\u00e9",
        "0.5",
        "weekly",
        "\n",
    ]
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


IMAGE_NS = b'<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
IMAGES = st.lists(
    st.sampled_from(
        [
            "<image:image><image:loc>https://a.example/1.png</image:loc></image:image>",
            "<image:image> <image:loc>/r &amp; s</image:loc>\n<image:title>T</image:title>"
            "<image:title> U </image:title></image:image>",
            "<image:image></image:image>",
            "<image:image><image:loc>javascript:x</image:loc></image:image>",
            "<image:image><image:loc>a</image:title></image:image>",
            "<image:image/>",
            "<image:image><image:loc a='b'>/x</image:loc></image:image>",
        ]
    ),
    max_size=3,
).map("".join)


@given(st.lists(st.tuples(PIECES, IMAGES), min_size=1, max_size=5))
def test_both_lanes_agree_on_images(rows: list[tuple[Any, str]]) -> None:
    entries = [
        f"<url><loc>{piece[0]}</loc><lastmod>{piece[1]}</lastmod>{images}</url>".encode()
        for piece, images in rows
    ]
    assert_lanes_agree(urlset(*entries).replace(b"<urlset", IMAGE_NS))


@given(st.lists(PIECES, min_size=1, max_size=8))
def test_both_lanes_agree(pieces: list[tuple[str, str, str, str, str]]) -> None:
    assert_lanes_agree(document(pieces))


def assert_lanes_agree(data: bytes) -> None:
    fast, _, with_lane = read(data)
    with patch("sitemap_discovery.protocol.xml.XmlReader._lane", lambda _: False):
        strict, _, without = read(data)
    assert fast == strict
    counts = [{f.code: f.count for f in outcome.findings} for outcome in (with_lane, without)]
    assert counts[0] == counts[1]
    assert with_lane.state == without.state


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
