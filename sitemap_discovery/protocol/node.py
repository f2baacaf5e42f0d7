"""An element of an entry while it is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_discovery.protocol.guards import MAX_TEXT

if TYPE_CHECKING:
    from sitemap_discovery.protocol.vocabulary import Name


class Node:
    """An open element: its name, attributes (flat pairs), text pieces and closed children."""

    __slots__ = ("attributes", "broken", "children", "length", "name", "text")

    def __init__(self, name: Name, attributes: list[str]) -> None:
        self.name = name
        self.attributes = attributes
        self.text: list[str] = []
        self.length = 0
        self.children: list[Node] = []
        self.broken = False

    def value(self) -> str:
        """The element's own text, trimmed; empty when it could not be kept whole."""
        whole = self.length <= MAX_TEXT and not self.broken
        return "".join(self.text).strip() if whole else ""
