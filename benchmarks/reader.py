"""The reader alone, against expat without handlers and Scrapy's Sitemap class, on the same bytes.

``python -m benchmarks.reader``; exit status 1 when a bound is missed on the file of the main job.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from xml.parsers.expat import ParserCreate

from scrapy.utils.sitemap import Sitemap

from benchmarks.measure import best_times, table
from benchmarks.site import urlset
from sitemap_discovery.protocol.reader import SitemapReader

SIZE, ROUNDS = 50_000, 5
PIECE = 131_072
LEAST_OF_EXPAT, LEAST_OF_SCRAPY = 0.40, 4.0


def expat(data: bytes) -> None:
    parser = ParserCreate()
    for start in range(0, len(data), PIECE):
        parser.Parse(data[start : start + PIECE], False)
    parser.Parse(b"", True)


def ours(data: bytes) -> None:
    reader = SitemapReader("https://www.example.com/sitemap.xml")
    count = sum(map(len, reader.feed(data))) + sum(map(len, reader.close()))
    assert count == SIZE, count


def scrapy(data: bytes) -> None:
    assert sum(1 for _ in Sitemap(data)) == SIZE


def shapes() -> dict[str, bytes]:
    """The file of the main job, the same on one line without the optional fields, and with images."""
    full = urlset("https://www.example.com", 1, SIZE)
    short = re.sub(rb"\s*<(changefreq|priority)>[^<]*</\1>", b"", full)
    image = b"<image:image><image:loc>https://www.example.com/a.jpg</image:loc></image:image></url>"
    spaced = full.replace(
        b"<urlset", b'<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    )
    return {
        "loc, lastmod, changefreq, priority": full,
        "loc, lastmod, on one line": re.sub(rb"\n\s*", b"", short),
        "with an image each": spaced.replace(b"</url>", image),
    }


def main() -> int:
    rows, missed = [], False
    for number, (name, data) in enumerate(shapes().items()):
        works = {work.__name__: partial(work, data) for work in (expat, ours, scrapy)}
        floor, mine, theirs = best_times(works, ROUNDS).values()
        rows.append(
            [name, *(f"{t / SIZE * 1e6:.2f}" for t in (floor, mine, theirs)),
             f"{floor / mine:.2f}", f"{theirs / mine:.1f}"]
        )  # fmt: skip
        if number == 0:
            missed = floor / mine < LEAST_OF_EXPAT or theirs / mine < LEAST_OF_SCRAPY
    head = ["50,000 entries, µs a URL", "expat, no handlers", "ours", "Scrapy's Sitemap",
            "ours of expat's speed", "times Scrapy's"]  # fmt: skip
    print(table(head, rows))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
