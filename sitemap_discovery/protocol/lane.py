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

from sitemap_discovery.protocol.repair import UNREADABLE, find_control

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

_REFERENCE: Final = re.compile(
    rb"&(?!amp;)(?:#[0-9]+;|#[xX][0-9A-Fa-f]+;|[A-Za-z][A-Za-z0-9]{0,31};)"
)
"""A reference other than ``&amp;``."""

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
    never = [find_control(window), window.find(b"]]>")]
    if b"&" in window and (reference := _REFERENCE.search(window)):
        never.append(reference.start())
    ends = [at for at in never if at >= 0]
    if ends:
        window = _entries(window[: min(ends)])
    try:
        return window.decode()
    except UnicodeDecodeError as error:
        return _entries(window[: error.start]).decode()


def _entries(head: bytes) -> bytes:
    return head[: head.rfind(END) + len(END)] if END in head else b""
