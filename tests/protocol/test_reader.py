"""The reader: formats by content, whole entries only, and how each kind of file ends."""

from __future__ import annotations

import gzip
import re
from html import unescape
from html.entities import html5
from unicodedata import normalize
from urllib.parse import quote, unquote

import idna
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sitemapdata import BASE, HEAD, NS, TAIL, entry, loc, numbers, read, urlset

from sitemap_discovery.protocol.reader import SitemapReader

PLAIN = urlset()
DOCTYPE = b'<?xml version="1.0"?>\n<!DOCTYPE urlset SYSTEM "http://example.com/x.dtd">\n'
ROOTED = PLAIN[PLAIN.index(b"<urlset") :]
INDEX = (
    f"<sitemapindex {NS}><sitemap><loc>https://www.example.com/a.xml</loc>"
    "<lastmod>2026-10-02</lastmod></sitemap>"
    "<sitemap><loc>file:///etc/passwd</loc></sitemap></sitemapindex>"
).encode()

READ_WHOLE = {
    "plain": PLAIN,
    "one line": PLAIN.replace(b"\n", b"").replace(b"  ", b""),
    "gzip": gzip.compress(PLAIN),
    "gzip twice": gzip.compress(gzip.compress(PLAIN)),
    "byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "blanks before the declaration": b"\n\n  " + PLAIN,
    "a warning before the declaration": b"<br />\n<b>Warning</b>: in x.php\n" + PLAIN,
    "comment before the declaration": b"<!-- made by hand -->\n" + PLAIN,
    "comments with entries in them": PLAIN.replace(b"<url>", b"<!-- <url></url> --><url>"),
    "cdata": PLAIN.replace(b"<loc>", b"<loc><![CDATA[").replace(b"</loc>", b"]]></loc>"),
    "cdata between entries": PLAIN.replace(b"<url>", b"<![CDATA[ </url> ]]><url>", 2),
    "processing instructions": PLAIN.replace(b"<url>", b"<?x </url> ?><url>", 2),
    "attributes": PLAIN.replace(b"<url>", b'<url id="</url>">', 1).replace(b'"</url>"', b'"1"'),
    "comment inside loc": PLAIN.replace(b"page-", b"pa<!-- x -->ge-", 1),
    "prefixed": re.sub(rb"<(/?)(url|loc)", rb"<\1s:\2", PLAIN).replace(b"xmlns=", b"xmlns:s="),
    "no namespace": PLAIN.replace(NS.encode(), b""),
    "https namespace": PLAIN.replace(b"http://www.sitemaps", b"https://www.sitemaps"),
    "slashed namespace": PLAIN.replace(b"0.9", b"0.9/"),
    "harmless doctype": DOCTYPE + ROOTED,
    "utf-16": PLAIN.decode().replace("UTF-8", "UTF-16").encode("utf-16"),
    "utf-16 without a mark": PLAIN.decode().replace("UTF-8", "UTF-16").encode("utf-16-be"),
    "declared utf-16, is utf-8": PLAIN.replace(b"UTF-8", b"UTF-16"),
    "declared nonsense": PLAIN.replace(b"UTF-8", b"x-nonsense"),
    "declared a codec that is no text": PLAIN.replace(b"UTF-8", b"zip"),
    "latin-1": PLAIN.replace(b"UTF-8", b"iso-8859-1"),
    "junk behind": PLAIN + b"<!-- cached --> 12 ms",
    "nested root": PLAIN.replace(b"<url>", b"<urlset><url>", 1).replace(TAIL, b"</urlset>" + TAIL),
    "text": "\r\n".join(map(loc, (1, 2, 3))).encode(),
    "text with old line ends": "\r".join(map(loc, (1, 2, 3))).encode(),
    "text with a mark": b"\xef\xbb\xbf" + "\n".join(map(loc, (1, 2, 3))).encode(),
    "text with other lines": ("# list\n" + "\n\n".join(map(loc, (1, 2, 3))) + "\nend\n").encode(),
    "rss": (
        "<rss><channel><link>https://www.example.com/feed</link>"
        + "".join(f"<item><link>{loc(n)}</link></item>" for n in (1, 2, 3))
        + "</channel></rss>"
    ).encode(),
    "atom": (
        '<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="https://a.example/f"/>'
        + "".join(f'<entry><link rel="alternate" href="{loc(n)}"/></entry>' for n in (1, 2, 3))
        + "</feed>"
    ).encode(),
}

