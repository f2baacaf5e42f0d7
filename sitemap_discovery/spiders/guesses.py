"""Where sitemaps are looked for when robots.txt names none, and under which other names a site."""

from __future__ import annotations

import ipaddress
import re
from collections import deque
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from parsel import Selector
from w3lib.html import get_base_url

from sitemap_discovery.items import FoundFile
from sitemap_discovery.protocol.urls import judge_loc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FIRST_PATH: Final = "/sitemap.xml"
KNOWN_PATHS: Final = (
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/wp-sitemap.xml",
    "/sitemap.xml.gz",
    "/sitemap_index.xml.gz",
    "/sitemap-index.xml.gz",
    "/sitemaps.xml",
    "/sitemap1.xml",
    "/sitemap/index.xml",
    "/sitemap/sitemap.xml",
    "/sitemap/sitemap-index.xml",
    "/sitemap.txt",
    "/sitemap.php",
    "/sitemap",
    "/.sitemap.xml",
    "/sitemap-news.xml",
    "/sitemap_news.xml",
    "/sitemap-news.xml.gz",
    "/sitemap_news.xml.gz",
    "/admin/config/search/xmlsitemap",
)
"""Tried after :data:`FIRST_PATH`, the commonest first."""

GUESSED: Final = frozenset({"known-path", "inventory"})
"""Ways to find a file that prove nothing: the site does not name it."""

QUIET: Final = re.compile(
    r"http-4(?!29)\d\d|html-page|login-page|soft-404|not-a-sitemap|empty-body|duplicate-file"
    r"|redirect-.*|robots-(?:disallowed|unreachable)|(?:scheme|address|port)-refused"
)
"""Reasons by which a guess was simply wrong; any other says that the site is in trouble."""

NO_ANSWER: Final = frozenset({"dns-failure", "connection-refused", "connection-lost", "timeout"})
"""Reasons by which nothing answers at an address, so that another form of it is tried."""

MAX_PAGE: Final = 524_288
"""Bytes of a home page that are looked through for a link."""

_LINK: Final = re.compile(r"<([^<>]*)>((?:\s*;[^;,<>]*)*)")
_IS_SITEMAP: Final = re.compile(r"""rel\s*=\s*["']?(?:[\w-]+\s+)*sitemap\b""", re.IGNORECASE)


class Guess(NamedTuple):
    """One step: ask for ``url``, which is a file to read, a ``home`` page or a ``made-up`` name."""

    kind: str
    url: str

    @property
    def file(self) -> FoundFile:
        """The file that is asked for."""
        return FoundFile(self.url, self.kind)


@dataclass
class Guesses:
    """The addresses tried for one site, one after another, until one is a sitemap.

    ``proven`` are addresses that were one in an earlier run. ``made_up`` is the digest of the page
    that answers to a name that cannot exist, if one does.
    """

    root: str
    proven: Iterable[str] = ()
    made_up: bytes | None = None
    _left: deque[Guess] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._left.extend(Guess("inventory", url) for url in self.proven)
        self._left.append(Guess("known-path", self.root + FIRST_PATH))
        self._left.append(Guess("home", self.root + "/"))
        name = blake2b(self.root.encode(), digest_size=8).hexdigest()
        self._left.append(Guess("made-up", f"{self.root}/{name}/sitemap.xml"))
        self._left.extend(Guess("known-path", self.root + path) for path in KNOWN_PATHS)

    def next(self) -> Guess | None:
        """The next address, ``None`` when all were tried."""
        return self._left.popleft() if self._left else None

    def is_made_up(self, body: bytes) -> bool:
        """Whether a body is the one that answers to any name."""
        return self.made_up is not None and sha256(body).digest() == self.made_up


def linked_sitemaps(page: str, url: str) -> list[str]:
    """The addresses of ``<link rel="sitemap">`` in an HTML page at ``url``.

    >>> linked_sitemaps('<link rel="sitemap" href="/s.xml">', "https://a.example/")
    ['https://a.example/s.xml']
    """
    page = page[:MAX_PAGE]
    links = Selector(text=page or " ").xpath("//link[@href]")
    hrefs = [
        link.attrib["href"]
        for link in links
        if "sitemap" in link.attrib.get("rel", "").lower().split()
    ]
    return list(_resolved(hrefs, get_base_url(page, url)))


def header_sitemaps(values: Iterable[str], url: str) -> list[str]:
    """The addresses that ``Link`` headers with ``rel=sitemap`` give (RFC 8288).

    >>> header_sitemaps(['</s.xml>; rel="sitemap", </x>; rel=next'], "https://a.example/")
    ['https://a.example/s.xml']
    """
    found = [
        match[1]
        for value in values
        for match in _LINK.finditer(value)
        if _IS_SITEMAP.search(match[2])
    ]
    return list(_resolved(found, url))


def _resolved(texts: Iterable[str], base: str) -> Iterator[str]:
    for text in texts:
        url, _ = judge_loc(text, base)
        if url is not None:
            yield url


def variants(root: str) -> list[str]:
    """Other addresses that the same site may answer at: with or without ``www.``, http for https.

    None for an address with a port or a number for a host: those are meant as they are.

    >>> variants("https://example.com")
    ['https://www.example.com', 'http://example.com', 'http://www.example.com']
    """
    parts = urlsplit(root)
    host = parts.hostname or ""
    if parts.port or "." not in host or _is_number(host):
        return []
    other = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    scheme = "http" if parts.scheme == "https" else "https"
    return [f"{parts.scheme}://{other}", f"{scheme}://{host}", f"{scheme}://{other}"]


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
