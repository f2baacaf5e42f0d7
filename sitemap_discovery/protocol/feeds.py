"""RSS and Atom entries: which address is the page's, and which dates the feed gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_discovery.protocol.node import Node

FEED_DATES: Final = frozenset({"pubdate", "date", "published", "updated", "modified", "issued"})
"""Date elements of RSS 2.0, Dublin Core and Atom. They are kept apart, under their own names:
when an item was announced is not when its page was modified."""

Entry = tuple[str | None, dict[str, str]]


def read_item(node: Node) -> Entry:
    """An RSS item: its ``link``, else a ``guid`` that is a permalink (RSS 2.0, ``isPermaLink``)."""
    link = guid = None
    for child in node.children:
        name = child.name.folded
        if name == "link" and child.name.family == "" and not link:
            link = child.value() or None
        elif name == "guid" and _attribute(child, "isPermaLink") != "false":
            guid = child.value() or None
    return link or (guid if guid and "://" in guid else None), _dates(node)


def read_atom_entry(node: Node) -> Entry:
    """An Atom entry: its first ``link`` that is alternate, by name or by having no ``rel``
    (RFC 4287 4.2.7)."""
    links: dict[str, str] = {}
    for child in node.children:
        href = _attribute(child, "href")
        if child.name.folded == "link" and href:
            links.setdefault(_attribute(child, "rel") or "alternate", href)
    return links.get("alternate"), _dates(node)


FEED_ENTRIES: Final[dict[str, Callable[[Node], Entry]]] = {
    "item": read_item,
    "entry": read_atom_entry,
}


def _dates(node: Node) -> dict[str, str]:
    return {
        child.name.local: child.value()
        for child in node.children
        if child.name.folded in FEED_DATES and child.value()
    }


def _attribute(node: Node, name: str) -> str | None:
    pairs = iter(node.attributes)
    return dict(zip(pairs, pairs)).get(name)
