"""The strict parser's handlers: elements in, complete entries out."""

from __future__ import annotations

from html.entities import html5
from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.guards import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_TEXT,
    XmlFault,
)
from sitemap_discovery.protocol.node import Node
from sitemap_discovery.protocol.vocabulary import ENTRY_ELEMENTS, ROOT_KINDS, Name, NameTable

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector

NOT_CLOSED: Final = "entry-not-closed"
SITEMAP_KINDS: Final = frozenset({"urlset", "index"})
HTML_ROOTS: Final = {"html", "head", "body"}

Wrapper = tuple[str, tuple[tuple[str, str], ...]]
"""An open element around entries: its name as written and the namespaces it declares."""


class EntryBuilder:
    """Build entries from parser events and give each to the collector at its closing tag.

    ``path`` holds the elements that are open around entries, the root first. ``entry_start`` is
    the parser's byte index of the open entry and ``entry_index`` that where the last one, or
    an element around them, began; ``root_start`` and ``root_end`` are the indices of the
    root's tags.
    """

    def __init__(self, collector: Collector, findings: Findings) -> None:
        self.kind: str | None = None
        self.root: Wrapper | None = None
        self.entry_tags: set[bytes] = set()
        self.close_tag = b""
        self._collector = collector
        self._findings = findings
        self._names = NameTable()
        self._elements = 0
        self._entry_elements: frozenset[str] = frozenset()
        self._entry_name: Name | None = None  # of the last entry

    def attach(self, parser: XMLParserType) -> None:
        """Listen to a fresh parser."""
        self.path: tuple[Wrapper, ...] = ()
        self.in_cdata = False
        self.entry_start: int | None = None
        self.entry_index = 0
        self.root_end: int | None = None
        self.root_start: int | None = None
        self._entry_begun = 0
        self._entry_end: int | None = None
        self._stack: list[Node] = []
        self._spaces: list[tuple[str, str]] = []
        self._parser = parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartNamespaceDeclHandler = self._declare
        parser.StartCdataSectionHandler = self._open_cdata
        parser.EndCdataSectionHandler = self._close_cdata
        parser.SkippedEntityHandler = self._skipped

    @property
    def between_entries(self) -> bool:
        """Whether the parser stands inside the root, outside of any entry."""
        return bool(self.path) and self.entry_start is None and not self.in_cdata

    @property
    def root_name(self) -> str:
        """The root's name as written."""
        return self.root[0] if self.root else ""

    @property
    def root_tag(self) -> bytes:
        """The root's name, folded."""
        return self.root_name.lower().encode()

    @property
    def entry_name(self) -> bytes:
        """The name of the entry that is open, folded."""
        return self._stack[0].name.written.lower().encode() if self._stack else b""

    def stand(self, index: int) -> None:
        """Nothing is open but ``path`` at ``index``: reading can begin again there."""
        self._entry_end = self.root_start = None
        self._stood = index
        self._outside = self.path

    def resume(self) -> tuple[int, int | None, tuple[Wrapper, ...]]:
        """Where reading can begin again and inside of which elements: at an index, or behind the
        element that begins there and whose end was met at a second one."""
        if self.entry_start is not None:
            return self.entry_start, None, self.path
        if self._entry_end is not None:
            return self._entry_begun, self._entry_end, self._outside
        return self._stood, None, self._outside

    def close_root(self) -> None:
        """Read the root as closed, though its closing tag could not be parsed."""
        self.path, self.root_end = (), 0

    # -- handlers, once an element: the shortest way for the common case -----------------------

    def _start(self, text: str, attributes: list[str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise XmlFault("too-many-elements")
        if len(attributes) > 2 * MAX_ATTRIBUTES:
            raise XmlFault("too-many-attributes")
        name = self._names[text]
        depth = len(self._stack)
        if depth + len(self.path) >= MAX_DEPTH:
            raise XmlFault("too-deep")
        if depth and (not self._opens_entry(name) or self._stack[-1].name.folded == "loc"):
            self._stack.append(Node(name, attributes))
        else:
            self._start_outside(name, attributes)

    def _end(self, _: str) -> None:
        if not self._stack:
            self.path = self.path[:-1]
            if not self.path:
                self.root_end = self._parser.CurrentByteIndex
            return
        node = self._stack.pop()
        if self._stack:
            self._stack[-1].children.append(node)
        else:
            self._entry_begun, self.entry_start = self.entry_start or 0, None
            self._entry_end, self._outside = self._parser.CurrentByteIndex, self.path
            if node.name.local != node.name.folded:
                self._findings.add("odd-case", example=node.name.local)
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
        return name.family == "" and name.folded in self._entry_elements

    def _start_outside(self, name: Name, attributes: list[str]) -> None:
        """An element that is not inside an entry: one itself, the root, or what is around."""
        self.entry_index = self._parser.CurrentByteIndex
        if self.path and (self._opens_entry(name) or self._is_foreign_entry(name)):
            self._open_entry(name, attributes)
            return
        wrapper = name.written, tuple(self._spaces)
        self._spaces.clear()
        if not self.path:
            self._open_root(name, wrapper[1])
            self.root, self.root_start = wrapper, self._parser.CurrentByteIndex
        self.path = (*self.path, wrapper)

    def _is_foreign_entry(self, name: Name) -> bool:
        """Whether an entry stands in a namespace that no documentation knows; it is read then."""
        if (
            name.family != name.namespace
            or self.kind not in SITEMAP_KINDS
            or name.folded not in self._entry_elements
        ):
            return False
        self._findings.add("odd-namespace", example=name.namespace)
        self._names.adopt(name.namespace)
        return True

    def _open_entry(self, name: Name, attributes: list[str]) -> None:
        if self._stack:
            raise XmlFault(NOT_CLOSED)
        self._stack.append(Node(name, attributes))
        self._spaces.clear()
        self.entry_start = self.entry_index
        if name is not self._entry_name:
            self._entry_name = name
            self.entry_tags.add(name.written.lower().encode())

    def _open_root(self, name: Name, spaces: tuple[tuple[str, str], ...]) -> None:
        if name.folded in HTML_ROOTS:
            raise XmlFault("html-page")
        if name.folded not in ROOT_KINDS:
            raise XmlFault("not-a-sitemap")
        kind, entry = ROOT_KINDS[name.folded]
        self._entry_elements = ENTRY_ELEMENTS[kind]
        self._names.adopt(name.namespace)
        if self.root is None and not name.official and kind in SITEMAP_KINDS:
            self._findings.add("odd-namespace" if name.namespace else "no-namespace")
        prefix = f"{name.prefix}:" if name.prefix and kind != "rss" else ""
        self.kind = self.kind or kind
        self.close_tag = f"</{prefix}{entry}>".encode()
        same = {prefix for prefix, namespace in spaces if namespace == name.namespace}
        for prefix in {"", name.prefix, *same}:
            head = f"{prefix.lower()}:" if prefix else ""
            self.entry_tags.update(f"{head}{entry}".encode() for entry in self._entry_elements)

    def _declare(self, prefix: str | None, namespace: str | None) -> None:
        if not self._stack:
            self._spaces.append((prefix or "", namespace or ""))

    def _open_cdata(self) -> None:
        self.in_cdata = True

    def _close_cdata(self) -> None:
        self.in_cdata = False

    def _skipped(self, name: str, is_parameter_entity: int) -> None:
        """An entity that an external DTD may define: only those of HTML are known."""
        if not self._stack or is_parameter_entity:
            return
        character = html5.get(f"{name};")
        if character is None:
            self._stack[-1].broken = True
            self._findings.add("undefined-entity", example=name)
        else:
            self._findings.add("html-entity", example=f"&{name};")
            self._text(character)
