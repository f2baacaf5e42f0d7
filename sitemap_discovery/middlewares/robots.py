"""robots.txt: fetched once for an origin, read within bounds, and obeyed when it is not there."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from protego import Protego
from scrapy import Request, signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.python import to_unicode

from sitemap_discovery.middlewares.errors import RequestRefused
from sitemap_discovery.protocol.robots import own_group, read_robots

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

TIMEOUT: Final = 30
"""Seconds for one try at a robots.txt, or ``DOWNLOAD_TIMEOUT`` if shorter; there are two tries."""

MAX_CRAWL_DELAY: Final = 60.0
"""Seconds; a longer ``Crawl-delay`` is taken as this one."""

REDIRECT_META: Final = ("redirect_urls", "redirect_times", "redirect_reasons")


class SlicedRobotParser(RobotParser):
    """Protego, given nothing but the group that is ours.

    Protego's cost grows with agents times rules, so 60 KB of robots.txt can hold it for
    seconds; one group cannot. Decoding and the 500 KiB bound are ``protocol.robots``'s.
    """

    def __init__(self, body: bytes, agent: str) -> None:
        self._rules = Protego.parse(own_group(read_robots(body, "").text, agent))

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> SlicedRobotParser:
        settings = crawler.settings
        agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        return cls(robotstxt_body, agent)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        return bool(self._rules.can_fetch(to_unicode(url), to_unicode(user_agent)))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Seconds between requests, at most 60; ``None`` when not set or not a usable number."""
        delay = self._rules.crawl_delay(to_unicode(user_agent))
        if delay is None or not isfinite(delay) or delay < 0:
            return None
        return min(float(delay), MAX_CRAWL_DELAY)


@dataclass(frozen=True, slots=True)
class _Robots:
    """What asking for one robots.txt gave: an answer or an error, and rules unless unreachable."""

    response: Response | None = None
    error: Exception | None = None
    parser: RobotParser | None = None


