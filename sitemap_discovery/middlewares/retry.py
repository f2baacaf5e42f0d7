"""Retries that wait as long as the site asks, without holding up anybody else."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from scrapy import Request, signals
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.httpobj import urlparse_cached

from sitemap_discovery.middlewares.errors import RequestRefused

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

BUSY: Final = frozenset({429, 503})
"""Statuses whose ``Retry-After`` is heeded (RFC 6585 section 4, RFC 9110 section 15.6.4)."""

MAX_PAUSES: Final = 3
"""Pauses in a row, without one good answer between, after which a host is left alone."""


class PoliteRetryMiddleware(RetryMiddleware):
    """Scrapy's retries, plus ``Retry-After``.

    A 429 or 503 with ``Retry-After`` (seconds or an HTTP date) pauses its host for that long, at
    most ``SITEMAP_RETRY_AFTER_MAX`` (120) seconds. The retry and whatever else is due for that
    host leave the downloader and wait outside, so they hold none of its slots and other hosts go
    on; a run that ends meanwhile does not wait for them. What was already queued inside the
    downloader is still sent (at most ``CONCURRENT_REQUESTS``). A request that never went through
    the scheduler, as for robots.txt, waits where it is. After three pauses in a row the host is
    left alone: its requests are refused with the code ``rate-limited``.

    Settings of Scrapy: ``RETRY_ENABLED``, ``RETRY_TIMES``, ``RETRY_HTTP_CODES``,
    ``RETRY_EXCEPTIONS``. Stats: ``retry/pause_count``, besides Scrapy's ``retry/…``.
    """

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self.longest = settings.getfloat("SITEMAP_RETRY_AFTER_MAX", 120.0)
        self._paused_until: dict[str, float] = {}
        self._pauses: Counter[str] = Counter()
        self._scheduled: WeakSet[Request] = WeakSet()
        self._parked: dict[str, list[Request]] = {}
        self._timers: dict[str, CallLaterResult] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PoliteRetryMiddleware:
        middleware = super().from_crawler(crawler)
        crawler.signals.connect(middleware.request_scheduled, signals.request_scheduled)
        crawler.signals.connect(middleware.spider_idle, signals.spider_idle)
        crawler.signals.connect(middleware.spider_closed, signals.spider_closed)
        return middleware

    @property
    def parked_count(self) -> int:
        """How many requests wait outside the downloader for their host's pause to end."""
        return sum(map(len, self._parked.values()))

    async def process_request(self, request: Request) -> Request | None:
        host = urlparse_cached(request).netloc
        if self._pauses[host] > MAX_PAUSES:
            raise RequestRefused("rate-limited", request.url)
        wait = self._wait(host)
        if wait and request in self._scheduled:
            return request.replace(dont_filter=True)
        await self._sleep(wait)
        return None

    async def process_response(  # type: ignore[override]
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        host = urlparse_cached(request).netloc
        if response.status in BUSY:
            self._pause(host, retry_after(response, time(), self.longest))
        else:
            self._pauses.pop(host, None)
        result = super().process_response(request, response)
        if isinstance(result, Request) and request not in self._scheduled:
            await self._sleep(self._wait(host))
        return result

    def request_scheduled(self, request: Request) -> None:
        """Keep a request for a paused host out of the scheduler until the pause is over."""
        host = urlparse_cached(request).netloc
        self._scheduled.add(request)
        wait = self._wait(host)
        if not wait or self._pauses[host] > MAX_PAUSES:
            return
        if host not in self._parked:
            self._parked[host] = []
            self._timers[host] = call_later(wait, self._release, host)
        self._parked[host].append(request)
        raise IgnoreRequest

    def spider_idle(self) -> None:
        if self._parked:
            raise DontCloseSpider

    def spider_closed(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._parked.clear()

    def _pause(self, host: str, seconds: float) -> None:
        if seconds <= 0:
            return
        if not self._wait(host):
            self._pauses[host] += 1
            assert self.crawler.stats
            self.crawler.stats.inc_value("retry/pause_count")
            logger.info(
                "%(host)s asked us to wait: paused for %(seconds)d s",
                {"host": host, "seconds": seconds},
            )
        until = max(self._paused_until.get(host, 0.0), monotonic() + seconds)
        self._paused_until[host] = until

    def _wait(self, host: str) -> float:
        """Seconds until ``host`` may be asked again, 0 when it may be asked now."""
        return max(0.0, self._paused_until.get(host, 0.0) - monotonic())

    def _release(self, host: str) -> None:
        del self._timers[host]
        for request in self._parked.pop(host):
            if not self._is_closing():
                assert self.crawler.engine
                self.crawler.engine.crawl(request)

    async def _sleep(self, seconds: float) -> None:
        """Wait, but not longer than the run."""
        end = monotonic() + seconds
        while monotonic() < end and not self._is_closing():
            await asyncio.sleep(min(0.25, max(0.0, end - monotonic())))

    def _is_closing(self) -> bool:
        engine: Any = self.crawler.engine
        return not engine.running or engine._slot is None or engine._slot.closing is not None


def retry_after(response: Response, now: float, longest: float) -> float:
    """Seconds to wait by the response's ``Retry-After``, within 0 and ``longest``.

    ``now`` is UTC epoch seconds. A value that is neither seconds nor an HTTP date
    (RFC 9110 section 10.2.3) counts as 0.
    """
    value = (response.headers.get("Retry-After") or b"").strip()
    if value.isdigit():
        return min(float(value[:12]), longest)
    try:
        date = parsedate_to_datetime(value.decode("ascii"))
        return min(max(date.timestamp() - now, 0.0), longest)
    except (ValueError, OverflowError):
        return 0.0
