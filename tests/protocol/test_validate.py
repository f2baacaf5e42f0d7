"""Validation: each fault of a sitemap, an index or a robots.txt is named, with what to do."""

from __future__ import annotations

import gzip

import pytest
from sitemapdata import NS, entry, urlset

from sitemap_discovery.protocol.validate import Report, failed, note_child, validate

NOW = 1_790_899_200  # 2026-10-02
BASE = "https://www.example.com/d/sitemap.xml"
SPACES = (
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)


def report(body: bytes, url: str = BASE) -> Report:
    return validate("file", body, url=url, now=NOW)


def codes(body: bytes, url: str = BASE) -> set[str]:
    return {row.code for row in report(body, url).problems}


def page(loc: str, inside: str = "") -> bytes:
    return f"<urlset {NS} {SPACES}><url><loc>{loc}</loc>{inside}</url></urlset>".encode()


def index(*children: str, inside: str = "") -> bytes:
    body = "".join(f"<sitemap><loc>{loc}</loc>{inside}</sitemap>" for loc in children)
    return f"<sitemapindex {NS}>{body}</sitemapindex>".encode()


HERE = "https://www.example.com/d/x"
NEWS = "<news:news>{}</news:news>"
WHOLE_NEWS = (
    "<news:publication><news:name>N</news:name></news:publication><news:title>T</news:title>"
    "<news:publication_date>{}</news:publication_date>"
)
VIDEO = (
    "<video:video><video:thumbnail_loc>/t.png</video:thumbnail_loc><video:title>{title}</video:title>"
    "<video:description>D</video:description><video:content_loc>{content}</video:content_loc>"
    "<video:player_loc>{player}</video:player_loc>{more}</video:video>"
)


def video(title: str = "T", content: str = "/v.mp4", player: str = "/p", more: str = "") -> str:
    return VIDEO.format(title=title, content=content, player=player, more=more)


FAULTS = {
    "other host": (page("https://other.example/x"), "url-other-host"),
    "other scheme": (page("http://www.example.com/d/x"), "url-other-scheme"),
    "without www": (page("https://example.com/d/x"), "url-www-mismatch"),
    "above the folder": (page("https://www.example.com/x"), "url-above-folder"),
    "other port": (page("https://www.example.com:8443/d/x"), "url-other-host"),
    "a file in a urlset": (
        f"<urlset {NS}><sitemap><loc>{HERE}</loc></sitemap></urlset>".encode(), "child-in-urlset",
    ),
    "itself in other words": (index("HTTPS://www.example.com:443/d/./sitemap.xml#x"), "index-loop"),
    "twice": (urlset(entry(1), entry(1)), "duplicate-url"),
    "nothing": (f"<urlset {NS}></urlset>".encode(), "no-entries"),
    "relative": (page("/d/x"), "loc-relative"),
    "a bad date": (page(HERE, "<lastmod>yesterday</lastmod>"), "lastmod-invalid"),
    "a date of two meanings": (page(HERE, "<lastmod>1/2/2026</lastmod>"), "lastmod-ambiguous"),
    "a future date": (page(HERE, "<lastmod>2030-01-01</lastmod>"), "lastmod-future"),
    "priority": (page(HERE, "<priority>high</priority>"), "priority-invalid"),
    "changefreq": (page(HERE, "<changefreq>often</changefreq>"), "changefreq-invalid"),
    "cut": (urlset(entry(1))[:-12], "truncated"),
    "cut gzip": (gzip.compress(urlset(*map(entry, range(500))))[:300], "truncated-gzip"),
    "a web page": (b"<html><body>hello</body></html>", "html-page"),
    "no sitemap": (b"hello", "not-a-sitemap"),
    "empty": (b"", "empty-body"),
    "an entity": (b'<!DOCTYPE a [<!ENTITY b "c">]><urlset/>', "entity-declaration"),
    "news without a title": (page(HERE, NEWS.format("")), "news-incomplete"),
    "old news": (page(HERE, NEWS.format(WHOLE_NEWS.format("2026-09-01"))), "news-old"),
    "a video without a title": (page(HERE, video(title="")), "video-incomplete"),
    "one address twice": (page(HERE, video(content="/v", player="/v")), "video-same-location"),
    "a video that is the page": (page(HERE, video(player=HERE)), "video-is-page"),
    "a long title": (page(HERE, video(title="x" * 101)), "video-too-long"),
    "many tags": (page(HERE, video(more="<video:tag>x</video:tag>" * 33)), "video-too-long"),
    "an image without a location": (
        page(HERE, "<image:image><image:title>T</image:title></image:image>"), "image-incomplete",
    ),
    "many images": (
        page(HERE, "<image:image><image:loc>/i.png</image:loc></image:image>" * 1_001),
        "too-many-images",
    ),
    "an alternate without a language": (
        page(HERE, '<xhtml:link rel="alternate" href="/de"/>'), "alternate-incomplete",
    ),
    "child on another host": (index("https://other.example/s.xml"), "child-other-host"),
    "child of another scheme": (index("http://www.example.com/d/s.xml"), "child-other-scheme"),
    "child without www": (index("https://example.com/d/s.xml"), "child-www-mismatch"),
    "child above the folder": (index("https://www.example.com/s.xml"), "child-above-folder"),
    "relative child": (index("s.xml"), "loc-relative"),
    "child twice": (index(HERE, HERE), "duplicate-child"),
    "an index that names itself": (index(BASE), "index-loop"),
    "priority in an index": (index(HERE, inside="<priority>0.5</priority>"), "field-in-index"),
    "pages in an index": (
        f"<sitemapindex {NS}><url><loc>{HERE}</loc></url></sitemapindex>".encode(), "url-in-index",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "code"), FAULTS.values(), ids=FAULTS)