class SharedRobotsTxtMiddleware(RobotsTxtMiddleware):
    """Obey robots.txt by RFC 9309, with one request for each scheme, host and port in a run.

    ====================================  =================================================
    answer                                what it means
    ====================================  =================================================
    2xx                                   its rules (RFC 9309, 2.3.1.1)
    3xx after five hops, a refused hop    as 404 (2.3.1.2)
    4xx other than 429                    all is allowed, the body is not read (2.3.1.3)
    429, 5xx, refused, reset, timeout,    nothing of the origin may be fetched (2.3.1.4),
    no such name                          the body is not read
    ====================================  =================================================

    A spider that wants the file itself sends a request with ``meta["robots_origin"]``, such as
    ``"https://example.com:443"``. It is answered from the same one download, in whichever order
    the two come: the response as it was received after redirects, or the failure. Its meta then
    has the ``redirect_…`` keys of the download.

    A forbidden request raises :class:`RequestRefused` with the code ``robots-disallowed`` or
    ``robots-unreachable``. ``ROBOTSTXT_OBEY = False`` turns the middleware off;
    ``SITEMAP_ROBOTSTXT_OBEY = False`` (default ``True``) exempts requests with
    ``meta["sitemap_body"]``, so that only pages obey. Stats are Scrapy's ``robotstxt/…``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._sitemaps_obey = crawler.settings.getbool("SITEMAP_ROBOTSTXT_OBEY", True)
        self._timeout = min(TIMEOUT, crawler.settings.getfloat("DOWNLOAD_TIMEOUT", TIMEOUT))
        self._asked: dict[str, asyncio.Task[_Robots]] = {}

    async def process_request(  # type: ignore[override]
        self, request: Request, spider: Spider | None = None
    ) -> Response | None:
        meta = request.meta
        if meta.get("robots_origin"):
            return None if meta.get("robots_download") else await self._answer(request)
        if meta.get("dont_obey_robotstxt"):
            return None
        if meta.get("sitemap_body") and not self._sitemaps_obey:
            return None
        self._obey(request, await self._robots(_origin(request)))
        return None

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules that hold for ``request``, ``None`` when its origin is unreachable."""
        return (await self._robots(_origin(request))).parser

    def _obey(self, request: Request, robots: _Robots) -> None:
        agent = self._robotstxt_useragent or request.headers.get(
            b"User-Agent", self._default_useragent
        )
        if robots.parser is None:
            code = "robots-unreachable"
        elif not robots.parser.allowed(request.url, agent or ""):
            code = "robots-disallowed"
        else:
            return
        self._stats.inc_value("robotstxt/forbidden")
        raise RequestRefused(code, request.url)

    async def _answer(self, request: Request) -> Response:
        """The kept response for a spider's own request; it is not retried or redirected again."""
        robots = await self._robots(_origin(request))
        request.meta.update(dont_retry=True, dont_redirect=True)
        if robots.response is None:
            assert robots.error
            raise robots.error.with_traceback(None)
        sent = robots.response.request
        assert sent
        request.meta.update({key: sent.meta[key] for key in REDIRECT_META if key in sent.meta})
        return robots.response.replace(request=None)

    async def _robots(self, origin: str) -> _Robots:
        if origin not in self._asked:
            self._asked[origin] = asyncio.ensure_future(self._ask(origin))
        return await asyncio.shield(self._asked[origin])

    async def _ask(self, origin: str) -> _Robots:
        request = _robots_request(origin, self.DOWNLOAD_PRIORITY, self._timeout)
        self._stats.inc_value("robotstxt/request_count")
        assert self.crawler.engine
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:
            return await self._failed(request, error)
        self._stats.inc_value("robotstxt/response_count")
        self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        if response.status == 429 or response.status >= 500:
            _warn_unreachable(origin, f"status {response.status}")
            return _Robots(response)
        body = response.body if 200 <= response.status < 300 else b""
        return _Robots(response, None, await self._parse(body, request))

    async def _failed(self, request: Request, error: Exception) -> _Robots:
        """A hop that was refused counts as no robots.txt; any other failure as unreachable."""
        if isinstance(error, RequestRefused) and _is_hop(error, request):
            return _Robots(None, error, await self._parse(b"", request))
        if not isinstance(error, RequestRefused):
            self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            _warn_unreachable(request.meta["robots_origin"], type(error).__name__)
        return _Robots(None, error)

    async def _parse(self, body: bytes, request: Request) -> RobotParser:
        parser: RobotParser = build_from_crawler(self._parserimpl, self.crawler, body)
        await self.crawler.signals.send_catch_log_async(
            signals.robots_parsed, robotparser=parser, request=request
        )
        return parser


def _robots_request(origin: str, priority: int, timeout: float) -> Request:
    meta: dict[str, Any] = {
        "robots_origin": origin,
        "robots_download": True,
        "dont_obey_robotstxt": True,
        "download_timeout": timeout,
        "download_maxsize": 0,
        "download_fail_on_dataloss": False,
        "max_retry_times": 1,
        "give_up_log_level": "DEBUG",
    }
    return Request(f"{origin}/robots.txt", NO_CALLBACK, priority=priority, meta=meta)


def _is_hop(error: RequestRefused, request: Request) -> bool:
    """Whether a redirect of ``request`` was refused, rather than ``request`` or a busy host."""
    return error.code == "redirect-loop" or (
        error.code != "rate-limited" and error.url != request.url
    )


def _origin(request: Request) -> str:
    """Scheme, host and port of a request as one text, the port only when it is not the usual."""
    parts = urlparse_cached(request)
    host = parts.netloc.rpartition("@")[2].lower()
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    return f"{parts.scheme}://{host.removesuffix(usual)}"


def _warn_unreachable(origin: str, reason: str) -> None:
    logger.warning(
        "robots.txt of %(origin)s cannot be had (%(reason)s): nothing is fetched from there",
        {"origin": origin[:200], "reason": reason},
    )
