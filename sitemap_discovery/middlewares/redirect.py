"""Redirects: a few hops, http(s) only, and an end that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import IgnoreRequest

from sitemap_discovery.middlewares.errors import RequestRefused

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


class QuietRedirectMiddleware(RedirectMiddleware):
    """Scrapy's redirects, except that none ends without a word.

    Settings: ``REDIRECT_ENABLED``, ``REDIRECT_MAX_TIMES`` (5 here: RFC 9309 section 2.3.1.2
    asks for five hops for robots.txt, and no sitemap needs more).

    A chain that cannot be followed raises :class:`RequestRefused`: ``redirect-limit``,
    ``redirect-loop`` (a URL comes twice in one chain), ``scheme-refused`` (not http or https),
    ``redirect-invalid`` (a ``Location`` that is no URL). The target is a new request, so the
    address guard and robots.txt judge it too.
    """

    def _engine_started(self) -> None:
        """No ``Referer`` is sent (``REFERER_ENABLED = False``), so there is nothing to look up."""

    def handle_referer(self, request: Request, response: Response) -> None:
        request.headers.pop("Referer", None)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        try:
            return super().process_response(request, response)
        except ValueError:
            raise RequestRefused("redirect-invalid", _location(response)) from None

    def _build_redirect_request(
        self, source_request: Request, response: Response, *, url: str, **kwargs: Any
    ) -> Request:
        if urlsplit(url).scheme not in ("http", "https"):
            raise RequestRefused("scheme-refused", url)
        return super()._build_redirect_request(source_request, response, url=url, **kwargs)

    def _redirect(self, redirected: Request, request: Request, reason: Any) -> Request:
        if redirected.url in (request.url, *request.meta.get("redirect_urls", ())):
            raise RequestRefused("redirect-loop", redirected.url)
        try:
            return super()._redirect(redirected, request, reason)
        except IgnoreRequest:
            raise RequestRefused("redirect-limit", redirected.url) from None


def _location(response: Response) -> str:
    return (response.headers.get("Location") or b"").decode("latin-1")
