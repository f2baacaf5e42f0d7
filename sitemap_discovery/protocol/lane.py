"""The fast lane: plain ``<url>`` entries, read by one regular expression at C speed.

Most sitemaps are nothing but thousands of ``<url>`` elements with bare text children. That subset
of XML is regular: no attribute, comment, CDATA section, declaration or reference (but ``&amp;``)
can stand in what the pattern matches, and the window is looked over for every character that may
not stand in text at all. What the pattern does not match from where the last entry ended is left
to the strict parser, so the lane never skips or guesses; a property test holds both to the same
answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from sitemap_discovery.protocol.repair import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

END: Final = b"</url>"
_BLANK: Final = r"[ \t\r\n]*"
_FIELD: Final = "(?:<{0}>([^<]{{0,8192}})</{0}>" + _BLANK + ")?"
_FIELDS: Final = (
    rf"<url>{_BLANK}<loc>([^<]{{0,8192}})</loc>{_BLANK}"
    + _FIELD.format("lastmod")
    + _FIELD.format("changefreq")
    + _FIELD.format("priority")
)
_IMAGES: Final = (
    rf"((?:<image:image>{_BLANK}"
    rf"(?:<image:((?!image>)[a-z_]+)>[^<]{{0,8192}}</image:\6>{_BLANK})*"
    rf"</image:image>{_BLANK})*)"
)
_END_OR_REST: Final = rf"</url>{_BLANK}|([\s\S]+)"
_ENTRY: Final = re.compile(_FIELDS + _END_OR_REST)
_ENTRY_WITH_IMAGES: Final = re.compile(_FIELDS + _IMAGES + _END_OR_REST)

_CONTROLS: Final = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)])
"""Bytes that are no XML character (XML 1.0 production 2)."""

_NEVER_PLAIN: Final = re.compile(
    rb"&(?!amp;)(?:#[0-9]+;|#[xX][0-9A-Fa-f]+;|[A-Za-z][A-Za-z0-9]{0,31};)"
    rb"|\]\]>|\xef\xbf[\xbe\xbf]"
)
"""References other than ``&amp;``, the end of a CDATA section, U+FFFE and U+FFFF."""

_BARE: Final = re.compile("&(?!amp;)")
"""An ampersand that begins no reference: it is read as what it can only mean, and counted."""

Row = tuple[str, ...]
"""loc, lastmod, changefreq, priority as written ("" when absent), with images their elements and
a name of no use, and last what is left unread."""


class Lane(NamedTuple):
    """Rows read from the head of a window and how many of its bytes they took; whether ``&amp;``
    may stand in them, how many bare ampersands do and where about the first is; whether what stands
    for an unreadable byte may."""

    rows: Sequence[Row]
    size: int
    escaped: bool = False
    bare: int = 0
    first_bare: int = 0
    unreadable: bool = False


def read_lane(window: bytes, *, images: bool = False) -> Lane:
    """Read plain entries from the start of ``window``, as many as follow one another; with
    ``images``, where the prefix is declared as the protocol has it, such as hold images too.

    >>> lane = read_lane(b"<url><loc>http://a.example/</loc></url><!-- -->")
    >>> len(lane.rows), lane.size
    (1, 39)
    """
    text = _plain(window)
    rows: list[Row] = (_ENTRY_WITH_IMAGES if images else _ENTRY).findall(text)
    if rows and rows[-1][-1]:
        text = text[: len(text) - len(rows.pop()[-1])]
    ascii_only = text.isascii()
    size = len(text) if ascii_only else len(text.encode())
    unreadable = not ascii_only and UNREADABLE in text
    if "&" not in text:
        return Lane(rows, size, unreadable=unreadable)
    first = _BARE.search(text)
    bare = len(_BARE.findall(text)) if first else 0
    return Lane(rows, size, True, bare, first.start() if first else 0, unreadable)


def _plain(window: bytes) -> str:
    """The entries before the first byte that cannot be plain text."""
    if len(window.translate(None, _CONTROLS)) != len(window):
        window = _before(window, next(i for i, byte in enumerate(window) if byte in _CONTROLS))
    if b"&" in window or b"]" in window or not window.isascii():
        never = _NEVER_PLAIN.search(window)
        if never:
            window = _before(window, never.start())
    try:
        return window.decode()
    except UnicodeDecodeError as error:
        return _before(window, error.start).decode()


def _before(window: bytes, at: int) -> bytes:
    return window[: window.rfind(END, 0, at) + len(END)] if END in window[:at] else b""
