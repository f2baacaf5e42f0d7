"""The plain way: fetch with urllib, parse whole files with defusedxml, print a line a URL.

It stores nothing, dedupes nothing, bounds only the size of a file, and is what a reader of the
usual guides would run. ``python benchmarks/guide.py ORIGIN OUT``
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import urllib.request
from datetime import datetime, timezone
from typing import TYPE_CHECKING, TextIO

from defusedxml.ElementTree import fromstring

if TYPE_CHECKING:
    from collections.abc import Iterator

NS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
LIMIT = 52_428_800


def body_of(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=45) as answer:
        body: bytes = answer.read(LIMIT + 1)
    if body.startswith(b"\x1f\x8b"):
        body = gzip.GzipFile(fileobj=io.BytesIO(body)).read(LIMIT + 1)
    if len(body) > LIMIT:
        raise ValueError(f"{url} is too large")
    return body


def date_of(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        date = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=timezone.utc)


def entries(url: str, seen: set[str]) -> Iterator[tuple[str, datetime | None]]:
    if url in seen:
        return
    seen.add(url)
    root = fromstring(body_of(url))
    if root.tag == NS + "sitemapindex":
        for child in root.findall(NS + "sitemap"):
            yield from entries(child.findtext(NS + "loc").strip(), seen)
        return
    for entry in root.findall(NS + "url"):
        yield entry.findtext(NS + "loc").strip(), date_of(entry.findtext(NS + "lastmod"))


def main(origin: str, out: TextIO) -> None:
    robots = body_of(origin + "/robots.txt").decode("utf-8", "replace")
    for root in re.findall(r"(?im)^\s*sitemap:\s*(\S+)", robots):
        for loc, lastmod in entries(root, set()):
            out.write(f"{loc}\t{lastmod}\n")


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        main(sys.argv[1], stream)
