"""``python -m sitemap_discovery.sample [crawl]``: serves the sample site on loopback and crawls it.

Further arguments go to ``scrapy crawl``. ``python -m sitemap_discovery.sample serve [--port PORT]``
only serves it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from sitemap_discovery.sample.site import page, pages

EXPECTED_STATUS = 2  # the sample has files with faults, so a run over it is never complete


class Server(ThreadingHTTPServer):
    """The sample site on a loopback port, a free one by default; ``OSError`` when it is taken."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.files = pages(self.url)


class Handler(BaseHTTPRequestHandler):
    """Answers with the site's files and pages."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        body = self.server.files.get(self.path)
        kind = "application/xml"
        if body is None:
            body, kind = page(self.path), "text/html; charset=utf-8"
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the crawler tells what it asked for."""


def crawl(arguments: list[str]) -> int:
    """Crawl the sample site into ``inventory.db`` and ``urls.jsonl``; returns an exit status."""
    server = Server()
    Thread(target=server.serve_forever, daemon=True).start()
    environment = {"SCRAPY_SETTINGS_MODULE": "sitemap_discovery.settings", **os.environ}
    command = [sys.executable, "-m", "scrapy.cmdline", "crawl", "sitemaps"]
    options = ["-a", f"origin={server.url}", "-O", "urls.jsonl", "-s", "DOWNLOAD_DELAY=0"]
    status = subprocess.run(
        [*command, *options, *arguments], env=environment, check=False
    ).returncode
    server.shutdown()
    server.server_close()
    if status != EXPECTED_STATUS:
        return status
    print(
        "\nThat was the bundled sample site; its faults are meant to be there.\n"
        "The rows are in urls.jsonl, the inventory in inventory.db.\n"
        "See it: .venv/bin/scrapy inventory\n"
        "Your own site: make crawl ORIGIN=https://example.com"
    )
    return 0


def serve(arguments: list[str]) -> int:
    """Serve the sample site until interrupted; the only line printed is its robots.txt address."""
    parser = argparse.ArgumentParser("python -m sitemap_discovery.sample serve")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    port = parser.parse_args(arguments).port
    try:
        server = Server(port)
    except (OSError, OverflowError) as error:
        parser.error(f"port {port}: {error}")
    print(f"{server.url}/robots.txt", flush=True)
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()
    return 0


def main(arguments: list[str]) -> int:
    """Do what the first argument says, crawl without one; returns an exit status."""
    if arguments[:1] == ["serve"]:
        return serve(arguments[1:])
    return crawl(arguments[arguments[:1] == ["crawl"] :])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
