"""The names sitemaps are written in: namespaces, elements, and which of them hold an entry."""

from __future__ import annotations

from typing import Final, NamedTuple

SITEMAP_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"

NAMESPACES: Final[dict[str, str]] = {
    SITEMAP_NAMESPACE: "",
    "http://www.google.com/schemas/sitemap-news/0.9": "news",
    "http://www.google.com/schemas/sitemap-image/1.1": "image",
    "http://www.google.com/schemas/sitemap-video/1.1": "video",
    "http://www.google.com/schemas/sitemap-pagemap/1.0": "pagemap",
    "http://www.google.com/schemas/sitemap-mobile/1.0": "mobile",
    "http://www.w3.org/1999/xhtml": "xhtml",
    "http://www.w3.org/2005/Atom": "atom",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/rss/1.0/": "",
    "http://my.netscape.com/rdf/simple/0.9/": "",
}
"""Namespace name to the prefix its documentation uses; the protocol's own elements have none."""

FAMILY_MARKS: Final = (
    ("sitemap-news", "news"),
    ("sitemap-image", "image"),
    ("sitemap-video", "video"),
    ("sitemap-pagemap", "pagemap"),
    ("sitemap-mobile", "mobile"),
    ("/xhtml", "xhtml"),
    ("sitemaps.org/schemas/sitemap", ""),
    ("google.com/schemas/sitemap", ""),
)
"""Marks by which a namespace name that is none of the official ones is still recognised."""

PREFIX_NAMESPACES: Final = {
    **{prefix: name for name, prefix in NAMESPACES.items() if prefix},
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
}
"""Prefix to the namespace that is meant where a document does not declare it."""

ENTRY_ELEMENTS: Final = {
    "urlset": frozenset({"url", "sitemap"}),
    "index": frozenset({"url", "sitemap"}),
    "rss": frozenset({"item"}),
    "atom": frozenset({"entry"}),
}
"""Kind of document to the elements that are its entries."""

ROOT_KINDS: Final = {
    "urlset": ("urlset", "url"),
    "sitemapindex": ("index", "sitemap"),
    "rss": ("rss", "item"),
    "rdf": ("rss", "item"),
    "feed": ("atom", "entry"),
}
"""Root element (folded) to the kind of document and the entry it is made of."""


class Name(NamedTuple):
    """An element name. ``family`` is the documented prefix ("" for the protocol's own elements),
    or the namespace itself when it is foreign; ``official`` says the namespace was written right;
    ``folded`` is the local name in lower case, as the vocabulary has it.
    """

    family: str
    local: str
    namespace: str
    prefix: str
    official: bool
    folded: str

    @property
    def written(self) -> str:
        """The name as the document spells it."""
        return f"{self.prefix}:{self.local}" if self.prefix else self.local


class NameTable(dict[str, Name]):
    """Expat's ``namespace}local}prefix`` names, resolved once each.

    >>> NameTable()["http://www.sitemaps.org/schemas/sitemap/0.9}url"].family
    ''
    """

    def __init__(self) -> None:
        super().__init__()
        self._own: set[str] = set()

    def adopt(self, namespace: str) -> None:
        """Read a namespace, the root's as a rule, as the protocol's own, whatever it is."""
        self._own.add(namespace)
        self.clear()

    def __missing__(self, text: str) -> Name:
        namespace, local, prefix = _parts(text)
        official = namespace in NAMESPACES
        family = "" if namespace in self._own else _family(namespace)
        name = self[text] = Name(family, local, namespace, prefix, official, local.lower())
        return name


def _parts(text: str) -> tuple[str, str, str]:
    """Namespace, local name and prefix; expat leaves out what is absent."""
    parts = text.split("}")
    if len(parts) == 1:
        return "", text, ""
    return parts[0], parts[1], parts[2] if len(parts) > 2 else ""


def _family(namespace: str) -> str:
    family = NAMESPACES.get(namespace)
    if family is not None or not namespace:
        return family or ""
    folded = namespace.strip().rstrip("/").lower()
    for mark, known in FAMILY_MARKS:
        if mark in folded:
            return known
    return namespace
