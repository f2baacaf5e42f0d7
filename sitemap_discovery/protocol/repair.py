"""Repairs of a broken piece of a document that keep what the site meant and change nothing else."""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings

_REFERENCE: Final = re.compile(r"&(#[0-9]+;|#[xX][0-9A-Fa-f]+;|[A-Za-z_:][A-Za-z0-9_:.-]{0,63};)?")
_BARE_LESS_THAN: Final = re.compile("<(?![!?]|/?[A-Za-z_\x80-\ufffc\ufffe-\U0010ffff])")
_XML_ENTITIES: Final = {"amp;", "lt;", "gt;", "quot;", "apos;"}
_SECTION: Final = re.compile(
    rb"(<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<!--|<!\[CDATA\[|<\?)"
)
_OPENINGS: Final = (b"<!--", b"<![CDATA[", b"<?")

_CONTROLS: Final = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)])
_ONE_CONTROL: Final = bytes(0 if byte in _CONTROLS else byte for byte in range(256))
_NO_CHARACTER: Final = re.compile(rb"\xef\xbf[\xbe\xbf]")

UNREADABLE: Final = "\ufffd"
"""Stands for a byte that is no character: a loc that holds it is dropped, other text loses it."""


class Repair:
    """Mend pieces of one document.

    Mended, each counted: a bare ``&`` or ``<``, the named entities of HTML, control characters,
    bytes that are no UTF-8, comments that XML does not allow. What stands in a CDATA section is
    text already; it only loses what is no character.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._line = 1
        self._external_dtd = False

    def mend(self, piece: bytes, *, line: int, external_dtd: bool = False) -> bytes:
        """``piece``, which begins outside of any markup, mended; the same bytes when it is right.

        It keeps its lines. ``line`` is where it begins; with an ``external_dtd`` an unknown entity
        may be defined. What a section that does not end begins is left as it is.
        """
        self._line, self._external_dtd = line, external_dtd
        mended: list[bytes] = []
        has_sections = b"<!" in piece or b"<?" in piece
        parts = iter(_SECTION.split(piece) if has_sections else [piece])
        for text in parts:
            mended.append(self._text(text))
            section = next(parts, b"")
            if section in _OPENINGS:
                return b"".join([*mended, section, *parts])
            mended.append(self._section(section) if section else b"")
        return b"".join(mended)

    def _text(self, piece: bytes) -> bytes:
        """Text and tags."""
        text = _BARE_LESS_THAN.sub(self._less_than, self._characters(piece))
        if "&" in text:
            text = _REFERENCE.sub(self._reference, text)
        self._line += piece.count(b"\n")
        return text.encode()

    def _section(self, piece: bytes) -> bytes:
        """A comment, CDATA section or processing instruction."""
        text = self._characters(piece)
        if piece.startswith(b"<!--") and ("--" in text[4:-3] or text.endswith("--->")):
            self._add("comment-broken", text, 0)
            text = f"<!--{text[4:-3].replace('-', ' ')}-->"
        self._line += piece.count(b"\n")
        return text.encode()

    def _characters(self, piece: bytes) -> str:
        text = piece.decode("utf-8", "replace")
        bad = text.count(UNREADABLE) - piece.count(UNREADABLE.encode()) if not text.isascii() else 0
        if bad:
            self._add("bad-encoding", text, text.index(UNREADABLE), count=bad)
        at = find_control(piece)
        return text if at < 0 else self._without_controls(piece, at).decode("utf-8", "replace")

    def _without_controls(self, piece: bytes, at: int) -> bytes:
        marked = _NO_CHARACTER.sub(b"\0", piece.translate(_ONE_CONTROL))
        line = self._line + piece.count(b"\n", 0, at)
        self._findings.add("control-character", marked.count(b"\0"), line=line)
        return marked.replace(b"\0", UNREADABLE.encode())

    def _less_than(self, match: re.Match[str]) -> str:
        self._add("bare-less-than", match.string, match.start())
        return "&lt;"

    def _reference(self, match: re.Match[str]) -> str:
        name = match[1]
        if name in _XML_ENTITIES:
            return match[0]
        if name and name[0] == "#":
            return match[0] if _is_character(name) else self._unreadable(match)
        character = html5.get(name) if name else None
        if character:
            self._add("html-entity", match.string, match.start(), example=match[0])
            return "".join(map(_written, character))
        if name and self._external_dtd:
            return match[0]
        self._add("bare-ampersand", match.string, match.start())
        return f"&amp;{name or ''}"

    def _unreadable(self, match: re.Match[str]) -> str:
        self._add("control-character", match.string, match.start())
        return UNREADABLE

    def _add(
        self, code: str, text: str, at: int, *, count: int = 1, example: str | None = None
    ) -> None:
        first = self._findings.wants_line(code, self._line)
        line = self._line + text.count("\n", 0, at) if first else None
        self._findings.add(code, count, line=line, example=example)


def find_control(piece: bytes) -> int:
    """Where UTF-8 first holds what is no XML character (XML 1.0 production 2), -1 if nowhere."""
    at = piece.translate(_ONE_CONTROL).find(b"\0")
    found = _NO_CHARACTER.search(piece, 0, len(piece) if at < 0 else at)
    return found.start() if found else at


def _written(character: str) -> str:
    """A character as it may stand in text and attributes."""
    return f"&#{ord(character)};" if character in "&<>\"'\t\n\r" else character


def _is_character(reference: str) -> bool:
    """Whether a numeric reference names an XML 1.0 character (production 2)."""
    digits, base = (reference[2:-1], 16) if reference[1] in "xX" else (reference[1:-1], 10)
    significant = digits.lstrip("0")
    if not significant or len(significant) > 7:
        return False
    code = int(significant, base)
    return (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )
