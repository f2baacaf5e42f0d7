"""Which addresses may be asked at all: the guard between site data and our own network.

Two places judge. The middleware here looks at each request's URL, redirects included;
``resolver`` looks at each answer of the one look-up that a connection uses.
"""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import idna
from scrapy import signals
from scrapy.exceptions import CannotResolveHostError, NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from sitemap_discovery.middlewares.errors import RequestRefused
from sitemap_discovery.middlewares.resolver import GuardingResolver
from sitemap_discovery.protocol.urls import is_public_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from ipaddress import IPv4Address, IPv6Address
    from urllib.parse import ParseResult

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    Endpoint = tuple[str, int]

DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class AddressGuard:
    """The rules of one run: which host and port may be asked, which answer of a name is used.

    ``allow_list`` is the operator's: ``host:port``, or ``host`` for all its ports. ``allow`` adds
    an origin of the run.

    >>> guard = AddressGuard(["intranet:8080"])
    >>> guard.allow("example.com", 8000)
    >>> guard.judge("http://example.com:8000/"), guard.judge("http://intranet:8080/")
    (None, None)
    >>> guard.judge("http://example.com:22/"), guard.judge("http://[::1]/")
    ('port-refused', 'address-refused')
    """

    def __init__(self, allow_list: Iterable[str] = ()) -> None:
        self._allowed = {_parse_endpoint(entry) for entry in allow_list}
        self._origins: set[Endpoint] = set()
        self._inside: dict[Endpoint, bool] = {}
        self._refused: set[Endpoint] = set()

    def allow(self, host: str, port: int) -> None:
        """Make ``host`` and ``port`` an origin of this run; never call it with site data."""
        self._origins.add((_normal(host), port))

    def refused(self, host: str, port: int) -> bool:
        """Whether a look-up for ``host`` and ``port`` gave only addresses that were refused."""
        return (_normal(host), port) in self._refused

    def judge(self, url: str) -> str | None:
        """The code that refuses ``url``, or ``None`` when it may be asked."""
        return self.judge_parts(urlsplit(url))  # type: ignore[arg-type]

    def judge_parts(self, parts: ParseResult) -> str | None:
        """As ``judge``, for a URL that is already split."""
        if parts.scheme not in DEFAULT_PORTS:
            return "scheme-refused"
        if "@" in parts.netloc:
            return "loc-userinfo"
        endpoint = _endpoint(parts)
        if endpoint is None:
            return "port-refused"
        if endpoint in self._origins or self._is_listed(endpoint):
            return "address-refused" if endpoint in self._refused else None
        if endpoint[1] not in DEFAULT_PORTS.values():
            return "port-refused"
        address = _literal(endpoint[0])
        if endpoint in self._refused or (address and not is_public_address(address)):
            return "address-refused"
        return None

    def usable(self, host: str, port: int, addresses: Sequence[str]) -> set[str]:
        """Those of ``addresses``, the whole answer of one look-up, that may be connected to.

        The first answer for an origin decides where the origin is: with nothing but non-public
        addresses it is on a private network, and keeps them. Otherwise a non-public address in
        a later answer is dropped like anywhere else.
        """
        endpoint = _normal(host), port
        public = {text for text in addresses if is_public_address(ip_address(text))}
        if self._is_listed(endpoint):
            return set(addresses)
        is_origin = endpoint in self._origins and addresses
        if is_origin and self._inside.setdefault(endpoint, not public):
            return set(addresses)
        if addresses and not public:
            self._refused.add(endpoint)
        return public

    def _is_listed(self, endpoint: Endpoint) -> bool:
        host, port = endpoint
        # A look-up without a port (0) is made for a proxy's tunnel, never for a site's URL.
        return (
            endpoint in self._allowed
            or (host, None) in self._allowed
            or (port == 0 and any(host == listed for listed, _ in self._allowed))
        )


class AddressGuardMiddleware:
    """Refuse requests that lead where the operator did not send us.

    A request raises :class:`RequestRefused` with the code

    - ``scheme-refused``: neither http nor https,
    - ``loc-userinfo``: a user name or password in the URL,
    - ``port-refused``: a port other than 80 and 443,
    - ``address-refused``: a private, loopback, link-local or otherwise non-public address, written
      out or as the answer of a name.

    The last two do not hold for the host and port of an origin of the run
    (``spider.origin_addresses``, pairs of host and port, or ``guard.allow``) and for what
    ``SITEMAP_ALLOWED_HOSTS`` lists (``["intranet:8080", "10.0.0.5"]``, empty by default).
    ``SITEMAP_ADDRESS_GUARD_ENABLED = False`` turns the guard off. With a proxy, names are looked
    up by the proxy: then only URLs are judged here, the proxy has to filter addresses, and a
    proxy on a private address must itself be in ``SITEMAP_ALLOWED_HOSTS``. The same holds for a
    mail server on a private address, as the whole process looks names up through the guard.

    Stats: ``guard/blocked_count/{code}``.
    """

    def __init__(self, stats: StatsCollector, guard: AddressGuard) -> None:
        self.stats = stats
        self.guard = guard

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AddressGuardMiddleware:
        if not crawler.settings.getbool("SITEMAP_ADDRESS_GUARD_ENABLED", True):
            raise NotConfigured
        assert crawler.stats
        guard = AddressGuard(crawler.settings.getlist("SITEMAP_ALLOWED_HOSTS"))
        middleware = cls(crawler.stats, guard)
        crawler.signals.connect(middleware.spider_opened, signals.spider_opened)
        crawler.signals.connect(middleware.spider_closed, signals.spider_closed)
        return middleware

    def spider_opened(self, spider: Spider) -> None:
        for host, port in getattr(spider, "origin_addresses", ()):
            self.guard.allow(host, port)
        GuardingResolver.guards.append(self.guard)

    def spider_closed(self) -> None:
        with suppress(ValueError):  # it may never have opened
            GuardingResolver.guards.remove(self.guard)

    def process_request(self, request: Request) -> None:
        code = self.guard.judge_parts(urlparse_cached(request))
        if code:
            raise self._refuse(code, request)
        GuardingResolver.install()

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Say of a failed look-up that it failed because its answer was refused."""
        if not isinstance(exception, CannotResolveHostError):
            return
        endpoint = _endpoint(urlparse_cached(request))
        if endpoint and self.guard.refused(*endpoint):
            raise self._refuse("address-refused", request) from None

    def _refuse(self, code: str, request: Request) -> RequestRefused:
        self.stats.inc_value(f"guard/blocked_count/{code}")
        return RequestRefused(code, request.url)


def _endpoint(parts: ParseResult) -> Endpoint | None:
    """Host and port of a split URL, ``None`` when they cannot be read."""
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (_normal(host), DEFAULT_PORTS[parts.scheme] if port is None else port) if host else None


def _parse_endpoint(entry: str) -> tuple[str, int | None]:
    """An entry of the allow-list: ``host``, ``host:port``, ``[::1]:port`` or a bare ``::1``."""
    if _literal(entry):
        return _normal(entry), None
    parts = urlsplit(f"//{entry}")
    return _normal(parts.hostname or ""), parts.port


def _normal(host: str) -> str:
    """One spelling for a host: an address in short form, a name as lower-case A-labels."""
    address = _literal(host)
    if address:
        return str(address)
    host = host.lower().rstrip(".")
    with suppress(UnicodeError):  # an IDNAError is one too
        return host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    return host


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None
