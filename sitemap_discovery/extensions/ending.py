"""How a component ends the run when it cannot go on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


async def end_run(crawler: Crawler, reason: str) -> None:
    """Close the spider, for a fault met while an item was on its way.

    Scrapy looks only at the end of a response whether it may go on closing: without the look
    taken here, a run whose last item came from ``start()`` would wait for ever.
    """
    assert crawler.engine is not None
    assert crawler.spider is not None
    slot = crawler.engine.scraper.slot
    closing = asyncio.ensure_future(crawler.engine.close_spider_async(reason=reason))
    while not closing.done():
        await asyncio.sleep(0.05)
        if slot and slot.closing and not slot.closing.called and slot.is_idle():
            slot.closing.callback(crawler.spider)
    await closing


def set_finish_reason(crawler: Crawler, reason: str) -> None:
    """Let a run that is closing already end for a fault met meanwhile."""
    assert crawler.stats is not None
    crawler.stats.set_value("finish_reason", reason)
