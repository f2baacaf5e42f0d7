"""One helper for every pipeline: a batch, or one URL, as a batch; and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

from sitemap_discovery.items import SitemapUrl, UrlBatch

if TYPE_CHECKING:
    from collections.abc import Callable


def on_batch(item: Any, work: Callable[[UrlBatch], None]) -> Any:
    """Let ``work`` change a :class:`UrlBatch` in place, or a :class:`SitemapUrl` through one.

    Returns the item, or ``None`` when it was a single URL and ``work`` dropped it. Other items
    pass untouched.
    """
    if isinstance(item, UrlBatch):
        work(item)
        return item
    if not isinstance(item, SitemapUrl) or item.batch is None:
        return item
    work(item.batch)
    if not len(item.batch):
        return None
    row = ItemAdapter(item)
    for name, value in ItemAdapter(next(item.batch.rows())).items():
        row[name] = value
    return item
