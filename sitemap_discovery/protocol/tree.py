"""The strict parser's handlers: elements in, complete entries out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.details import Node, add_child
from sitemap_discovery.protocol.guards import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_NAMES,
    MAX_TEXT,
    XmlFault,
)
from sitemap_discovery.protocol.vocabulary import ENTRY_ELEMENTS, ROOT_KINDS, Name, NameTable

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector

NOT_CLOSED: Final = "entry-not-closed"
SITEMAP_KINDS: Final = frozenset({"urlset", "index"})
HTML_ROOTS: Final = {"html", "head", "body"}


class EntryBuilder:
    """Build entries from parser events and give each to the collector at its closing tag."""

    def __init__(self, collector: Collector, findings: Findings) -> None:
        self.kind: str | None = None
        self.root_name = ""
        self.root_closed = False
        self.close_tag = b""
        self._collector = collector
        self._findings = findings
        self._names = NameTable()
        self._elements = 0
        self._entry_elements: frozenset[str] = frozenset()
        self._reset()

    def _reset(self) -> None:
        self._depth = 0
        self._entry: Node | None = None
        self._entry_depth = 0
        self._stack: list[Node] = []
        self._in_cdata = False
        self.root_closed = False
        self.entry_start: int | None = None
        self.next_start: int | None = None

    def attach(self, parser: XMLParserType) -> None:
        """Listen to a fresh parser."""
        self._reset()
        self._parser = parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartCdataSectionHandler = self._open_cdata
        parser.EndCdataSectionHandler = self._close_cdata
        parser.SkippedEntityHandler = self._skipped

    @property
    def entry_is_open(self) -> bool:
        """Whether a fault now would be inside an entry."""
        return self._entry is not None

    @property
    def between_entries(self) -> bool:
        """Whether the parser stands directly inside the root, outside of any entry."""
        return self._depth == 1 and not self._in_cdata and self._entry is None

    def check_bounds(self) -> None:
        """Refuse documents with ever-new names; looked at once a piece, not once a name."""
        if len(self._parser.intern) > MAX_NAMES:
            raise XmlFault("too-many-names")

    # -- handlers, once an element: the shortest way for the common case -----------------------

    def _start(self, text: str, attributes: list[str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > MAX_DEPTH:
            raise XmlFault("too-deep")
        if self._elements > MAX_ELEMENTS:
            raise XmlFault("too-many-elements")
        if len(attributes) > 2 * MAX_ATTRIBUTES:
            raise XmlFault("too-many-attributes")
        name = self._names[text]
        if self._stack and not (len(self._stack) == 1 and self._opens_entry(name)):
            self._stack.append(Node(name, attributes))
        elif self._depth == 1:
            self._open_root(name)
        elif self._opens_entry(name):
            self._open_entry(name, attributes)

    def _end(self, _: str) -> None:
        self._depth -= 1
        if not self._stack:
            self.root_closed = self._depth == 0
            return
        node = self._stack.pop()
        if self._stack:
            add_child(self._stack[-1], node)
        else:
            self._entry = self.entry_start = None
            self._collector.add_entry(node)

    def _text(self, text: str) -> None:
        if not self._stack:
            return
        node = self._stack[-1]
        node.length += len(text)
        if node.length <= MAX_TEXT:
            node.text.append(text)

    # -- less common ---------------------------------------------------------------------------

    def _opens_entry(self, name: Name) -> bool:
        return name.family == "" and name.local in self._entry_elements

    def _open_entry(self, name: Name, attributes: list[str]) -> None:
        if self._entry is not None:
            self.next_start = self._parser.CurrentByteIndex
            raise XmlFault(NOT_CLOSED)
        self._entry = Node(name, attributes)
        self._stack = [self._entry]
        self.entry_start = self._parser.CurrentByteIndex

    def _open_root(self, name: Name) -> None:
        if self.kind is not None:
            return
        local = name.local.lower()
        if local in HTML_ROOTS:
            raise XmlFault("html-page")
        if local not in ROOT_KINDS:
            raise XmlFault("not-a-sitemap")
        self.kind, entry = ROOT_KINDS[local]
        self.root_name = name.written
        self._entry_elements = ENTRY_ELEMENTS[self.kind]
        self._names.adopt(name.namespace)
        if not name.official and self.kind in SITEMAP_KINDS:
            self._findings.add("odd-namespace" if name.namespace else "no-namespace")
        prefix = f"{name.prefix}:" if name.prefix and self.kind in SITEMAP_KINDS else ""
        self.close_tag = f"</{prefix}{entry}>".encode()

    def _open_cdata(self) -> None:
        self._in_cdata = True

    def _close_cdata(self) -> None:
        self._in_cdata = False

    def _skipped(self, name: str, is_parameter_entity: int) -> None:
        if self._stack and not is_parameter_entity:
            self._stack[-1].broken = True
            self._findings.add("undefined-entity", example=name)
