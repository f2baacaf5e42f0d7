"""A generated site on loopback: an index before gzipped sitemaps, served by a process of its own."""

from __future__ import annotations

import gzip
import random
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import PIPE, Popen

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
ENTRY = (
    "  <url>\n    <loc>{loc}</loc>\n    <lastmod>{date}</lastmod>\n"
    "    <changefreq>weekly</changefreq>\n    <priority>0.8</priority>\n  </url>\n"
)


def urlset(host: str, number: int, size: int) -> bytes:
    """One sitemap: dates with seconds, addresses of about 90 characters, indented as generators do."""
    draw = random.Random(number)
    entries = (
        ENTRY.format(
            loc=f"{host}/section-{i % 20}/article-{number}-{i}-about-{draw.getrandbits(60):x}-and-more.html",
            date=f"2026-{draw.randint(1, 11):02d}-{draw.randint(1, 28):02d}T{draw.randint(0, 23):02d}:"
            f"{draw.randint(0, 59):02d}:{draw.randint(0, 59):02d}+00:00",
        )
        for i in range(size)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NS}>\n{"".join(entries)}</urlset>\n'.encode()


def serve(files: int, size: int, *, etags: bool = False) -> None:
    """Serve the site on a free port; the first line printed is its address, then one a request."""
    pages: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body, etag = pages.get(self.path), f'"{self.path}"'
            if etags and self.headers.get("If-None-Match") == etag:
                self.send_response(304)
                self.end_headers()
                return
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            if etags:
                self.send_header("ETag", etag)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:
            print(f"{time.time():.3f} {self.path}", flush=True)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host = f"http://127.0.0.1:{server.server_address[1]}"
    cache = Path(tempfile.gettempdir()) / "sitemap-discovery-benchmark"
    cache.mkdir(exist_ok=True)
    names = [f"/sitemap-{number}.xml.gz" for number in range(files)]
    for number, name in enumerate(names):
        path = cache / f"{number}-{size}.xml"
        if not path.exists():
            path.write_bytes(urlset("HOST", number, size))
        pages[name] = gzip.compress(path.read_bytes().replace(b"HOST", host.encode()), 5)
    children = "".join(f"<sitemap><loc>{host}{name}</loc></sitemap>" for name in names)
    pages["/index.xml"] = f"<sitemapindex {NS}>{children}</sitemapindex>".encode()
    pages["/robots.txt"] = (
        f"User-agent: *\nDisallow: /private/\n\nSitemap: {host}/index.xml\n".encode()
    )
    print(host, flush=True)
    server.serve_forever()


class Site:
    """The site in a child process, for a ``with`` block; ``url`` is its origin."""

    def __init__(self, files: int, size: int, *, etags: bool = False) -> None:
        command = [
            sys.executable,
            "-m",
            "benchmarks.site",
            str(files),
            str(size),
            "etags"[: 5 * etags],
        ]
        self._process = Popen(command, stdout=PIPE, text=True, cwd=Path(__file__).parents[1])
        assert self._process.stdout is not None
        self.log = self._process.stdout
        self.url = self.log.readline().strip()

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), etags=bool(sys.argv[3]))
