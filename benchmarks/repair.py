"""Reading broken files, against the same files without their faults.

``python -m benchmarks.repair``; exit status 1 when a bound is missed.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Final

from benchmarks.measure import best_times, table
from benchmarks.site import urlset
from sitemap_discovery.protocol.reader import SitemapReader

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE, ROUNDS = 50_000, 5
PIECE = 131_072
MOST: Final = 3.0

FAULTS: Final[dict[str, tuple[int, Callable[[bytes], bytes]]]] = {
    "a bare & in every loc": (1, lambda entry: entry.replace(b"</loc>", b"?a=1&b=2</loc>")),
    "an HTML entity in 1 of 100": (100, lambda entry: entry.replace(b"</loc>", b"?&eacute;</loc>")),
    "a control character in 1 of 100": (100, lambda entry: entry.replace(b"<lastmod>", b"<lastmod>\1")),
    "bytes that are no text in 1 of 100": (100, lambda entry: entry.replace(b"<lastmod>", b"<lastmod>\xff")),
    "an undeclared prefix in 1 of 100": (100, lambda entry: entry.replace(b"</loc>", b"</loc><x:y/>")),
    "an entry that is lost in 1 of 1,000": (1_000, lambda entry: entry.replace(b"</loc>", b"</lo>")),
    "an entry that is lost in 1 of 100": (100, lambda entry: entry.replace(b"</loc>", b"</lo>")),
}  # fmt: skip
"""What is wrong with one entry in how many, and how it is broken."""


def broken(data: bytes, every: int, fault: Callable[[bytes], bytes]) -> bytes:
    entries = data.split(b"</url>")
    for number in range(0, len(entries) - 1, every):
        entries[number] = fault(entries[number])
    return b"</url>".join(entries)


def read(data: bytes) -> None:
    reader = SitemapReader("https://www.example.com/sitemap.xml")
    kept = sum(map(len, reader.feed(data))) + sum(map(len, reader.close()))
    assert kept + reader.outcome.entries_lost == SIZE, reader.outcome


def main() -> int:
    clean = urlset("https://www.example.com", 1, SIZE)
    files = {"": clean} | {name: broken(clean, *fault) for name, fault in FAULTS.items()}
    times = best_times({name: partial(read, data) for name, data in files.items()}, ROUNDS)
    rows, missed = [], False
    for name in FAULTS:
        ratio = times[name] / times[""]
        missed = missed or ratio > MOST
        rows.append([name, f"{ratio:.2f}", f"≤ {MOST:.0f}"])
    print(table([f"{SIZE:,} entries", "times the clean file's CPU", "bound"], rows))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
