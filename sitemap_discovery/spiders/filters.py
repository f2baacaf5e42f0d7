"""``sitemap_filter`` and ``sitemap_alternate_links`` as Scrapy documents them, on columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.spiders import SitemapSpider

from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries

if TYPE_CHECKING:
    from collections.abc import Iterator


def filtered(spider: SitemapSpider, entries: Entries) -> Entries:
    """The entries that the spider's own ``sitemap_filter`` lets through.

    The columns themselves when the spider overrides nothing.
    """
    if type(spider).sitemap_filter is SitemapSpider.sitemap_filter:
        return entries
    return _through(spider, entries)


def with_alternates(entries: Entries) -> Entries:
    """Each entry followed by its hreflang alternates as entries of their own."""
    result = Entries(entries.element)
    seen = set(entries.locs)
    for i, details in enumerate(entries.details):
        result.extend(entries.slice(i, i + 1))
        for link in (details or {}).get("alternates", ()):
            if link["href"] not in seen:
                seen.add(link["href"])
                result.extend(Entries("url", [link["href"]], [None], [None], [None], [None]))
    return result


def _through(spider: SitemapSpider, entries: Entries) -> Entries:
    rows = list(_as_dicts(entries))
    index = {id(row): i for i, row in enumerate(rows)}
    kept = Entries(entries.element)
    for row in spider.sitemap_filter(rows):
        i = index.get(id(row))
        one = entries.slice(i, i + 1) if i is not None else _from_dict(row, entries)
        one.locs[0] = row["loc"]
        kept.extend(one)
    return kept


def _as_dicts(entries: Entries) -> Iterator[dict[str, Any]]:
    """Entries as Scrapy documents them: texts by tag name, hreflang addresses in ``alternate``."""
    for i, loc in enumerate(entries.locs):
        row: dict[str, Any] = {"loc": loc}
        lastmod, priority = entries.lastmods[i], entries.priorities[i]
        if lastmod is not None:
            row["lastmod"] = lastmod.raw or lastmod.iso
        if entries.changefreqs[i]:
            row["changefreq"] = entries.changefreqs[i]
        if priority is not None:
            row["priority"] = str(priority)
        details = dict(entries.details[i] or {})
        if "alternates" in details:
            row["alternate"] = [link["href"] for link in details.pop("alternates")]
        row.update(details.pop("extra", {}))
        row.update(details)
        yield row


def _from_dict(row: dict[str, Any], entries: Entries) -> Entries:
    """An entry that the filter made itself."""
    return Entries(
        entries.element,
        [row["loc"]],
        [parse_lastmod(row.get("lastmod") or "")],
        [None],
        [None],
        [None],
    )
