"""Content codings: few are offered, and a sitemap's body is left to the reader that bounds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware

from sitemap_discovery.protocol.codes import Findings
from sitemap_discovery.protocol.robots import MAX_BYTES as ROBOTS_MAX_BYTES
from sitemap_discovery.protocol.unpack import Unpacker, UnpackFault

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response

ACCEPT_ENCODING: Final = b"gzip, deflate"
"""What every server can do; each further decoder is one more within a hostile server's reach."""


class RawBodyCompressionMiddleware(HttpCompressionMiddleware):
    """Offer gzip and deflate only, and unpack nothing without a bound on what comes out.

    A response to a request with ``meta["sitemap_body"]`` keeps its bytes and its
    ``Content-Encoding``: the sitemap reader unpacks it, all layers within one bound. A robots.txt
    (``meta["robots_origin"]``) is unpacked up to 5 MiB and what lies beyond is cut off. Others
    are unpacked as Scrapy does, within ``DOWNLOAD_MAXSIZE``. Setting: ``COMPRESSION_ENABLED``.
    """

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        request.headers.setdefault("Accept-Encoding", ACCEPT_ENCODING)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if request.meta.get("sitemap_body"):
            return response
        if request.meta.get("robots_origin"):
            return _unpacked(response)
        return super().process_response(request, response)


def _unpacked(response: Response) -> Response:
    lines = response.headers.getlist("Content-Encoding")
    if not lines:
        return response
    headers = response.headers.copy()
    del headers["Content-Encoding"]
    codings = b",".join(lines).decode("latin-1").split(",")
    return response.replace(headers=headers, body=unpack(response.body, codings))


def unpack(body: bytes, codings: list[str], max_bytes: int = ROBOTS_MAX_BYTES) -> bytes:
    """What ``body`` unpacks to, at most ``max_bytes`` of it; after a fault, what came before it.

    A body that does not unpack at all is returned as it is.
    """
    pieces: list[bytes] = []
    try:
        unpacker = Unpacker(Findings(), codings, max_bytes)
        for step in (unpacker.feed(body), unpacker.close()):
            for piece in step:
                pieces.append(piece)
    except UnpackFault:
        pass
    return b"".join(pieces) or body