MENDED = {
    "entry not closed": (
        PLAIN.replace(
            b"</url>\n<url>\n  <loc>https://www.example.com/page-3",
            b"<url>\n  <loc>https://www.example.com/page-3",
            1,
        ),
        "entry-not-closed",
        "1",
    ),
    "too deep": (urlset(entry(1), entry(2, "<a>" * 40 + "</a>" * 40), entry(3)), "too-deep", "1"),
    "wrong end behind the loc": (
        PLAIN.replace(b"</loc>", b"</loc><lastmod>2026</lastmood>", 1),
        "not-well-formed",
        "1",
    ),
    "bare ampersand": (
        PLAIN.replace(b"-1.html", b"-1.html?a=1&b=2", 1),
        "bare-ampersand",
        "1.html?a=1&b=2",
    ),
    "html entity": (PLAIN.replace(b"page-1", b"page-&eacute;", 1), "html-entity", "%C3%A9"),
    "undeclared prefix": (
        PLAIN.replace(
            b"</loc>", b"</loc><image:image><image:loc>/x.png</image:loc></image:image>", 1
        ),
        "undeclared-prefix",
        "1",
    ),
    "control character beside the loc": (
        urlset(entry(1, "<lastmod>2026\x01</lastmod>"), entry(2), entry(3)),
        "control-character",
        "1",
    ),
    "bytes that are no text beside the loc": (
        urlset(entry(1, "<x>").replace(b"<x>", b"<x>\xff</x>"), entry(2), entry(3)),
        "bad-encoding",
        "1",
    ),
    "entry split by a stray lower-than": (
        PLAIN.replace(b"</url>\n<url>", b"</url> < \n<url>", 1),
        "bare-less-than",
        "1",
    ),
}

LOSES_ONE = {
    "loc not closed": PLAIN.replace(b"-2.html</loc>", b"-2.html", 1),
    "NUL in loc": PLAIN.replace(b"page-2", b"pa\0ge-2", 1),
    "bytes that are no text in loc": PLAIN.replace(b"page-2", b"pa\xffge-2", 1),
    "too deep before the loc": urlset(
        entry(1), entry(2).replace(b"<loc>", b"<a>" * 40 + b"</a>" * 40 + b"<loc>"), entry(3)
    ),
    "undefined entity behind a doctype": DOCTYPE + ROOTED.replace(b"page-2", b"&x;page-2", 1),
    "element inside loc": PLAIN.replace(b"page-2", b"pa<b>ge</b>-2", 1),
    "overlong loc": PLAIN.replace(b"page-2", b"p" * 9_000, 1),
    "no loc": urlset(entry(1), b"<url><lastmod>2026</lastmod></url>", entry(3)),
    "other scheme": PLAIN.replace(b"https://www.example.com/page-2", b"javascript:x", 1),
}

REFUSED = {
    "empty": (b"", "empty-body"),
    "one newline": (b"\n", "empty-body"),
    "html": (b"<!DOCTYPE html><html><body><url><loc>http://a.example/</loc></url>", "html-page"),
    "login": (b"<html><head><title>Log in</title></head><body></body></html>", "login-page"),
    "form": (b"<html><form><input name=p type='password'></form></html>", "login-page"),
    "challenge": (b"<!doctype html><title>Just a moment...</title>", "challenge-page"),
    "not found": (b"<html><title>404 - Page Not Found</title></html>", "soft-404"),
    "xhtml": (b'<?xml version="1.0"?><html><body/></html>', "html-page"),
    "json": (b'{"urlset": []}', "not-a-sitemap"),
    "pdf": (b"%PDF-1.7 \xff\xff", "not-a-sitemap"),
    "other xml": (b"<kml><Placemark/></kml>", "not-a-sitemap"),
    "entity": (b'<!DOCTYPE a [<!ENTITY a "b">]>' + ROOTED, "entity-declaration"),
    "external entity": (
        b'<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + ROOTED.replace(b"page", b"&a;"),
        "entity-declaration",
    ),
    "parameter entity": (
        b'<!DOCTYPE a [<!ENTITY % p SYSTEM "http://a.example/"> %p;]>' + ROOTED,
        "entity-declaration",
    ),
    "attribute defaults": (
        b'<!DOCTYPE a [<!ATTLIST url x CDATA "y">]>' + ROOTED,
        "dtd-declaration",
    ),
    "one token": (b"<urlset " + b"a" * 600_000, "token-too-long"),
    "names without end": (
        b"<urlset>" + b"".join(b"<a%d/>" % i for i in range(20_000)),
        "too-many-names",
    ),
}


