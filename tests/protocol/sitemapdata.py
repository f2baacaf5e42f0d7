"""Small sitemaps to break: built here so that a test shows its own fault."""

from __future__ import annotations

from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.reader import Outcome, SitemapReader

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NS}>\n'.encode()
TAIL = b"</urlset>\n"
BASE = "https://www.example.com/sitemap.xml"


def loc(number: int) -> str:
    return f"https://www.example.com/page-{number}.html"


def entry(number: int, inside: str = "") -> bytes:
    return f"<url>\n  <loc>{loc(number)}</loc>{inside}\n</url>\n".encode()


def urlset(*entries: bytes) -> bytes:
    """A document; without arguments one of three plain entries."""
    return HEAD + b"".join(entries or map(entry, (1, 2, 3))) + TAIL


def read(data: bytes, step: int = 0, url: str = BASE) -> tuple[Entries, Entries, Outcome]:
    """Pages, child files and the outcome."""
    reader = SitemapReader(url)
    pages, files = Entries("url"), Entries("sitemap")
    size = step or len(data) or 1
    for start in range(0, len(data), size):
        for chunk in reader.feed(data[start : start + size]):
            (pages if chunk.element == "url" else files).extend(chunk)
    for chunk in reader.close():
        (pages if chunk.element == "url" else files).extend(chunk)
    return pages, files, reader.outcome


def numbers(entries: Entries) -> list[str]:
    """The page numbers of the locs, to compare at a glance."""
    return [url.rpartition("page-")[2].removesuffix(".html") for url in entries.locs]
