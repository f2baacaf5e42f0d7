"""Where the tags of broken XML stand: a lexer that never takes quoted or commented text for one.

A strict parser stops at the first fault. To find where the next whole entry begins, what comes
before it must still be read as XML is: a ``<url>`` in a comment, a CDATA section or an attribute is
no entry. The lexer knows that much and no more; what it finds goes to the strict parser.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TAG: Final = 16_384
"""Bytes within which a tag must end; a ``<`` whose tag does not is read as text."""

_NAME: Final = rb"[A-Za-z_\x80-\xff][\w.:\-\x80-\xff]*"
_MARKUP: Final = re.compile(rb"<(?=[A-Za-z_/!?\x80-\xff])")
_TAG: Final = re.compile(rb"<(/?)(" + _NAME + rb")")
_UNQUOTED: Final = re.compile(rb"[^<>\"']*>")
_VALUE: Final = rb"""(?:"[^"]{0,8192}"|'[^']{0,8192}'|[^\s<>"'=]+)"""
_QUOTED: Final = re.compile(
    rb"(?:\s*(?<=[\s\"'])" + _NAME + rb"(?:\s*=\s*" + _VALUE + rb")?)*\s*/?>"
)
_ANY_END: Final = re.compile(rb"[^<>]*>")
_DOCTYPE: Final = re.compile(rb"<!DOCTYPE\b[^\[>]*(?:\[[\s\S]*?\]\s*)?>")

_SECTIONS: Final = (
    (b"<!--", b"-->", "comment"),
    (b"<![CDATA[", b"]]>", "cdata"),
    (b"<?", b"?>", "pi"),
)


class Token(NamedTuple):
    """A piece of markup at ``[start, stop)``.

    ``kind`` is ``open``, ``close`` or ``empty`` for tags, whose ``name`` is as written;
    ``comment``, ``cdata``, ``pi``, ``doctype``; ``bare`` for a ``<`` that begins none of them; and
    last, where the bytes end, ``rest``: what begins there is not whole.
    """

    kind: str
    start: int
    stop: int
    name: bytes = b""


def tokens(data: bytes, at: int = 0, *, final: bool = True) -> Iterator[Token]:
    """The markup of ``data`` from ``at``, which must lie outside of any; text is left out.

    The tokens do not depend on how the bytes came in: what may yet go on is a ``rest`` unless
    ``final``.

    >>> [token.kind for token in tokens(b"<a b='>'><!-- <c> --></a> <d")]
    ['open', 'comment', 'close', 'rest']
    """
    while True:
        found = _MARKUP.search(data, at)
        if found is None:
            cut = not final and data.endswith(b"<", at)
            yield Token("rest", len(data) - cut, len(data))
            return
        token = _token(data, found.start(), final=final)
        yield token
        if token.kind == "rest":
            return
        at = token.stop


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
    doctype = _DOCTYPE.match(data, start, start + MAX_TAG)
    if doctype:
        return Token("doctype", start, doctype.end())
    return Token("rest", start, len(data)) if short else Token("bare", start, start + 2)


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
    cut = len(data) < limit and b"<" not in data[start + 1 :] and b">" not in data[start + 1 :]
    return Token("rest", start, len(data)) if short or cut else Token("bare", start, start + 1)