@pytest.mark.parametrize("step", [0, 1, 13])
@pytest.mark.parametrize("data", READ_WHOLE.values(), ids=READ_WHOLE)
def test_whole_files_are_read_whole(data: bytes, step: int) -> None:
    pages, files, outcome = read(data, step)
    assert numbers(pages) == ["1", "2", "3"]
    assert (outcome.state.value, outcome.reason, len(files)) == ("complete", "ok", 0)
    assert outcome.entries_lost == 0


@pytest.mark.parametrize("step", [0, 7])
@pytest.mark.parametrize(("data", "code", "first"), MENDED.values(), ids=MENDED)
def test_local_faults_are_mended_and_named(data: bytes, code: str, first: str, step: int) -> None:
    pages, _, outcome = read(data, step)
    assert len(pages) == 3
    assert numbers(pages)[0].endswith(first)
    assert code in outcome.findings
    assert outcome.state == "complete"


@pytest.mark.parametrize("step", [0, 7])
@pytest.mark.parametrize("data", LOSES_ONE.values(), ids=LOSES_ONE)
def test_a_broken_entry_costs_only_itself(data: bytes, step: int) -> None:
    pages, _, outcome = read(data, step)
    assert numbers(pages) == ["1", "3"]
    assert outcome.entries_lost == 1
    assert outcome.findings


@pytest.mark.parametrize("step", [0, 4096])
@pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_sitemap_is_refused_by_name(data: bytes, reason: str, step: int) -> None:
    pages, files, outcome = read(data, step)
    assert (len(pages), len(files)) == (0, 0)
    assert (outcome.state.value, outcome.reason) == ("failed", reason)


DATED = PLAIN.replace(b"</loc>", b"</loc><lastmod>2026-10-02</lastmod>")


@pytest.mark.parametrize("cut", range(len(HEAD) + 1, len(DATED) - 2, 11))
def test_a_cut_file_keeps_every_entry_whose_loc_is_whole(cut: int) -> None:
    data = DATED[:cut]
    pages, _, outcome = read(data)
    assert numbers(pages) == [str(n) for n in range(1, 1 + data.count(b"</loc>"))]
    dates = [lastmod is not None for lastmod in pages.lastmods]
    assert dates == [n < data.count(b"</lastmod>") for n in range(len(pages))]
    assert outcome.reason == "truncated"
    assert outcome.error_line == data.count(b"\n") + 1


@pytest.mark.parametrize(
    "name",
    ["iso-8859-12", "iso-8859-99", "windows-1259", "cp1259", "latin1", "euc-cn", "mac-roman"],
)
def test_no_declared_encoding_stops_the_reader(name: str) -> None:
    pages, _, outcome = read(PLAIN.replace(b"UTF-8", name.encode()))
    assert (numbers(pages), outcome.state.value) == (["1", "2", "3"], "complete")


@pytest.mark.parametrize(
    "before",
    ['<?xml version="1.0"?><?xml-stylesheet href="a" encoding="iso-8859-1"?>',
     '<!-- was <?xml version="1.0" encoding="iso-8859-1"?> -->'],
)  # fmt: skip
def test_an_encoding_is_only_taken_from_an_xml_declaration(before: str) -> None:
    data = f"{before}<urlset><url><loc>https://a.example/\u00e9</loc></url></urlset>".encode()
    assert read(data)[0].locs == ["https://a.example/%C3%A9"]


