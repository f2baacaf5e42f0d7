"""robots.txt: sitemap lines in every odd form, and our own group of rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from sitemap_discovery.protocol.robots import MAX_SITEMAPS, own_group, read_robots

BASE = "https://a.example/robots.txt"


def sitemaps(body: bytes) -> list[str]:
    return [line.url for line in read_robots(body, BASE).sitemaps]


@pytest.mark.parametrize(
    ("line", "url"),
    [
        (b"Sitemap: https://a.example/s.xml", "https://a.example/s.xml"),
        (b"SITEMAP:https://a.example/s.xml", "https://a.example/s.xml"),
        (b"  sitemap : /s.xml", "https://a.example/s.xml"),
        (b"Sitemap: s.xml # main", "https://a.example/s.xml"),
        (b"Sitemap: https://a.example/#/s", "https://a.example/#/s"),
        (b'Sitemap: "https://a.example/s.xml"', "https://a.example/s.xml"),
        (b"Sitemap:\xc2\xa0https://a.example/s.xml", "https://a.example/s.xml"),
        (b"\xef\xbb\xbfSitemap: https://a.example/s.xml", "https://a.example/s.xml"),
        ("\ufeffSitemap: https://a.example/s.xml".encode("utf-16-le"), "https://a.example/s.xml"),
        (b"Sitemaps: https://a.example/s.xml", "https://a.example/s.xml"),
        (b"Site-map: https://a.example/s.xml", "https://a.example/s.xml"),
        (b"Sitemap https://a.example/s.xml", "https://a.example/s.xml"),
        (b"Sitemap: https://a.example/s.xml (main)", "https://a.example/s.xml"),
        (b"Sitemap: URL=https://a.example/s.xml", "https://a.example/s.xml"),
        (b"Sitemaps are at https://a.example/s.xml", "https://a.example/s.xml"),
        (b"Sitemap: sitemap: https://a.example/s.xml", "https://a.example/s.xml"),
        (b"Sitemap: https://a.example/s (1).xml", "https://a.example/s%20(1).xml"),
        (b"Sitemap: https://a.example/s.xml?a=1,2", "https://a.example/s.xml?a=1,2"),
        (b"Sitemap: https:\\/\\/a.example\\/s.xml", "https://a.example/s.xml"),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b""])
def test_a_sitemap_line_in_any_form(line: bytes, url: str, end: bytes) -> None:
    assert sitemaps(line + (end if line[:1] != b"\xff" else b"")) == [url]


def test_several_on_a_line_are_all_taken() -> None:
    body = b"Sitemap: https://a.example/1.xml, https://a.example/2.xml"
    assert sitemaps(body) == ["https://a.example/1.xml", "https://a.example/2.xml"]


@pytest.mark.parametrize(
    "body",
    [b"", b"# Sitemap: /s.xml", b"Disallow: /sitemaps/", b"Sitemap:", b"Sitemap: ftp://a.example/s",
     b"<html><body>Sitemap</body></html>", b"Sitemap generators are welcome"],
)  # fmt: skip
def test_what_names_no_sitemap(body: bytes) -> None:
    assert sitemaps(body) == []


def test_one_bad_line_costs_only_itself() -> None:
    assert sitemaps(b"Sitemap: http://[::1\nSitemap: /s.xml") == ["https://a.example/s.xml"]


def test_bounds_hold() -> None:
    many = b"".join(b"Sitemap: /%d.xml\n" % n for n in range(MAX_SITEMAPS + 5))
    robots = read_robots(many, BASE)
    assert len(robots.sitemaps) == MAX_SITEMAPS
    assert robots.findings["robots-too-many-sitemaps"].count == 5
    late = b"Disallow: /x\n" * 50_000 + b"Sitemap: /late.xml\n"
    robots = read_robots(late, BASE)
    assert "robots-truncated" in robots.findings
    assert len(robots.text) <= 512_000
    assert [line.url for line in robots.sitemaps] == ["https://a.example/late.xml"]


@pytest.mark.parametrize(
    "part",
    [b"\n", b" ", b"\t", b"\r", b"Sitemap ", b"a ", b"#", b": "],
    ids=["newlines", "blanks", "tabs", "returns", "words", "letters", "comments", "colons"],
)
@pytest.mark.parametrize("head", [b"", b"<html>", b"Sitemap", b"Disallow:"])
def test_no_run_of_anything_keeps_the_reader_for_long(head: bytes, part: bytes) -> None:
    """Five megabytes; a pattern that looks at each of them from each would take hours."""
    robots = read_robots(head + part * (5_000_000 // len(part)), BASE)
    assert own_group(robots.text, "us") == "user-agent: *" or head == b"Disallow:"


def test_the_bound_of_the_rules_is_of_bytes() -> None:
    body = "# \u043a\n".encode() * 110_000 + b"User-agent: *\nDisallow: /late\n"
    robots = read_robots(body, BASE)
    assert "robots-truncated" in robots.findings
    assert len(robots.text.encode()) <= 512_000
    assert "/late" not in robots.text


LINES = st.lists(
    st.sampled_from(
        ["User-agent: *", "User-agent: us", "User-agent: other",
         "Disallow: /a", "Allow: /a/b", "Disallow: /", "Disallow:", "Crawl-delay: 3", "", "# x",
         "disallow : /c # y"]
    ),
    max_size=12,
)  # fmt: skip


@given(LINES)
def test_the_slice_rules_as_the_whole_file_does(lines: list[str]) -> None:
    text = "\n".join(lines)
    whole, ours = Protego.parse(text), Protego.parse(own_group(text, "us/1.0 (+x)"))
    for path in ("/", "/a", "/a/b", "/c"):
        url = "https://a.example" + path
        assert ours.can_fetch(url, "us") == whole.can_fetch(url, "us"), text


def test_a_matrix_of_agents_and_rules_becomes_one_group() -> None:
    agents = "".join(f"User-agent: bot{n}\n" for n in range(2_000))
    rules = "".join(f"Disallow: /{n}\n" for n in range(2_000))
    assert own_group(agents + rules, "us") == "user-agent: *"
    assert own_group(agents + "User-agent: us\n" + rules, "us").count("\n") == 2_000
