"""Content codings: what is offered, what stays packed, what is unpacked within a bound."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from sitemap_discovery.middlewares.compression import unpack

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpserver import CrawlResult, Site

    Fetch = Callable[..., CrawlResult]

TEXT = b"User-agent: *\nDisallow: /x\n" * 50
PACKED = {"Content-Encoding": "gzip"}


def test_only_gzip_and_deflate_are_offered(fetch: Fetch, site: Site) -> None:
    fetch([site.add("/", b"x")], origins=[site])
    assert site.requests[0].headers["Accept-Encoding"] == "gzip, deflate"


def test_sitemap_body_stays_as_it_was_sent(fetch: Fetch, site: Site) -> None:
    url = site.add("/s.xml", gzip.compress(TEXT), headers=PACKED)
    item = fetch([(url, {"sitemap_body": True})], origins=[site]).items[0]
    assert gzip.decompress(item["body"]) == TEXT
    assert item["encoding"] == b"gzip"


@pytest.mark.parametrize("meta", [{}, {"robots_origin": "x"}], ids=["page", "robots.txt"])
def test_other_bodies_are_unpacked(fetch: Fetch, site: Site, meta: dict[str, str]) -> None:
    url = site.add("/robots.txt", gzip.compress(TEXT), headers=PACKED)
    item = fetch([(url, meta)], origins=[site]).items[0]
    assert item["body"] == TEXT
    assert item["encoding"] is None


@pytest.mark.parametrize(
    ("body", "codings", "expected"),
    [
        (gzip.compress(TEXT), ["gzip"], TEXT[:100]),
        (gzip.compress(gzip.compress(TEXT)), ["gzip", "gzip"], TEXT[:100]),
        (TEXT, ["lzma"], TEXT),
        (TEXT, ["gzip", "gzip", "gzip"], TEXT),
        (b"", ["gzip"], b""),
    ],
    ids=["cut at the bound", "two layers", "unknown coding", "too many codings", "empty"],
)
def test_unpack_is_bounded_and_never_raises(
    body: bytes, codings: list[str], expected: bytes
) -> None:
    assert unpack(body, codings, max_bytes=100 if expected == TEXT[:100] else 10_000) == expected


def test_cut_stream_gives_what_came() -> None:
    assert TEXT.startswith(unpack(gzip.compress(TEXT)[:-20], ["gzip"])[:50])
