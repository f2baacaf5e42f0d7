"""A small real HTTP server on a free loopback port, and real crawls in a child process."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Answer = tuple[int, dict[str, str], bytes]

PROJECT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Seen:
    """One request as it reached the server; ``at`` is a monotonic time in seconds."""

    method: str
    path: str
    headers: dict[str, str]
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Page:
    """What one path answers; ``raw`` replaces the whole answer, ``delay`` is in seconds."""

    body: bytes | Callable[[Seen], Answer] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    raw: bytes | None = None

    def answer(self, seen: Seen) -> Answer:
        if callable(self.body):
            return self.body(seen)
        return self.status, self.headers, self.body


NOT_FOUND = Page(b"not found", 404, {"Content-Type": "text/plain"})


class Site:
    """A running server: ``add`` pages to it, then look at ``requests``.

    A path is looked up with its query first, then without; an unknown one is a 404, or the
    ``fallback`` with status 200.
    """

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[Seen] = []
        self.fallback: bytes | None = None
        self.closing = Event()
        handler = type("Handler", (_Handler,), {"site": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.port: int = self._server.server_address[1]
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def add(
        self,
        path: str,
        body: bytes | Callable[[Seen], Answer] = b"",
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        delay: float = 0.0,
        raw: bytes | None = None,
    ) -> str:
        """Serve ``path``; the absolute URL is returned.

        ``raw`` is written to the socket as it is, status line included, and the socket closed.
        A ``body`` that is a function gets the request and gives (status, headers, body).
        """
        self.pages[path] = Page(body, status, headers or {}, delay, raw)
        return self.url + path

    @property
    def paths(self) -> list[str]:
        """The paths asked for, in order of arrival."""
        return [seen.path for seen in self.requests]

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of many tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        site = self.site
        seen = Seen(self.command, self.path, dict(self.headers.items()))
        site.requests.append(seen)
        missing = NOT_FOUND if site.fallback is None else Page(site.fallback)
        page = site.pages.get(self.path) or site.pages.get(self.path.partition("?")[0], missing)
        if page.delay:
            site.closing.wait(page.delay)
        if page.raw is not None:
            self.wfile.write(page.raw)
            self.close_connection = True
        else:
            self.reply(*page.answer(seen))

    do_HEAD = do_POST = do_GET

    def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the tests look at ``Site.requests``."""


@dataclass
class CrawlResult:
    """What a crawl left: stats, items, its log, the exit status and the seconds it took."""

    stats: dict[str, Any]
    items: list[Any]
    log: str
    exit: int
    seconds: float


def crawl(
    spider: type | str,
    settings: dict[str, Any] | None = None,
    *,
    cwd: Path,
    timeout: float = 90,
    project: bool = True,
    **spider_args: Any,
) -> CrawlResult:
    """Run a spider (a class of a test module, or a name of the project) in a child process.

    A reactor cannot be started twice, so each crawl has a process of its own. It uses the
    project's settings (not with ``project=False``), then ``settings``, and works in ``cwd``.
    Class, settings, arguments and items cross by pickle. A crawl that outlives ``timeout``
    seconds is an error.
    """
    job, out = cwd / "job.pickle", cwd / "result.pickle"
    out.unlink(missing_ok=True)
    job.write_bytes(pickle.dumps((spider, settings or {}, spider_args, project)))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), *filter(None, sys.path)])}
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, __file__, job, out],
        cwd=cwd, env=env, timeout=timeout, capture_output=True, check=False,
    )  # fmt: skip
    log = done.stderr.decode(errors="replace")
    assert out.exists(), f"the crawl left no result:\n{log}"
    stats, items = pickle.loads(out.read_bytes())
    return CrawlResult(stats, items, log, done.returncode, time.monotonic() - started)


def main(job: Path, out: Path) -> None:
    """The child's side of :func:`crawl`."""
    from scrapy import signals
    from scrapy.crawler import CrawlerProcess
    from scrapy.settings import Settings

    spider, overrides, spider_args, project = pickle.loads(job.read_bytes())
    settings = Settings()
    if project:
        settings.setmodule("sitemap_discovery.settings", priority="project")
    settings.setdict({"LOG_LEVEL": "INFO", **overrides}, priority="cmdline")
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    items: list[Any] = []
    keep = lambda item: items.append(item)  # noqa: E731 - signals hold weak references
    crawler.signals.connect(keep, signals.item_scraped)
    process.crawl(crawler, **spider_args)
    process.start()
    assert crawler.stats
    out.write_bytes(pickle.dumps((crawler.stats.get_stats(), items)))
    sys.exit(int(process.bootstrap_failed))


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))
    main(Path(sys.argv[1]), Path(sys.argv[2]))
