"""Addresses: made valid without changing what they mean, or dropped with a reason."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_discovery.protocol.urls import (
    ScopeJudge,
    are_clean,
    file_key,
    is_clean,
    is_public_address,
    judge_loc,
    origin_of,
    parse_origin,
    section_of,
)

BASE = "https://www.example.com/d/sitemap.xml"


@pytest.mark.parametrize(
    ("text", "url", "code"),
    [
        ("https://a.example/x", "https://a.example/x", None),
        (" \n https://a.example/x\t", "https://a.example/x", None),
        ("HTTPS://A.Example/X", "https://a.example/X", None),
        ("\u00a0https://a.example/x\u200b", "https://a.example/x", "loc-blank"),
        ("https://a.example/a b", "https://a.example/a%20b", "loc-blank"),
        ("//b.example/x", "https://b.example/x", "loc-relative"),
        ("/x", "https://www.example.com/x", "loc-relative"),
        ("x.html", "https://www.example.com/d/x.html", "loc-relative"),
        ("https://\u00e9.example/\u00fc", "https://xn--9ca.example/%C3%BC", "loc-not-ascii"),
        ("https://a.example/%zz%41", "https://a.example/%25zz%41", "loc-escape"),
        ("https://a.example/%2541", "https://a.example/%2541", None),
        ("https://a.example/?a[]=1", "https://a.example/?a[]=1", None),
        ('https://a.example/"<>', "https://a.example/%22%3C%3E", "loc-escape"),
        ("https://a.example/" + "x" * 3_000, "https://a.example/" + "x" * 3_000, "loc-too-long"),
        ("https://a.example:8080/", "https://a.example:8080/", None),
        ("http://[::1]:8080/", "http://[::1]:8080/", None),
        ("", None, "loc-empty"),
        ("javascript:alert(1)", None, "loc-scheme"),
        ("file:///etc/passwd", None, "loc-scheme"),
        ("https://a.example/x#b#c", "https://a.example/x#b%23c", "loc-escape"),
        ("https://a.example/x##y", "https://a.example/x#%23y", "loc-escape"),
        ("www.example.com/x", None, "loc-scheme"),
        ("www.example.com", None, "loc-scheme"),
        ("www.example.com?x", None, "loc-scheme"),
        ("shop.www.example.com/x", None, "loc-scheme"),
        ("http:/x", None, "loc-host"),
        ("https://https://a.example/", None, "loc-host"),
        ("http://[::1", None, "loc-host"),
        ("http://a.example:99999/", None, "loc-host"),
        ("http://a..example/", None, "loc-host"),
        ("http://user:secret@a.example/", None, "loc-userinfo"),
        ("http://a.example/\x00", None, "loc-control"),
        ("http://a.example/\u202e", None, "loc-control"),
        ("http://a.example/\ufffd", None, "loc-control"),
        ("https://{{ host }}/x", None, "loc-template"),
        ("https://a.example/" + "x" * 9_000, None, "loc-too-long"),
    ],
)
def test_each_loc_is_judged(text: str, url: str | None, code: str | None) -> None:
    assert judge_loc(text, BASE) == (url, code)


@given(st.text(max_size=60) | st.text(max_size=40).map("https://a.example/".__add__))
def test_judging_never_raises_and_is_idempotent(text: str) -> None:
    url, _ = judge_loc(text, BASE)
    if url is not None:
        assert url.isascii()
        assert url.isprintable()
        assert url.startswith(("http://", "https://"))
        assert judge_loc(url, BASE)[0] == url


ALPHABET = st.text("ab/.:-_%4F#?[]&' \nA@", max_size=30).map("https://a.example".__add__)


@given(ALPHABET)
def test_a_clean_loc_is_left_as_it_is(loc: str) -> None:
    if is_clean(loc):
        assert judge_loc(loc, BASE) == (loc, None)


@given(st.lists(ALPHABET, min_size=1, max_size=5))
def test_clean_columns_hold_clean_locs(locs: list[str]) -> None:
    if are_clean(locs):
        assert all(map(is_clean, locs))


@pytest.mark.parametrize(
    ("loc", "section"),
    [
        ("https://a.example/blog/x", "blog"),
        ("https://a.example/blog/", "blog"),
        ("https://a.example/x.html", ""),
        ("https://a.example/", ""),
        ("https://a.example", ""),
        ("http://a/b/c", "b"),
        ("https://a.example/?q=a/b", ""),
        ("https://a.example/x#a/b", ""),
        ("https://a.example?q=/a/b", ""),
        ("https://a.example#/a/b", ""),
    ],
)
def test_a_section_is_the_first_folder(loc: str, section: str) -> None:
    assert section_of(loc) == section


@pytest.mark.parametrize(
    ("text", "root", "sitemap"),
    [
        ("https://example.com/", "https://example.com", None),
        ("example.com:443", "https://example.com", None),
        ("http://example.com:80", "http://example.com", None),
        ("https://example.com/s.xml", "https://example.com", "https://example.com/s.xml"),
    ],
)
def test_origins(text: str, root: str, sitemap: str | None) -> None:
    origin = parse_origin(text)
    assert (origin.root, origin.sitemap) == (root, sitemap)
    assert origin.robots == root + "/robots.txt"
    assert origin_of(root + "/a?b#c") == root


def test_file_keys_fold_what_is_the_same_file() -> None:
    same = ["http://a.example/x/s.xml", "HTTP://A.example:80/x//y/../%73.xml#top"]
    assert len({file_key(url) for url in same}) == 1
    assert file_key("http://a.example/s.xml?x=1") != file_key("http://a.example/s.xml")


def test_scopes_follow_the_location_of_the_file() -> None:
    judge = ScopeJudge("https://a.example/blog/s.xml", "https://a.example")
    locs = ["https://a.example/blog/1", "https://a.example/2", "https://b.example/3"]
    assert judge.judge(locs) == ["in-path", "same-host", "foreign"]
    proven = ScopeJudge("https://cdn.example/s.xml", "https://a.example", {"cdn.example"})
    assert proven.judge(["https://a.example/1", "https://b.example/2"]) == [
        "cross-submitted", "foreign",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sitemap", "loc", "scope"),
    [
        ("https://a.example", "https://a.example/x", "in-path"),
        ("https://a.example", "https://b.example/x", "foreign"),
        ("https://a.example?s=/x/", "https://a.example/y", "in-path"),
        ("https://a.example:443/x/s.xml", "https://a.example/x/1", "in-path"),
        ("https://a.example/x/s.xml", "https://a.example:443/x/1", "in-path"),
        ("https://a.example/x/s.xml", "https://a.example:443/y", "same-host"),
        ("https://a.example/x/s.xml", "https://a.example.b.example/x/1", "foreign"),
        ("HTTPS://A.example/x/s.xml", "https://a.example/x/1", "in-path"),
    ],
)
def test_scopes_of_odd_addresses(sitemap: str, loc: str, scope: str) -> None:
    assert ScopeJudge(sitemap, "https://a.example").judge([loc]) == [scope]


@pytest.mark.parametrize("host", ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1", "[]"])
def test_an_address_with_a_zone_is_no_host(host: str) -> None:
    assert judge_loc(f"http://{host}/", "") == (None, "loc-host")


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("168.63.129.16", False),
        ("192.0.0.192", False),
        ("224.0.0.1", False),
        ("0.0.0.0", False),
        ("::1", False),
        ("fe80::1", False),
        ("::ffff:127.0.0.1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::5db8:d822", True),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public_address(ipaddress.ip_address(address)) is public
