"""An expat parser under defusedxml's guards and our bounds: the only XML parser of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from defusedxml.common import EntitiesForbidden, ExternalReferenceForbidden
from defusedxml.ElementTree import DefusedXMLParser

from sitemap_discovery.protocol.codes import ReadFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.parsers.expat import XMLParserType

MAX_TOKEN: Final = 262_144
"""Bytes of one unfinished token; older expat re-reads it at each feed (CVE-2023-52425)."""

MAX_DEPTH: Final = 32
MAX_ATTRIBUTES: Final = 256
MAX_NAMES: Final = 4_096
MAX_ELEMENTS: Final = 2_000_000
MAX_TEXT: Final = 8_192
"""Characters of one element's text; a longer one is dropped while it comes in."""

FEED: Final = 65_536
"""Bytes given to expat at a time."""


class XmlFault(ReadFault):
    """The document breaks a guard or a bound."""


GUARD_CODES: Final[dict[type[Exception], str]] = {
    EntitiesForbidden: "entity-declaration",
    ExternalReferenceForbidden: "external-reference",
}


def guarded_parser(on_doctype: Callable[[str, str | None], None]) -> XMLParserType:
    """An expat parser of UTF-8 that refuses entities, external references and attribute lists.

    Attribute lists are refused as their defaults multiply: a few bytes give gigabytes. Names come
    as ``namespace}local}prefix``, without the last part where there is no prefix. ``on_doctype`` is
    given the document type's name and its system identifier.
    """
    defused = DefusedXMLParser(
        encoding="utf-8", forbid_dtd=False, forbid_entities=True, forbid_external=True
    )
    parser: XMLParserType = defused.parser
    parser.DefaultHandlerExpand = None
    parser.CommentHandler = parser.ProcessingInstructionHandler = None
    parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
    parser.AttlistDeclHandler = _refuse_declaration
    parser.StartDoctypeDeclHandler = lambda name, system, *_: on_doctype(name, system)
    parser.buffer_text = True
    parser.ordered_attributes = True
    parser.namespace_prefixes = True
    if hasattr(parser, "SetReparseDeferralEnabled"):  # MAX_TOKEN bounds what deferral is for
        parser.SetReparseDeferralEnabled(False)
    return parser


def _refuse_declaration(*_: object) -> NoReturn:
    raise XmlFault("dtd-declaration")
