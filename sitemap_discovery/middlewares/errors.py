"""The one error of these middlewares: a request that we decided not to make."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest


class RequestRefused(IgnoreRequest):
    """A request was not sent, or its answer not followed, by our own rules.

    ``code`` is the stable reason: ``scheme-refused``, ``loc-userinfo``, ``port-refused``,
    ``address-refused``, ``robots-disallowed``, ``robots-unreachable``, ``redirect-limit``,
    ``redirect-loop``, ``redirect-invalid`` or ``rate-limited``. ``url`` is what was refused.
    Like every ``IgnoreRequest`` it reaches the request's errback and leaves no traceback.
    """

    def __init__(self, code: str, url: str) -> None:
        super().__init__(f"{code}: {url[:200]!r}")
        self.code = code
        self.url = url
