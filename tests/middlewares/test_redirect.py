"""Redirects end with a code, never in silence and never with a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpserver import CrawlResult, Site

    Fetch = Callable[..., CrawlResult]


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("file:///etc/passwd", "scheme-refused"),
        ("ftp://example.com/x", "scheme-refused"),
        ("data:text/plain,x", "scheme-refused"),
        ("javascript:alert(1)", "scheme-refused"),
        ("gopher://example.com/", "scheme-refused"),
        ("http://[::1", "redirect-invalid"),
        ("http://a:b@example.com/", "loc-userinfo"),
        ("/start", "redirect-loop"),
    ],
)
def test_bad_target_is_refused(fetch: Fetch, site: Site, location: str, code: str) -> None:
    url = site.add("/start", status=302, headers={"Location": location})
    result = fetch([url], origins=[site])
    assert [item["code"] for item in result.items] == [code]
    assert site.paths == ["/start"]
    assert "Traceback" not in result.log
    assert "WARNING" not in result.log


def chain(site: Site, hops: int) -> str:
    for i in range(hops):
        site.add(f"/{i}", status=301, headers={"Location": f"/{i + 1}"})
    site.add(f"/{hops}", b"end")
    return site.url + "/0"


def test_five_hops_are_followed(fetch: Fetch, site: Site) -> None:
    item = fetch([chain(site, 5)], origins=[site]).items[0]
    assert item["body"] == b"end"
    assert len(item["meta"]["redirect_urls"]) == 5


def test_sixth_hop_is_refused(fetch: Fetch, site: Site) -> None:
    result = fetch([chain(site, 9)], origins=[site])
    assert result.items[0]["code"] == "redirect-limit"
    assert len(site.requests) == 6


def test_two_urls_that_point_at_each_other_are_a_loop(fetch: Fetch, site: Site) -> None:
    site.add("/a", status=302, headers={"Location": "/b"})
    site.add("/b", status=302, headers={"Location": "/a"})
    result = fetch([site.url + "/a"], origins=[site])
    assert result.items[0]["code"] == "redirect-loop"
    assert site.paths == ["/a", "/b"]


def test_no_referer_is_sent(fetch: Fetch, site: Site) -> None:
    fetch([chain(site, 2)], origins=[site])
    assert all("Referer" not in seen.headers for seen in site.requests)