@pytest.mark.parametrize("name", ["cp866", "ISO_8859-5", "cp437", "koi8-u"])
def test_the_encodings_of_old_systems_are_read(name: str) -> None:
    letter = bytes([0xE0]).decode(name)
    data = PLAIN.decode().replace("UTF-8", name).replace("page-1", f"page-{letter}").encode(name)
    pages, _, outcome = read(data)
    assert pages.locs[0] == f"https://www.example.com/page-{quote(letter)}.html"
    assert "encoding-mismatch" not in outcome.findings


def test_a_field_that_is_too_long_is_told() -> None:
    for attribute in (b"", b' a="1"'):
        data = urlset(entry(1, f"<lastmod>{'x' * 9_000}</lastmod>"))
        _, _, outcome = read(data.replace(b"<url>", b"<url" + attribute + b">"))
        assert "field-too-long" in outcome.findings


@pytest.mark.parametrize(
    ("inside", "code", "count"),
    [("\ufffd\udcff\udcff\udcff", "bad-encoding", 3), ("&#1;b&#2;", "control-character", 2)],
)
def test_every_repair_is_counted(inside: str, code: str, count: int) -> None:
    data = urlset(entry(1)).replace(
        b"</loc>", f"</loc><x>{inside}</x>".encode(errors="surrogateescape")
    )
    assert read(data)[2].findings[code].count == count


def test_a_byte_order_mark_is_believed_before_the_declaration() -> None:
    data = PLAIN.replace(b"UTF-8", b"iso-8859-1").replace(b"page-1", "p\u00e4ge-1".encode())
    pages, _, outcome = read(b"\xef\xbb\xbf" + data)
    assert pages.locs[0].endswith("p%C3%A4ge-1.html")
    assert "encoding-mismatch" in outcome.findings


@pytest.mark.parametrize("junk", [b"\xe4\xf6\xfc warning \xff", b"\xe4 <b>x</b> &", b"text"])
@pytest.mark.parametrize("step", [0, 5_000, 20_000, 70_000])
def test_junk_of_any_bytes_and_any_steps_hides_nothing(junk: bytes, step: int) -> None:
    for count in (1, 900):
        data = junk * count + PLAIN.replace(b"page-1", "p\u00e4ge-1".encode("latin-1"), 1)
        data = data.replace(b"UTF-8", b"iso-8859-1") + b" " * 80_000
        pages, _, outcome = read(data, step)
        assert [url[-8:] for url in pages.locs] == ["e-1.html", "e-2.html", "e-3.html"]
        assert pages.locs[0].endswith("p%C3%A4ge-1.html")
        assert "junk-before" in outcome.findings


@pytest.mark.parametrize("width", ["utf-8", "utf-16-le", "utf-32"])
def test_any_number_of_blanks_before_the_document_is_passed_over(width: str) -> None:
    data = ("\n" * 70_001 + PLAIN.decode()).replace('encoding="UTF-8"', "").encode(width)
    for step in (999, 0):
        pages, _, outcome = read(data, step)
        assert numbers(pages) == ["1", "2", "3"]
        assert outcome.state == "complete"


def test_a_file_of_nothing_but_nuls_beyond_the_bound_is_too_large() -> None:
    reader = SitemapReader(BASE, max_bytes=100_000)
    assert not [entries.locs for entries in reader.feed(b"\0" * 200_000) if entries.locs]
    assert list(reader.close()) == []
    assert (reader.outcome.state.value, reader.outcome.reason) == ("failed", "too-large")


def test_every_odd_value_is_counted() -> None:
    data = urlset(*(entry(n, f"<priority>high {n}</priority>") for n in range(1_500)))
    assert read(data)[2].findings["priority-invalid"].count == 1_500


def test_a_read_that_is_stopped_tells_what_was_made_of_it() -> None:
    reader = SitemapReader(BASE)
    list(reader.feed(urlset(*map(entry, range(50)))))
    next(reader.close())
    assert reader.outcome.state == "complete"
    reader.stop("budget-urls", kept=7)
    assert (reader.outcome.state.value, reader.outcome.entries_kept) == ("partial", 7)
    reader.stop("budget-urls", kept=0)
    assert (reader.outcome.state.value, reader.outcome.kind) == ("skipped", "urlset")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(PLAIN)[:-20], "truncated-gzip"),
        (gzip.compress(PLAIN) + gzip.compress(b"") * 2_000, "bad-gzip"),
    ],
    ids=["cut", "endless members"],
)
def test_a_small_packed_file_keeps_what_came_out_before_the_fault(data: bytes, reason: str) -> None:
    pages, _, outcome = read(data)
    assert numbers(pages)[0] == "1"
    assert (outcome.state.value, outcome.reason) == ("partial", reason)


