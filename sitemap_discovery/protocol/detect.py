"""What a file is, told from its first bytes: never from its name or its headers."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from typing import Final, NamedTuple

from sitemap_discovery.protocol.guards import XmlFault
from sitemap_discovery.protocol.markup import local_name, tokens
from sitemap_discovery.protocol.vocabulary import ROOT_KINDS

SNIFF: Final = 16_384
"""Bytes looked at before a file is judged."""

BLANKS: Final = b" \t\r\n\f\v\0"
"""Bytes of the blanks of every encoding."""


_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"""<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']\s*([A-Za-z0-9._:-]{1,40})"""
)
_ENCODINGS: Final = re.compile(
    r"(iso[-_]?8859[-_]?\d+|latin[-_]?\d+|windows[-_]?125\d|(?:cp|ibm)[-_]?"
    r"(?:125\d|437|720|737|775|85\d|86\d|874|932|949|950|1006|1125)|koi8[-_][rut]|gbk|gb2312|"
    r"gb18030|big5|shift[-_]?jis|sjis|euc[-_]?(?:jp|kr|cn)|iso[-_]?2022[-_]?jp|tis[-_]?620|"
    r"macintosh|mac[-_]?(?:roman|cyrillic|greek|turkish|latin2))",
    re.IGNORECASE,
)
"""Text encodings that real files declare; Python's other codecs (zip, utf-7 …) are not for them."""

_UTF8_NAMES: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
_HTML: Final = re.compile(rb"<(!doctype\s+html|html|head|body|script|meta)\b", re.IGNORECASE)
_ROOT: Final = re.compile(
    rb"<\?xml\b|<(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s>]", re.IGNORECASE
)
_MARKUP: Final = re.compile(
    rb"<(?:\?|!--|!doctype|(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s>/])", re.IGNORECASE
)
_URL: Final = re.compile(rb"(?:https?:)?//[^\s<>]+")


class Detected(NamedTuple):
    """``kind`` is ``xml``, ``text``, ``html``, ``empty`` or ``unknown``; ``skip`` counts the bytes
    before the document (a byte order mark, blanks); ``encoding`` is ``None`` for UTF-8."""

    kind: str
    skip: int = 0
    encoding: str | None = None
    finding: str | None = None


def detect(head: bytes) -> Detected:
    """Judge a file by its first bytes.

    >>> detect(b"\\xef\\xbb\\xbf <urlset>")
    Detected(kind='xml', skip=4, encoding=None, finding='leading-blanks')
    """
    mark, wide = _mark(head)
    if not head[mark:].strip(BLANKS):
        return Detected("empty", mark)
    if wide:  # two or four bytes a character: places in the text are none in the bytes
        start = head[mark:].decode(wide, "replace").lstrip().encode()
        return _kind(start)._replace(skip=mark, encoding=wide)
    start = head[mark:].lstrip(BLANKS)
    blanks = len(head) - len(start) - mark
    found = _kind(start)
    encoding, lie = _declared(start)
    if mark and encoding:  # the mark is no accident
        encoding, lie = None, "encoding-mismatch"
    odd = "leading-blanks" if blanks and found.kind == "xml" else None
    return Detected(found.kind, mark + blanks, encoding, odd or lie)


def _kind(start: bytes) -> Detected:
    """What begins at the first byte that is no blank."""
    if _MARKUP.match(start) and not _HTML.match(start):
        return Detected("xml")
    root, html = _ROOT.search(start), _HTML.search(start)
    if root and not (html and html.start() < root.start()):
        return Detected("xml")
    if html:
        return Detected("html")
    if start.startswith(b"<"):
        return Detected("xml")
    is_list = any(_URL.fullmatch(line.strip()) for line in start.splitlines())
    return Detected("text" if is_list else "unknown")


def _mark(head: bytes) -> tuple[int, str | None]:
    """Length of the byte order mark and the encoding it, or the pattern of NULs, tells."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return len(mark), None if encoding == "utf-8" else encoding
    if head[:4] in (b"<\0?\0", b"<\0u\0", b"<\0s\0"):
        return 0, "utf-16-le"
    if head[:4] in (b"\0<\0?", b"\0<\0u", b"\0<\0s"):
        return 0, "utf-16-be"
    return 0, None


def _declared(head: bytes) -> tuple[str | None, str | None]:
    """The declared encoding when it is one to decode by, or a finding when it is none."""
    name = _declaration(head)
    if name.lower() in _UTF8_NAMES:
        return None, None
    if _ENCODINGS.fullmatch(name):
        with suppress(LookupError):
            return codecs.lookup(name).name, None
    return None, "encoding-mismatch"


def _declaration(head: bytes) -> str:
    """The encoding of the first XML declaration before the root; one in a comment is none."""
    with suppress(XmlFault):
        for token in tokens(head):
            if token.kind == "pi":
                match = _DECLARED.match(head, token.start, token.stop)
                if match:
                    return match[1].decode()
            elif token.name and local_name(token) in ROOT_KINDS:
                break
    return "utf-8"


_PAGES: Final = (
    ("challenge-page", re.compile(
        rb"just a moment|attention required|checking your browser|cf-chl|_incapsula_|captcha",
        re.IGNORECASE)),
    ("login-page", re.compile(
        rb"""type\s*=\s*["']?password|<title[^>]{0,200}>[^<]{0,200}\b(?:log ?[io]n|sign ?in)\b""",
        re.IGNORECASE)),
    ("soft-404", re.compile(
        rb"<title[^>]{0,200}>[^<]{0,200}(?:\b404\b|not found|does not exist|no longer available)",
        re.IGNORECASE)),
)  # fmt: skip
"""What a web page that stands where a sitemap should be says about itself."""


def page_code(head: bytes) -> str:
    """Which kind of web page it is: ``html-page`` when nothing tells.

    >>> page_code(b"<html><title>Page not found</title>")
    'soft-404'
    """
    return next((code for code, mark in _PAGES if mark.search(head)), "html-page")
