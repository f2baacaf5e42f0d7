"""Broken XML: nothing is made up, a fault costs its own entry alone, and reading always goes on."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sitemapdata import BASE, HEAD, NS, TAIL, entry, loc, numbers, read, urlset

from sitemap_discovery.protocol.codes import Findings
from sitemap_discovery.protocol.collect import Collector
from sitemap_discovery.protocol.guards import XmlFault
from sitemap_discovery.protocol.xml import XmlReader

FAKE = "<url><loc>https://fake.example/</loc></url>"

HIDDEN = {
    "comment with dashes": f"<!-- old -- {FAKE} -->",
    "comment behind a bare ampersand": f"& <!-- {FAKE} -->",
    "comment behind a stray closing tag": f"</x><!-- {FAKE} -->",
    "closing tag in a comment": f"& <!-- </url> {FAKE} -->",
    "cdata in an element not closed": f"<x><![CDATA[</url>{FAKE}]]>",
    "attribute that holds markup": f'<image:image title="a</url>{FAKE}"/>',
    "single quotes": f"<x y='</url>{FAKE}' z=1/>",
    "instruction": f"& <?php echo '{FAKE}' ?>",
    "comment never closed": f"& <!-- {FAKE}",
    "comment around a root": f"& <!-- <urlset a=b> {FAKE} -->",
}
PADDED = {
    "attribute longer than a text may be": b'</x><x y="' + b"A" * 8_193 + FAKE.encode() + b'"/>',
    "quote behind an empty entry": b"<url a='1'/>&<x y=\"" + FAKE.encode() + b'"/>',
    "comment that is mended": b"<!-- -- --><x/><!-- " + FAKE.encode() + b" -->",
    "comment behind a bare ampersand": b"&<!-- " + FAKE.encode() + b" -->",
}
BEHIND = {
    "script": f'<script>var a = "{FAKE}"</script>',
    "comment": f"<!-- {FAKE} -->",
    "bare ampersand": f"& <!-- {FAKE} -->",
    "stray closing tag": f"</x><!-- {FAKE} -->{FAKE}",
}


@pytest.mark.parametrize("step", [0, 7])
@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_what_is_hidden_in_markup_is_no_entry(text: str, step: int) -> None:
    hidden = text.encode()
    pages, _, outcome = read(urlset(entry(1), hidden, entry(2)), step)
    assert numbers(pages)[0] == "1"
    assert set(numbers(pages)) <= {"1", "2"}
    assert (len(pages) == 2) == (not hidden.endswith(b"</url>"))
    assert outcome.findings or outcome.reason == "truncated"


@pytest.mark.parametrize("hidden", PADDED.values(), ids=PADDED)
@pytest.mark.parametrize("edge", [131_072, 131_072 - 9, 131_072 - 60])
def test_nothing_is_taken_from_markup_at_the_edge_of_a_piece(hidden: bytes, edge: int) -> None:
    head = HEAD + entry(1)
    data = head + b" " * (edge - len(head)) + hidden + entry(2) + TAIL
    for step in (0, 100_000, 7):
        pages, _, _ = read(data, step)
        assert numbers(pages) == ["1", "2"]


@pytest.mark.parametrize(
    ("odd", "kept"),
    [(b"<url/>&", ["2", "3"]), (b"<url></url>&", ["2", "3"]), (b"<url/></x>", ["2", "3"]),
     (b"<url/><b>", ["2", "3"]), (b"<url/>]]>", ["2", "3"])],
)  # fmt: skip
def test_an_empty_entry_hides_no_neighbour(odd: bytes, kept: list[str]) -> None:
    pages, _, outcome = read(urlset(odd, entry(2).strip(), entry(3)))
    assert numbers(pages) == kept
    assert len(outcome.findings) == 2  # loc-missing, and the fault


@pytest.mark.parametrize(
    "big",
    [b"<url><loc>/big</loc><x>" + b"y" * 1_200_000 + b"&</x></url>",
     b"<url><loc>/big</loc><x>" + b"y" * 1_200_000 + b"</z></url>",
     b"<url><loc>/big</loc>" + b"<x>y</x>" * 150_000 + b"</z></url>"],
    ids=["ampersand behind", "wrong end", "many elements"],
)  # fmt: skip
@pytest.mark.parametrize("step", [0, 50_000])
def test_an_entry_too_large_to_be_mended_costs_only_itself(big: bytes, step: int) -> None:
    pages, _, outcome = read(urlset(entry(1), big, entry(2), entry(3)), step)
    assert numbers(pages) == ["1", "2", "3"]
    assert (outcome.state.value, outcome.entries_lost) == ("partial", 1)
    assert "entry-too-large" in outcome.findings


SAME = f"<urlset {NS} {NS.replace('xmlns', 'xmlns:s')}>"


@pytest.mark.parametrize("broken", [0, 1, 2])
@pytest.mark.parametrize(
    ("root", "end", "form"),
    [
        (SAME, "</urlset>", "<s:url><s:loc>{}{}</s:loc></s:url>"),
        (SAME.replace("<urlset", "<s:urlset"), "</s:urlset>", "<url><loc>{}{}</loc></url>"),
        (f"<urlset {NS}>", "</urlset>", "<f:url xmlns:f='urn:f'><f:loc>{}{}</f:loc></f:url>"),
    ],
)
def test_entries_with_another_prefix_than_the_roots_are_cut_out_too(
    root: str, end: str, form: str, broken: int
) -> None:
    entries = [form.format(loc(n), "<b>" if n == broken else "") for n in range(4)]
    if broken == 0 and "f:url" in form:
        pytest.skip("a name that no entry before the fault had is not known")
    pages, _, outcome = read((root + "".join(entries) + end).encode())
    assert numbers(pages) == [str(n) for n in range(4) if n != broken]
    assert (outcome.state.value, outcome.entries_lost) == ("partial", 1)


def test_a_fault_behind_a_megabyte_of_comments_costs_nothing() -> None:
    data = urlset(entry(1), b"<!-- x -->" * 130_000 + b"&", entry(3))
    pages, _, outcome = read(data)
    assert numbers(pages) == ["1", "3"]
    assert outcome.state == "complete"


@pytest.mark.parametrize("text", BEHIND.values(), ids=BEHIND)
def test_what_is_hidden_behind_the_document_is_no_entry(text: str) -> None:
    pages, _, outcome = read(urlset() + text.encode())
    assert numbers(pages) == ["1", "2", "3"]
    assert outcome.state == "complete"


@pytest.mark.parametrize(
    "data",
    [b"<urlset/><script>" + FAKE.encode() + b"</script>",
     b"<urlset/>\n<script>" + FAKE.encode() + b"</script>",
     b"& <!DOCTYPE urlset [<!-- ]><urlset>" + FAKE.encode() + b"</urlset> -->]>" + urlset()],
)  # fmt: skip
def test_scripts_and_document_types_hold_no_entries(data: bytes) -> None:
    assert "fake" not in " ".join(read(data)[0].locs)


def test_an_external_dtd_may_define_what_looks_like_a_bare_ampersand() -> None:
    data = b'<!DOCTYPE urlset SYSTEM "x"><urlset><url><loc>/&foo.bar;x</loc></url></urlset>'
    pages, _, outcome = read(data)
    assert len(pages) == 0
    assert "undefined-entity" in outcome.findings


def test_a_loc_of_a_foreign_vocabulary_is_not_the_entrys() -> None:
    inside = '<g:loc xmlns:g="https://vendor.example/sitemap-ext/1">/not</g:loc>'
    pages, _, _ = read(urlset(entry(1, inside)))
    assert numbers(pages) == ["1"]


ROOT = f"<urlset {NS}>"
BEFORE_THE_ROOT = {
    "root in a comment that is broken": f"<!-- -- <urlset a=b> -->{ROOT}",
    "root in a comment": f"<!-- <urlset a=b> -->{ROOT}",
    "greater-than in an attribute": f'<urlset x="a>b" {NS}>',
    "prefix that nothing declares": f'<urlset {NS} xsi:schemaLocation="a b">',
    "root whose own prefix nothing declares": "<s:urlset>",
    "bare ampersand": f"& {ROOT}",
    "attribute without quotes": f"<urlset {NS} a=b>",
    "namespace twice": f"<urlset {NS} {NS}>",
    "declaration twice": f'<?xml version="1.0"?><?xml version="1.0"?>{ROOT}',
}


@pytest.mark.parametrize("step", [0, 5])
@pytest.mark.parametrize("root", BEFORE_THE_ROOT.values(), ids=BEFORE_THE_ROOT)
def test_an_odd_beginning_loses_nothing(root: str, step: int) -> None:
    entries = entry(1) + entry(2).replace(b".html", b".html?a&b") + b"<x/>" + entry(3)
    tail = b"</s:urlset>" if root.startswith("<s:") else TAIL
    if root.startswith("<s:"):
        entries = entries.replace(b"url>", b"s:url>").replace(b"</s:url", b"</s:url")
        entries = entries.replace(b"loc>", b"s:loc>").replace(b"<s:/", b"</s:")
        entries = entries.replace(b"</s:s:", b"</s:")
    pages, _, outcome = read(root.encode() + entries + tail, step)
    assert numbers(pages) == ["1", "2.html?a&b", "3"]
    assert (outcome.state.value, outcome.entries_lost) == ("complete", 0)


ODD_ENTRIES = {
    "upper case": (entry(2).upper().replace(b"HTTPS://WWW.EXAMPLE.COM/PAGE-2.HTML", b"/page-2.html"), "odd-case"),
    "namespace of its own": (entry(2).replace(b"<url>", b'<url xmlns="urn:foo">'), "odd-namespace"),
    "foreign prefix": (
        b'<f:url xmlns:f="urn:foo"><f:loc>/page-2.html</f:loc></f:url>', "odd-namespace",
    ),
    "attribute with a prefix that nothing declares": (
        entry(2).replace(b"<url>", b'<url x:a="1">'), "undeclared-prefix",
    ),
    "element with a prefix that nothing declares": (entry(2, "<x:y/>"), "undeclared-prefix"),
    "prefix that is no name": (entry(2, "<a\ufffd:y/>"), "not-well-formed"),
    "prefix beyond ASCII": (entry(2, "<a\u0301:y/>"), "undeclared-prefix"),
    "ampersand in a cdata section": (
        entry(2, "<x/>&<image>").replace(b"<image>", b"<a><![CDATA[&b]]></a>"), "bare-ampersand",
    ),
    "comment that XML does not allow": (entry(2, "<!-- a -- b -->"), "comment-broken"),
    "less-than before a closing tag": (entry(2, "<x>a <b</x>"), "bare-less-than"),
    "long number": (entry(2, "<x>&#00000000038;</x>&"), "bare-ampersand"),
    "number of no character": (entry(2, f"<x>&#{'9' * 5_000};</x>"), None),
}  # fmt: skip


@pytest.mark.parametrize("step", [0, 9])
@pytest.mark.parametrize(("odd", "code"), ODD_ENTRIES.values(), ids=ODD_ENTRIES)
def test_an_odd_entry_is_read(odd: bytes, code: str | None, step: int) -> None:
    pages, _, outcome = read(urlset(entry(1), odd, entry(3)), step)
    assert numbers(pages) == ["1", "2", "3"]
    assert (outcome.state.value, outcome.entries_lost) == ("complete", 0)
    assert code is None or code in outcome.findings


def test_what_a_cdata_section_holds_stays_as_it_is() -> None:
    data = urlset(entry(1), b"<url><loc><![CDATA[/page-2.html?a&amp;b&c]]></loc>&</url>")
    assert numbers(read(data)[0]) == ["1", "2.html?a&amp;b&c"]


def test_a_mended_place_is_told_by_its_line() -> None:
    _, _, outcome = read(urlset(entry(1), entry(2), b"<url>\n\n<loc>/x?&eacute;</loc></url>"))
    assert outcome.findings["html-entity"].line == 11


def test_a_lost_entry_is_told_by_its_line() -> None:
    _, _, outcome = read(urlset(entry(1), b"<url><loc>/x</lo></url>\n", entry(3)))
    assert (outcome.error_line, outcome.findings["not-well-formed"].line) == (6, 6)
    assert outcome.error_byte == len(HEAD + entry(1))


BAD = b"<url><loc>ftp://a.example/</loc></url>\n"
AROUND = st.sampled_from(
    [entry(1), entry(2, "<x/>"), entry(3, "<b>"), entry(4, "&nbsp;"), b"<!-- --\n -->", b"\n\n", b"&\n",
     entry(5, "<q:x/>"), b"<urlset>\n</urlset>\n", b"</urlset>\n<urlset>\n"]
)  # fmt: skip


@given(st.lists(AROUND, max_size=6).map(b"".join), st.integers(1, 60), st.integers(0, 40))
def test_a_finding_tells_the_line_of_its_entry(before: bytes, step: int, blanks: int) -> None:
    data = b"\n" * blanks + HEAD + before + BAD + entry(6) + BAD + TAIL
    found = read(data, step)[2].findings["loc-scheme"]
    assert found.count == 2
    assert found.line == data[: data.index(BAD)].count(b"\n") + 1


def test_a_finding_in_a_long_list_tells_its_line() -> None:
    lines = [b"https://a.example/%d" % n for n in range(5_000)]
    lines[3_210] = b"# a comment"
    assert read(b"\n\n" + b"\n".join(lines))[2].findings["text-comment"].line == 3_213


def test_items_of_a_feed_survive_a_broken_neighbour() -> None:
    item = "<item><link>https://www.example.com/page-{}.html</link>{}</item>"
    items = item.format(1, "") + item.format(2, "<b>") + item.format(3, "&nbsp;")
    pages, _, outcome = read(f"<rss><channel>{items}</channel></rss>".encode())
    assert numbers(pages) == ["1", "3"]
    assert outcome.entries_lost == 1


ENDLESS = {
    "roots that close themselves": b"<urlset/><url>" * 5_000,
    "roots around one entry": b"<urlset>" + (entry(1) + b"</urlset>") * 2_000,
    "documents": urlset(entry(1)) * 2_000,
    "ever-new prefixes": urlset(*(entry(n, f"<p{n}:x/>") for n in range(3_000))),
    "wrappers around broken entries": (
        HEAD
        + b"".join(
            b"<w " + b" ".join(b"xmlns:n%d_%d='%b'" % (w, n, b"u" * 500) for n in range(250)) + b">"
            for w in range(10)
        )
        + b"".join(entry(n, "<b>") for n in range(1_000))
    ),
    "entries that are broken": urlset(*(entry(n, "<b>") for n in range(3_000))),
    "tags that never end": HEAD + b"&" + b"<a" * 400_000,
    "quotes that never end": HEAD + b"&" + b"<a b=\"<a c='" * 60_000,
    "attributes that never end": HEAD + b"&" + b'<a b="b="' * 80_000,
    "comments that never end": HEAD + b"&" + b"<!--" * 200_000,
    "comment in an entry": HEAD + b"<url>&<!--" + b"<!-" * 900_000,
    "reference": HEAD + b"<url>&" + b"y" * 2_000_000,
    "less-thans": HEAD + b"&" + b"<" * 800_000,
    "less-thans behind the document": urlset() + b"<a" * 400_000,
    "roots in comments before the document": b"<!--" + b"<urlset>" * 24_000 + b"--><urlset/>",
    "document types": b"<?xml version='1.0'?>&" + b"<!DOCTYPE[" * 30_000,
    "document types inside": HEAD + b"</x>" + b"<!DOCTYPE a [ " * 30_000,
    "comments behind the document": urlset() + b"<!--->" * 100_000,
}


@pytest.mark.parametrize("data", ENDLESS.values(), ids=ENDLESS)
def test_twice_the_bytes_take_about_twice_the_work(data: bytes) -> None:
    def seconds(data: bytes) -> float:
        started = time.process_time()
        assert read(data, 65_536)[2].reason
        return time.process_time() - started

    assert seconds(data) < 3 * seconds(data[: len(data) // 2]) + 2


def test_the_place_of_a_fault_is_exact_where_others_were_mended() -> None:
    for before in (b"", b"\n\n", b"\xef\xbb\xbf"):
        data = before + HEAD + b"<url><loc>/x</lo></url>" + b"&nbsp;" * 300 + entry(1) + TAIL
        _, _, outcome = read(data)
        assert outcome.error_byte == data.index(b"<url>")
        assert outcome.error_line == data[: data.index(b"<url>")].count(b"\n") + 1


FRAGMENTS = st.sampled_from(
    [
        entry(1), entry(2, "<x:y/>"), entry(3, "<b>"), b"<urlset/>", b"<url\x00>", b"<\x0b", b"</\x00>", b"<url>", b"</\xff>", b"<urlset>", b"</urlset>", b"<url/>",
        b'<url x:a="1">', b"</url>", b"<!-- <urlset a=b> -->", f"<!-- {FAKE} -->".encode(), b"&", b"&b;",
        f"<![CDATA[{FAKE}]]>".encode(), f'<x y="{FAKE}"/>'.encode(), b"<x y='", b"<!--", b"<!-- -- -->",
        b"<?p", b"<", b"</", b"<a", b'"', b"'", b">", b"<!DOCTYPE a>", b"<loc>", b"</loc>", b"\xff", b"<URL>",
        b'<f:url xmlns:f="urn:f">', b"</f:url>", b"text",
    ]
)  # fmt: skip


@example(b"<a></url><url></\0></url>", [len(HEAD) + 9], True)
@given(st.lists(FRAGMENTS, max_size=16).map(b"".join), st.lists(st.integers(0, 900)), st.booleans())
def test_chunking_does_not_matter_to_broken_documents(
    body: bytes, cuts: list[int], root: bool
) -> None:
    data = (HEAD if root else b"") + body + TAIL
    whole, split = parts(data, []), parts(data, cuts)
    assert whole == split
    assert not [url for url in whole[0] if "fake" in url]


@pytest.mark.parametrize("data", [b"\n\0", b"\n\n<a>", b"\n<!-- ", b"\ntext\n"])
def test_what_has_no_root_fails_at_its_beginning(data: bytes) -> None:
    for cut in range(len(data)):
        reader = XmlReader(Collector(BASE, Findings()), Findings())
        with pytest.raises(XmlFault, match="not-a-sitemap"):
            feed(reader, data, [cut])
        assert (reader.error_line, reader.error_byte) == (1, 0)


def feed(reader: XmlReader, data: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    for start, stop in pairwise(bounds):
        reader.feed(data[start:stop])
    reader.close()


def parts(data: bytes, cuts: list[int]) -> tuple[list[str], str, int, dict[str, tuple[int, int]]]:
    """What comes of a document fed in pieces, past the head that the reader holds back."""
    findings = Findings()
    collector = Collector(BASE, findings)
    reader, reason = XmlReader(collector, findings), "ok"
    try:
        feed(reader, data, cuts)
    except XmlFault as fault:
        reason = fault.code
    locs = [loc for entries in collector.take(final=True) for loc in entries.locs]
    whole = reason == "ok" and not reader.lost
    found = {f.code: (f.count, f.line or 0) for f in findings if whole}
    return locs, reason, reader.lost, found


@given(st.lists(FRAGMENTS, max_size=8).map(b"".join))
def test_whole_entries_before_a_fault_are_kept(body: bytes) -> None:
    pages, _, _ = read(HEAD + entry(7) + entry(8) + body)
    assert numbers(pages)[:2] == ["7", "8"]
