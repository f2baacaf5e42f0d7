"""Repairs of one broken entry that keep what the site meant and change nothing else."""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings

_REFERENCE: Final = re.compile(
    r"&(#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{0,31};)?"
)
_BARE_LESS_THAN: Final = re.compile(r"<(?![A-Za-z_/!?])")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_XML_ENTITIES: Final = {"amp;", "lt;", "gt;", "quot;", "apos;"}
UNREADABLE: Final = "\ufffd"
"""Stands for a byte that is no character: a loc that holds it is dropped, other text loses it."""


def repaired(entry: bytes, findings: Findings, line: int) -> bytes:
    """``entry`` with its repairable faults mended, each counted; the same bytes when none is.

    Mended: a bare ``&`` or ``<``, the named entities of HTML, control characters, bytes that are no
    UTF-8.
    """
    text = entry.decode("utf-8", "replace")
    if UNREADABLE in text and UNREADABLE.encode() not in entry:
        findings.add("bad-encoding", line=line)
    text, controls = _CONTROL.subn(UNREADABLE, text)
    if controls:
        findings.add("control-character", controls, line=line)
    text, angles = _BARE_LESS_THAN.subn("&lt;", text)
    if angles:
        findings.add("bare-less-than", angles, line=line)
    return _REFERENCE.sub(lambda match: _reference(match, findings, line), text).encode()


def _reference(match: re.Match[str], findings: Findings, line: int) -> str:
    name = match[1]
    if name is None:
        findings.add("bare-ampersand", line=line)
        return "&amp;"
    if name in _XML_ENTITIES:
        return match[0]
    if name.startswith("#"):
        return match[0] if _is_character(name) else UNREADABLE
    character = html5.get(name)
    if character is None:
        findings.add("bare-ampersand", line=line)
        return "&amp;" + name
    findings.add("html-entity", line=line, example=match[0])
    return "".join(f"&#{ord(part)};" for part in character)


def _is_character(reference: str) -> bool:
    """Whether a numeric reference names an XML 1.0 character (production 2)."""
    digits = reference[1:-1]
    code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    return (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )
