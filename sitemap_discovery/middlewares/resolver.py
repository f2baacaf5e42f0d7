"""The guard at the name look-up: answers that no run may use never become a connection.

It judges the one look-up that the connection itself uses. So a name that leads inside, an odd
spelling of an address (``127.1``, ``2130706433``) and a name that changes its answer between two
look-ups all end here.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twisted.internet.interfaces import IAddress, IHostResolution

    from sitemap_discovery.middlewares.guard import AddressGuard

logger = logging.getLogger(__name__)


@implementer(IHostnameResolver)
class GuardingResolver:
    """The reactor's resolver, with the answers that no open run may use taken out.

    It wraps the resolver that is there, with its cache and time limit (``DNSCACHE_ENABLED``,
    ``DNS_TIMEOUT``). One is installed for a process; ``guards`` are those of the runs that are
    open now. With several runs in one process an answer stays when one of them may use it; the
    others have then noted it as refused.
    """

    guards: list[AddressGuard] = []

    def __init__(self, resolver: Any) -> None:
        self.resolver = resolver

    @classmethod
    def install(cls) -> None:
        """Put the guard in front of the reactor's resolver, unless it is there already.

        Asked at each request, as ``CrawlerProcess`` installs its own resolver after the crawl
        was set up.
        """
        from twisted.internet import reactor

        current: Any = reactor.nameResolver
        if not isinstance(current, cls):
            reactor.installNameResolver(cls(current))

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        judge = _AnswerJudge(resolutionReceiver, hostName, portNumber, self.guards)
        resolution: IHostResolution = self.resolver.resolveHostName(
            judge, hostName, portNumber, addressTypes, transportSemantics
        )
        return resolution


@implementer(IResolutionReceiver)
class _AnswerJudge:
    """Holds the answers of one look-up back until all are there, then hands on the usable ones."""

    def __init__(self, receiver: Any, host: str, port: int, guards: Sequence[AddressGuard]) -> None:
        self._receiver = receiver
        self._host = host
        self._port = port
        self._guards = guards
        self._answers: list[Any] = []

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:
        self._receiver.resolutionBegan(resolutionInProgress)

    def addressResolved(self, address: IAddress) -> None:
        self._answers.append(address)

    def resolutionComplete(self) -> None:
        texts = [answer.host for answer in self._answers]
        usable = set() if self._guards else set(texts)
        for guard in self._guards:
            usable |= guard.usable(self._host, self._port, texts)
        for answer in self._answers:
            if answer.host in usable:
                self._receiver.addressResolved(answer)
        if texts and not usable:
            logger.debug("Refused the addresses of %(host)r", {"host": self._host[:200]})
        self._receiver.resolutionComplete()
