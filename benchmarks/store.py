"""What the inventory costs a URL: a first crawl, and a second one that finds nothing changed.

    python -m benchmarks.store [rows ...]        default: 200000 1000000

Each figure is CPU time (user and system) of this process, commits and checkpoints included.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_discovery.inventory.store import open_store
from sitemap_discovery.items import SitemapFile, UrlBatch
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.dates import Lastmod
from sitemap_discovery.protocol.entries import Entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_discovery.inventory.store import Store

FILE_ROWS = 50_000
BATCH_ROWS = 10_000
ORIGIN = "https://example.com"
START = 1_790_000_000


def batches(rows: int) -> list[UrlBatch]:
    """A site's URLs as the pipeline hands them on, keys and scopes ready."""
    return [_batch(start, min(BATCH_ROWS, rows - start)) for start in range(0, rows, BATCH_ROWS)]


def _batch(start: int, size: int) -> UrlBatch:
    numbers = range(start, start + size)
    entries = Entries(
        locs=[
            f"{ORIGIN}/section-{n % 37}/{n * 2654435761 % 10**9}-the-name-of-a-page/"
            for n in numbers
        ],
        lastmods=[Lastmod(START - n, "", "second", None, None) for n in numbers],
        changefreqs=["weekly"] * size,
        priorities=[0.5] * size,
        details=[None] * size,
    )
    file = SitemapFile(f"{ORIGIN}/sitemap-{start // FILE_ROWS}.xml", ORIGIN)
    return UrlBatch(file, entries, ["in-path"] * size)


def crawl(store: Store, site: list[UrlBatch], now: int) -> None:
    """Store a whole site once, in the order in which a run does."""
    run = store.begin_run(spider="benchmark", job=None, arguments={}, now=now)
    origin = store.origin_id(ORIGIN, now)
    for file, part in _files(site):
        read = store.begin_file(origin, file, run, now)
        for batch in part:
            store.add_urls(read, batch.entries, batch.keys, batch.scopes, now)
        store.finish_file(read, replace(file, state=State.COMPLETE, reason="ok"), now)
    store.retire(origin, now)


def _files(site: list[UrlBatch]) -> Iterator[tuple[SitemapFile, list[UrlBatch]]]:
    for url in dict.fromkeys(batch.file.url for batch in site):
        part = [batch for batch in site if batch.file.url == url]
        yield part[0].file, part


def measure(rows: int) -> str:
    """One line of the table."""
    site = batches(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "inventory.db"
        costs = []
        for number in range(2):
            started = time.process_time()
            store = open_store(f"sqlite:///{path}")
            crawl(store, site, START + number)
            store.close()
            costs.append((time.process_time() - started) / rows * 1e6)
        size = path.stat().st_size / rows
    return f"{rows:>10,} {costs[0]:>12.2f} {costs[1]:>12.2f} {size:>12.0f}"


def main(arguments: list[str]) -> None:
    print(f"{'rows':>10} {'first µs/URL':>12} {'again µs/URL':>12} {'bytes/URL':>12}")
    for text in arguments or ["200000", "1000000"]:
        print(measure(int(text)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
