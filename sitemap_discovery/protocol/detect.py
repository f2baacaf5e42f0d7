"""What a file is, told from its first bytes: never from its name or its headers."""

from __future__ import annotations

import codecs
import re
from typing import Final, NamedTuple

SNIFF: Final = 4_096
"""Bytes looked at before a file is judged."""

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"""<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']\s*([A-Za-z0-9._:-]{1,40})"""
)
_ENCODINGS: Final = re.compile(
    r"(iso-?8859-?\d+|latin-?1|windows-?125\d|cp125\d|koi8-[ru]|gbk|gb2312|gb18030|big5|"
    r"shift[-_]?jis|sjis|euc-?(jp|kr|cn)|iso-?2022-?jp|tis-?620|macintosh|mac-?roman)",
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
_URL_LINE: Final = re.compile(rb"[ \t]*(?:https?:)?//[^\s<>]+[ \t]*(?:$|[\r\n])", re.MULTILINE)


class Detected(NamedTuple):
    """``kind`` is ``xml``, ``text``, ``html``, ``empty`` or ``unknown``; ``skip`` counts the bytes
    before the document (a byte order mark, blanks, junk); ``encoding`` is ``None`` for UTF-8."""

    kind: str
    skip: int = 0
    encoding: str | None = None
    finding: str | None = None


def detect(head: bytes) -> Detected:
    """Judge a file by its first bytes.

    >>> detect(b"\\xef\\xbb\\xbf <urlset>").kind
    'xml'
    """
    mark, encoding = _mark(head)
    plain = head[mark:].decode(encoding or "utf-8", "replace").encode()
    start = plain.lstrip()
    if not start.strip(b"\0"):
        return Detected("empty")
    finding = "leading-blanks" if start[:1] == b"<" and len(start) < len(plain) else None
    if encoding is None:
        encoding, lie = _declared(plain)
        finding = finding or lie
    skip = mark if encoding else mark + len(plain) - len(start)
    late = start.find(b"<?xml")
    if late > 0 and start.startswith(b"<!--"):  # a comment may not stand before the declaration
        return Detected("xml", skip if encoding else skip + late, encoding, "junk-before")
    if _MARKUP.match(start) and not _HTML.match(start):
        return Detected("xml", skip, encoding, finding)
    return _unmarked(start, Detected("unknown", skip, encoding, finding))


def _unmarked(start: bytes, found: Detected) -> Detected:
    """A file that does not begin as a sitemap: a web page, a list of URLs, XML behind junk."""
    root, html = _ROOT.search(start), _HTML.search(start)
    if root and not (html and html.start() < root.start()):
        skip = 0 if found.encoding else root.start()
        return found._replace(kind="xml", skip=found.skip + skip, finding="junk-before")
    if html:
        return found._replace(kind="html")
    if start.startswith(b"<"):
        return found._replace(kind="xml")
    return found._replace(kind="text" if _URL_LINE.search(start) else "unknown")


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
    match = _DECLARED.search(head)
    name = match[1].decode() if match else "utf-8"
    if name.lower() in _UTF8_NAMES:
        return None, None
    if _ENCODINGS.fullmatch(name):
        return name, None
    return None, "encoding-mismatch"
