"""Bounds on one body, in bytes and in seconds, that keep what came before the bound."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import StopDownload

from sitemap_discovery.protocol.robots import MAX_BYTES as ROBOTS_MAX_BYTES
from sitemap_discovery.protocol.unpack import MAX_BYTES

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

SIZE_LIMIT: Final = "size-limit"
TIME_LIMIT: Final = "time-limit"


@dataclass(slots=True)
class _Read:
    """One body on its way: bytes so far, the most we take, and when to stop (monotonic)."""

    limit: int
    deadline: float
    received: int = 0
    flag: str | None = None


class BodyLimitMiddleware:
    """Stop a download at its bound and keep what came, where Scrapy would throw it away.

    Two kinds of requests are bounded: those with ``meta["sitemap_body"]``, at
    ``SITEMAP_MAX_BYTES`` (52,428,800) bytes, and those with ``meta["robots_origin"]``, at 5 MiB.
    Bytes are counted as they come over the wire, before any content coding is undone. A body
    that still drips in shortly before the request's timeout (a tenth of it, at least a second)
    is stopped then. Such requests carry ``download_maxsize: 0``, so that Scrapy's own bound,
    which drops the body, does not act first.

    A stopped response has ``size-limit`` or ``time-limit`` in ``response.flags`` and counts in
    ``bodylimit/stopped_count/{flag}``.
    """

    def __init__(self, stats: StatsCollector, max_bytes: int, timeout: float) -> None:
        self.stats = stats
        self.max_bytes = max_bytes
        self.timeout = timeout
        self._reads: WeakKeyDictionary[Request, _Read] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BodyLimitMiddleware:
        assert crawler.stats
        settings = crawler.settings
        limits = cls(
            crawler.stats,
            settings.getint("SITEMAP_MAX_BYTES", MAX_BYTES),
            settings.getfloat("DOWNLOAD_TIMEOUT"),
        )
        crawler.signals.connect(limits.headers_received, signals.headers_received)
        crawler.signals.connect(limits.bytes_received, signals.bytes_received)
        return limits

    def headers_received(self, request: Request) -> None:
        limit = self._limit(request.meta)
        if limit is None:
            return
        timeout = request.meta.get("download_timeout") or self.timeout
        began = monotonic() - request.meta.get("download_latency", 0.0)
        self._reads[request] = _Read(limit, began + timeout - max(1.0, timeout / 10))

    def bytes_received(self, data: bytes, request: Request) -> None:
        read = self._reads.get(request)
        if read is None:
            return
        read.received += len(data)
        if read.received > read.limit:
            read.flag = SIZE_LIMIT
        elif monotonic() >= read.deadline:
            read.flag = TIME_LIMIT
        if read.flag:
            raise StopDownload(fail=False)

    def process_response(self, request: Request, response: Response) -> Response:
        read = self._reads.pop(request, None)
        if read is not None and read.flag:
            response.flags.append(read.flag)
            self.stats.inc_value(f"bodylimit/stopped_count/{read.flag}")
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        self._reads.pop(request, None)

    def _limit(self, meta: dict[str, Any]) -> int | None:
        if meta.get("robots_origin"):
            return ROBOTS_MAX_BYTES
        return self.max_bytes if meta.get("sitemap_body") else None