def test_bare_ampersands_in_every_entry_lose_nothing() -> None:
    data = urlset(*(entry(n).replace(b".html", b".html?a=1&b=2&amp;c=3") for n in range(3_000)))
    pages, _, outcome = read(data, 1_000)
    assert len(pages) == 3_000
    assert pages.locs[7].endswith("page-7.html?a=1&b=2&c=3")
    assert outcome.state == "complete"
    assert outcome.findings["bare-ampersand"].count == 3_000
    assert outcome.findings["bare-ampersand"].line == 4


def test_an_index_gives_files_and_refuses_other_schemes() -> None:
    pages, files, outcome = read(INDEX)
    assert (len(pages), files.locs) == (0, ["https://www.example.com/a.xml"])
    assert files.lastmods[0] is not None
    assert files.lastmods[0].precision == "day"
    assert outcome.kind == "index"
    assert outcome.findings["loc-scheme"].example == "file:///etc/passwd"


def test_a_relative_loc_is_resolved_and_named() -> None:
    pages, _, outcome = read(urlset(b"<url><loc>/a b</loc></url>"))
    assert pages.locs == ["https://www.example.com/a%20b"]
    assert "loc-relative" in outcome.findings


def test_more_entries_than_the_protocol_allows_are_kept_and_counted() -> None:
    data = urlset(b"".join(entry(n) for n in range(50_007)))
    pages, _, outcome = read(data)
    assert len(pages) == 50_007
    assert outcome.findings["too-many-urls"].count == 7
    assert outcome.state == "complete"


def test_unpacked_bytes_beyond_the_bound_cut_the_file() -> None:
    reader = SitemapReader(BASE, max_bytes=10_000)
    data = gzip.compress(urlset(*map(entry, range(1_000))))
    kept = sum(map(len, [*reader.feed(data), *reader.close()]))
    assert (reader.outcome.state.value, reader.outcome.reason) == ("partial", "too-large")
    assert kept == reader.outcome.entries_kept > 100
    assert reader.outcome.bytes_unpacked == 10_000


def test_extensions_are_read_with_all_their_repeats() -> None:
    image = "<i:image><i:loc>/{0}.png</i:loc><i:caption>{0}</i:caption></i:image>"
    spaces = {
        "i": "http://www.google.com/schemas/sitemap-image/1.1",
        "n": "http://www.google.com/schemas/sitemap-news/0.9",
        "v": "http://www.google.com/schemas/sitemap-video/1.1",
        "x": "http://www.w3.org/1999/xhtml",
    }
    inside = (
        image.format("a")
        + image.format("b")
        + "<n:news><n:publication><n:name>N</n:name><n:language>en</n:language></n:publication>"
        "<n:publication_date>2026-10-01</n:publication_date><n:title>T &amp; U</n:title></n:news>"
        "<v:video><v:title>V</v:title><v:tag>x</v:tag><v:tag>y</v:tag>"
        '<v:platform relationship="allow">web</v:platform></v:video>'
        '<x:link rel="alternate" hreflang="de" href="/de"/><mine>1</mine>'
    )
    root = "".join(f' xmlns:{prefix}="{name}"' for prefix, name in spaces.items())
    data = urlset(entry(1, inside)).replace(b"<urlset", b"<urlset" + root.encode())
    details = read(data)[0].details[0]
    assert details == {
        "images": [
            {"loc": "https://www.example.com/a.png", "caption": "a"},
            {"loc": "https://www.example.com/b.png", "caption": "b"},
        ],
        "news": {
            "publication": {"name": "N", "language": "en"},
            "publication_date": "2026-10-01",
            "title": "T & U",
        },
        "videos": [
            {"title": "V", "tag": ["x", "y"], "platform": {"relationship": "allow", "value": "web"}}
        ],
        "alternates": [{"hreflang": "de", "href": "https://www.example.com/de"}],
        "extra": {"mine": "1"},
    }


