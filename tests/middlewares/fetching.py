"""A spider that asks for what a test names and reports each outcome as one item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure


class Fetch(Spider):
    """``plan``: (URL, meta) pairs, asked one after the other, or all ``together``."""

    name = "fetch"
    custom_settings = {"HTTPERROR_ALLOW_ALL": True}

    def __init__(
        self,
        plan: list[tuple[str, dict[str, Any]]],
        origins: tuple[tuple[str, int], ...] = (),
        together: bool = False,
    ) -> None:
        super().__init__()
        self.plan = list(plan)
        self.origin_addresses = origins
        self.together = together

    async def start(self) -> AsyncIterator[Any]:
        for request in self.due():
            yield request

    def due(self) -> Iterator[Request]:
        count = len(self.plan) if self.together else 1
        for url, meta in self.plan[:count]:
            yield Request(url, self.parse, errback=self.failed, meta=meta, dont_filter=True)
        del self.plan[:count]

    def parse(self, response: Response) -> Iterator[Any]:
        assert response.request
        yield {
            "url": response.request.url,
            "final": response.url,
            "status": response.status,
            "body": response.body,
            "encoding": response.headers.get("Content-Encoding"),
            "flags": response.flags,
            "meta": {key: value for key, value in response.meta.items() if "redirect" in key},
        }
        yield from self.due()

    def failed(self, failure: Failure) -> Iterator[Any]:
        error: Any = failure.value
        yield {
            "url": failure.request.url,  # type: ignore[attr-defined]
            "code": getattr(error, "code", None),
            "error": type(error).__name__,
        }
        yield from self.due()
