"""Where the tags of broken XML stand: a lexer that never takes quoted or commented text for one.

A strict parser stops at the first fault. To find where the next whole entry begins, what comes
before it must still be read as XML is: a ``<url>`` in a comment, a CDATA section or an attribute is
no entry. The lexer knows that much and no more; what it finds goes to the strict parser.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from sitemap_discovery.protocol.guards import MAX_TOKEN, XmlFault

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TAG: Final = MAX_TOKEN
"""Bytes within which a tag must end, as for the strict parser; a ``<`` whose tag does not is read
as text."""

MAX_DOCTYPE: Final = 16_384
"""Bytes within which a document type must end."""

MAX_BARE: Final = 10_000
"""``<`` that begin no markup in one file, before it is taken for no XML at all."""

MAX_WORK: Final = 50_000_000
"""Bytes looked at in vain behind such ``<``; the same holds then."""

_NAME_START: Final = rb"(?!\xef\xbf\xbd)[A-Za-z_\xc2-\xf4]"
"""What begins a name: not what stands for a byte that was no character."""

_NAME: Final = _NAME_START + rb"[\w.:\-\x80-\xff\x00-\x08\x0b\x0c\x0e-\x1f]*"
"""A name; what XML cannot hold is part of one, as it is once it was mended."""

_MARKUP: Final = re.compile(rb"<(?=[!?]|/?" + _NAME_START + rb")")
_CUT: Final = re.compile(rb"</?\Z")
_TAG: Final = re.compile(rb"<(/?)(" + _NAME + rb")")
_UNQUOTED: Final = re.compile(rb"[^<>\"']*>")
_VALUE: Final = rb"""(?:"[^"]*"|'[^']*'|[^\s<>"'=]+)"""
_QUOTED: Final = re.compile(
    rb"(?:\s*(?<=[\s\"'])" + _NAME + rb"(?:\s*=\s*" + _VALUE + rb")?)*\s*/?>"
)
_TO_QUOTE: Final = re.compile(rb"[^<>\"']*[\"']")
_ANY_END: Final = re.compile(rb"[^<>]*>")
_LITERAL: Final = rb"""|"[^"]*"|'[^']*'"""
_DOCTYPE: Final = re.compile(
    rb"<!DOCTYPE\b(?:[^\[<>\"']" + _LITERAL + rb")*"
    rb"(?:\[(?:[^\]<\"']" + _LITERAL + rb"|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(?!!--|\?))*\]\s*)?>"
)
"""A document type with its internal subset (XML 1.0 production 28)."""

_SECTIONS: Final = (
    (b"<!--", b"-->", "comment"),
    (b"<![CDATA[", b"]]>", "cdata"),
    (b"<?", b"?>", "pi"),
)


class Token(NamedTuple):
    """A piece of markup at ``[start, stop)``.

    ``kind`` is ``open``, ``close`` or ``empty`` for tags, whose ``name`` is as written;
    ``comment``, ``cdata``, ``pi``, ``doctype``; ``bare`` for a ``<`` that begins none of them; and
    last, where the bytes end, ``rest``: what begins there is not whole. ``work`` is how many bytes
    behind a ``bare`` one were looked at for the end of a tag.
    """

    kind: str
    start: int
    stop: int
    name: bytes = b""
    work: int = 0


def tokens(data: bytes, at: int = 0, *, final: bool = True) -> Iterator[Token]:
    """The markup of ``data`` from ``at``, which must lie outside of any; text is left out.

    The tokens do not depend on how the bytes came in: what may yet go on is a ``rest`` unless
    ``final``. Raises :class:`XmlFault` when there are too many bare ``<``.

    >>> [token.kind for token in tokens(b"<a b='>'><!-- <c> --></a> <d")]
    ['open', 'comment', 'close', 'rest']
    """
    bare = work = 0
    while True:
        found = _MARKUP.search(data, at)
        if found is None:
            cut = None if final else _CUT.search(data, at)
            yield Token("rest", cut.start() if cut else len(data), len(data))
            return
        token = _token(data, found.start(), final=final)
        yield token
        if token.kind == "rest":
            return
        at = token.stop
        if token.kind == "bare":
            bare, work = bare + 1, work + token.work
            if bare > MAX_BARE or work > MAX_WORK:
                raise XmlFault("not-well-formed")


def local_name(token: Token) -> str:
    """A tag's name without its prefix, folded."""
    return token.name.rpartition(b":")[2].lower().decode("utf-8", "replace")


def _token(data: bytes, start: int, *, final: bool) -> Token:
    for opening, closing, kind in _SECTIONS:
        if data.startswith(opening, start):
            stop = data.find(closing, start + len(opening))
            if stop < 0:
                return Token("rest", start, len(data))
            return Token(kind, start, stop + len(closing))
    short = len(data) - start < MAX_TAG and not final
    if data.startswith(b"<!", start):
        return _declaration(data, start, short=short)
    return _tag(data, start, short=short)


def _declaration(data: bytes, start: int, *, short: bool) -> Token:
    doctype = _DOCTYPE.match(data, start, start + MAX_DOCTYPE)
    if doctype:
        return Token("doctype", start, doctype.end())
    if short:
        return Token("rest", start, len(data))
    slow = 20 * MAX_DOCTYPE if data.startswith(b"<!DOCTYPE", start) else 0
    return Token("bare", start, start + 2, work=slow)


def _tag(data: bytes, start: int, *, short: bool) -> Token:
    head = _TAG.match(data, start)
    limit = start + MAX_TAG
    if head:
        end = _UNQUOTED.match(data, head.end(), limit) or _QUOTED.match(data, head.end(), limit)
        if end or not short:
            end = end or _ANY_END.match(data, head.end(), limit)
            if end:
                empty = data[end.end() - 2] == ord("/")
                kind = "close" if head[1] else "empty" if empty else "open"
                return Token(kind, start, end.end(), head[2])
    tail = data[start + 1 :] if len(data) < limit else b"<"
    if short or (b"<" not in tail and b">" not in tail):
        return Token("rest", start, len(data))
    return Token("bare", start, start + 1, work=_in_vain(data, head, limit))


def _in_vain(data: bytes, head: re.Match[bytes] | None, limit: int) -> int:
    """How far the quotes of a tag that does not end were followed, at most."""
    quoted = head and _TO_QUOTE.match(data, head.end(), limit)
    return min(limit, len(data)) - quoted.end() if quoted else 0
