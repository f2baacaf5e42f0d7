"""Bodies over their bound in bytes or time: stopped, and what came is kept."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from scrapy import Request

from sitemap_discovery.middlewares.bodylimit import BodyLimitMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from httpserver import CrawlResult, Site

    Fetch = Callable[..., CrawlResult]

SITEMAP = {"sitemap_body": True, "download_maxsize": 0, "download_fail_on_dataloss": False}
LIMIT = {"SITEMAP_MAX_BYTES": 100_000}


class Stats:
    """Only what the middleware calls."""

    def inc_value(self, key: str) -> None:
        self.last = key


@pytest.mark.parametrize(
    ("size", "meta", "flagged"),
    [
        (100_000, SITEMAP, False),
        (3_000_000, SITEMAP, True),
        (3_000_000, {"robots_origin": "x"}, False),
        (8_000_000, {"robots_origin": "x", "download_maxsize": 0}, True),
        (3_000_000, {}, False),
    ],
    ids=["at the bound", "sitemap over", "robots.txt under", "robots.txt over", "page"],
)
def test_body_is_stopped_at_its_bound(
    fetch: Fetch, site: Site, size: int, meta: dict[str, object], flagged: bool
) -> None:
    url = site.add("/body", b"<a>" + b" " * (size - 3))
    result = fetch([(url, meta)], origins=[site], settings=LIMIT)
    item = result.items[0]
    assert ("size-limit" in item["flags"]) is flagged
    assert item["body"].startswith(b"<a>")
    assert (len(item["body"]) < size) is flagged
    assert result.stats.get("bodylimit/stopped_count/size-limit", 0) == flagged
    assert len(site.requests) == 1


@pytest.fixture
def drip() -> Iterator[str]:
    """The URL of a server that sends one byte each 0.2 seconds and never ends."""
    server = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve() -> None:
        with suppress(OSError), server.accept()[0] as connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n<urlset>")
            while not done.wait(0.2):
                connection.sendall(b" ")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.getsockname()[1]}"
    done.set()
    server.close()
    thread.join(5)


def test_drip_is_stopped_before_the_timeout_and_kept(fetch: Fetch, drip: str) -> None:
    settings = {"DOWNLOAD_TIMEOUT": 2.5, "SITEMAP_ALLOWED_HOSTS": [drip]}
    result = fetch([(f"http://{drip}/", SITEMAP)], origins=[], settings=settings)
    item = result.items[0]
    assert item["body"].startswith(b"<urlset>")
    assert "time-limit" in item["flags"]
    assert "retry/count" not in result.stats


def test_state_goes_with_its_request() -> None:
    limits = BodyLimitMiddleware(Stats(), max_bytes=10, timeout=60)  # type: ignore[arg-type]
    requests = [Request(f"http://a.example/{i}", meta=dict(SITEMAP)) for i in range(3)]
    for request in requests:
        limits.headers_received(request)
    limits.process_exception(requests[0], OSError())
    assert len(limits._reads) == 2
    del request
    requests.clear()
    assert len(limits._reads) == 0