def test_a_second_news_element_is_kept_apart() -> None:
    space = b'<urlset xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    news = "<news:news><news:title>{}</news:title></news:news>"
    data = urlset(entry(1, news.format("A") + news.format("B"))).replace(b"<urlset", space)
    details = read(data)[0].details[0]
    assert details == {"news": {"title": "A"}, "extra": {"news:news": {"title": "B"}}}


def test_upper_case_extensions_are_read_as_such() -> None:
    inside = "<IMAGE:IMAGE><IMAGE:LOC>/a.png</IMAGE:LOC></IMAGE:IMAGE>"
    details = read(urlset(entry(1, inside)))[0].details[0]
    assert details == {"images": [{"loc": "https://www.example.com/a.png"}]}


FRAGMENTS = st.sampled_from(
    [
        entry(1), entry(2), entry(3, "<lastmod>2026-01-01</lastmod><priority>0.5</priority>"),
        b"<url>", b"</url>", b"<loc>", b"</loc>", b"http://a.example/", b"<!-- ", b" -->", b"<![CDATA[",
        b"]]>", b"&", b"&amp;", b"&x;", b"<", b">", b" ", b"\n", b"\xff", b"\0", b"<a:b/>", b"<?p ?>",
        HEAD, TAIL, b"<urlset>", b"<sitemap>", b"</sitemap>", b'<x y="</url>"/>',
    ]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=14).map(b"".join), st.integers(1, 40))
def test_any_document_is_safe_and_chunking_does_not_matter(body: bytes, step: int) -> None:
    data = HEAD + body
    whole, split = read(data), read(data, step)
    assert whole[0].locs == split[0].locs
    assert whole[1].locs == split[1].locs
    assert whole[2].reason == split[2].reason


@given(st.binary(max_size=400))
def test_any_bytes_are_safe(data: bytes) -> None:
    _, _, outcome = read(data)
    assert outcome.reason


VARIED = urlset(
    entry(1),
    b"<url><loc><![CDATA[https://www.example.com/page-2.html]]></loc></url>\n",
    b"<url><loc>/page-3.html?a&amp;b</loc></url>\n",
    "<url><loc>https://www.example.com/caf\u00e9/page-4.html</loc></url>\n".encode(),
    b"<url><loc>https://www.example.com/<!-- x -->page-5.html</loc><priority>1</priority></url>\n",
    b"<url><loc>\n  HTTPS://WWW.example.com/page-6.html#x \n</loc><lastmod>2026-10-02</lastmod></url>",
)
DAMAGES = st.lists(
    st.tuples(st.integers(0, len(VARIED) - 1), st.integers(0, 9), st.binary(max_size=3)),
    min_size=1, max_size=4,
)  # fmt: skip


@given(DAMAGES, st.sampled_from([0, 7]))
@example([(len(HEAD) + 8, 1, b"&")], 0)
def test_damaged_bytes_lose_no_entry_before_them_and_make_none_up(
    damages: list[tuple[int, int, bytes]], step: int
) -> None:
    data = VARIED
    for at, size, instead in sorted(damages, reverse=True):
        data = data[:at] + instead + data[at + size :]
    pages, _, _ = read(data, step)
    first = min(damages)[0]
    before = VARIED[:first].count(b"</url>") if first >= len(HEAD) else 0
    assert pages.locs[:before] == read(VARIED)[0].locs[:before]
    text = data.decode("utf-8", "replace")
    text = re.sub(r"&(\w+;)", lambda found: html5.get(found[1], found[0]), text)
    written = _as_read(re.sub(r"&#\w+;", lambda found: unescape(found[0]), text))
    for found_url in pages.locs:
        url = re.sub(r"xn--[a-z0-9-]+", lambda found: idna.decode(found[0]), found_url)
        forms = (url, url.removeprefix("https:"), url.removeprefix("https://www.example.com/"))
        assert any(_as_read(form) in written for form in forms)


def _as_read(text: str) -> str:
    """A text without what reading takes out of a loc: escapes, case, blanks, markup, ``:`` of an
    empty port."""
    return re.sub(
        r"\s|<!--.*?-->|<!\[CDATA\[|\]\]>|:(?=/)", "", normalize("NFKC", unquote(text))
    ).lower()
