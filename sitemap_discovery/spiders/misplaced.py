"""Sitemaps that stand among pages, and pages that stand among sitemaps: what is fetched decides."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

from scrapy import Request

from sitemap_discovery.items import FoundFile
from sitemap_discovery.protocol.codes import PAGE, State
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.reader import SitemapReader
from sitemap_discovery.spiders.reading import codings_of
from sitemap_discovery.spiders.remembering import RememberingSpider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitemap_discovery.items import SitemapFile
    from sitemap_discovery.spiders.walk import Walk

logger = logging.getLogger(__name__)

BY_URLSET: Final = "urlset"
"""How a file was found that a urlset lists as a page."""

MOST_IN_VAIN: Final = 10
"""Pages of an origin that are opened for their names alone and turn out to be pages."""

HEAD: Final = 65_536
"""Bytes that are looked at to tell a sitemap from a page."""

_SITEMAP_NAME: Final = re.compile(r"itemap[^/?\n]*\.(?:xml|txt)(?:\.gz)?(?:\?.*)?$", re.MULTILINE)
_SITEMAP_LIKE: Final = re.compile(r"sitemap|\.(?:xml|gz|txt|rss|atom)\b", re.IGNORECASE)


class DecidingSpider(RememberingSpider):
    """Opens what a urlset lists under a sitemap's name, before it is taken for a page."""

    async def without_sitemaps(self, pages: Entries, file: SitemapFile, walk: Walk) -> Entries:
        """The pages of ``file`` that are pages; what is a sitemap is queued as one."""
        flags = [True] * len(pages)
        for i in sitemaps_among(pages.locs):
            found = FoundFile(pages.locs[i], BY_URLSET, file.url, file.depth + 1)
            if self.refusal(walk, found) is None and await self._is_sitemap(found.url, walk):
                file.findings.add("sitemap-in-urlset", example=found.url)
                self.add_file(walk, file, found)
                flags[i] = False
        if not all(flags):
            pages.keep(flags)
        return pages

    def refusal(self, walk: Walk, found: FoundFile) -> str | None:
        """Why a file is not to be read, ``None`` when it may be."""
        raise NotImplementedError

    def add_file(self, walk: Walk, parent: SitemapFile, found: FoundFile) -> None:
        """Queue a file that ``parent`` names."""
        raise NotImplementedError

    async def _is_sitemap(self, url: str, walk: Walk) -> bool:
        known = self.inventory.known_file(walk.root, url) if self.inventory else None
        if known is not None and known.kind is not None:
            return known.kind != PAGE
        if walk.in_vain >= MOST_IN_VAIN or self.time_is_up():
            return False
        found = await self._answers_with_sitemap(url)
        walk.in_vain += not found
        return found

    async def _answers_with_sitemap(self, url: str) -> bool:
        meta = {"sitemap_body": True, "download_maxsize": 0, "dont_retry": True}
        request = Request(url, meta=meta, dont_filter=True)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # whatever it is, nothing says that this is a sitemap
            logger.debug("No sitemap at %(url)s: %(error)r", {"url": url, "error": error})
            return False
        return response.status == 200 and holds_sitemap(response.body, url, codings_of(response))


def sitemaps_among(locs: Sequence[str]) -> list[int]:
    """Which pages have names that sitemaps have.

    >>> sitemaps_among(["https://a.example/sitemap", "https://a.example/sitemap-2.xml?p=1"])
    [1]
    """
    if not _SITEMAP_NAME.search("\n".join(locs)):
        return []
    return [i for i, loc in enumerate(locs) if _SITEMAP_NAME.search(loc)]


def holds_sitemap(body: bytes, url: str, codings: Sequence[str]) -> bool:
    """Whether a body begins as a sitemap does that names anything."""
    reader = SitemapReader(url, codings=codings)
    kept = sum(map(len, [*reader.feed(body[:HEAD]), *reader.close("budget-urls")]))
    return bool(kept)


def is_page(file: SitemapFile) -> bool:
    """Whether an index names a page as if it were a sitemap: it answers with HTML at its own
    address, and nothing in that says that a sitemap should be there."""
    named = file.found_by == "index" and file.final_url is None
    return named and file.reason == "html-page" and not _SITEMAP_LIKE.search(file.url)


def page_of(file: SitemapFile) -> Entries:
    """Make ``file`` the record of such a page, and give its one entry."""
    file.kind, file.state, file.reason, file.entries_kept = PAGE, State.COMPLETE, "ok", 1
    file.findings.add("page-in-index", example=file.url)
    return Entries("url", [file.url], [None], [None], [None], [None])