def test_each_fault_is_named_with_what_to_do(body: bytes, code: str) -> None:
    found = report(body)
    (row,) = [row for row in found.problems if row.code == code]
    assert row.meaning
    assert row.remedy
    assert row.severity in ("error", "warning", "note")


def test_a_right_file_is_fine() -> None:
    good = page(HERE, video() + NEWS.format(WHOLE_NEWS.format("2026-10-01")))
    assert report(good).problems == []
    assert report(index(HERE)).is_fine
    assert report(gzip.compress(good)).is_fine


def test_errors_come_first_and_lines_are_told() -> None:
    body = urlset(entry(1), entry(1), b"<url>\n<loc>ftp://a.example/</loc></url>\n")
    rows = report(body, "https://www.example.com/s.xml").problems
    assert [(row.code, row.line) for row in rows] == [("loc-scheme", 9), ("duplicate-url", 7)]


def test_a_robots_txt_is_read_as_one() -> None:
    body = b"Sitemap: https://cdn.example/s.xml\nSitemaps: /t.xml\n"
    found = report(body, "https://www.example.com/robots.txt")
    assert (found.kind, found.entries) == ("robots", 2)
    assert {row.code: row.line for row in found.problems} == {
        "robots-odd-line": 2, "loc-relative": 2,
    }  # fmt: skip


def test_what_a_child_turned_out_to_be_is_noted_on_its_index() -> None:
    parent = report(index(HERE))
    note_child(parent, report(index(HERE)))
    note_child(parent, failed("https://www.example.com/gone.xml", "http-404"))
    note_child(parent, report(page(HERE)))
    assert [row.code for row in parent.problems] == ["nested-index", "child-failed"]
    assert not parent.is_fine


def test_pages_of_the_site_that_names_the_files_host_are_its_own() -> None:
    body = page("https://a.example/x")
    options = {"origin": "https://a.example", "named_hosts": ["cdn.example"]}
    found = validate("s", body, url="https://cdn.example/s.xml", now=NOW, **options)
    assert found.is_fine
    robots = report(b"Sitemap: https://cdn.example/s.xml", "https://a.example/robots.txt")
    note_child(robots, report(index(HERE)))
    assert robots.is_fine


def test_why_bytes_end_too_early_is_told_once() -> None:
    found = validate("s", urlset(entry(1))[:-10], url=BASE, now=NOW, cut="timeout")
    assert (found.reason, [row.code for row in found.problems]) == (
        "timeout",
        ["timeout", "url-above-folder"],
    )


def test_a_robots_txt_is_one_wherever_redirects_led() -> None:
    address = "https://www.example.com/robots.txt"
    found = validate(address, b"Sitemap: /s.xml", url="https://www.example.com/en/r", now=NOW)
    assert found.kind == "robots"
