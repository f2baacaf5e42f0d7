"""A tiny site for store tests: what a run would hand to the store, with few words."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sitemap_discovery.inventory.store import open_store
from sitemap_discovery.items import FoundFile, SitemapFile
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.urls import url_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sitemap_discovery.inventory.store import Marks, Store

ORIGIN = "https://example.com"
DAY = 86_400
START = 1_790_000_000


def sqlite(folder: Path) -> str:
    """The URL of a store in an SQLite file of its own."""
    return f"sqlite:///{folder}/inventory.db"


STORES = [sqlite]
"""Every kind of store; the contract holds for each."""


def page(name: str) -> str:
    return f"{ORIGIN}/{name}"


def entries(urls: Mapping[str, str | None], **columns: Any) -> Entries:
    """Entries from names of pages and the text of their ``lastmod``."""
    size = len(urls)
    return Entries(
        locs=[page(name) for name in urls],
        lastmods=[text and parse_lastmod(text) for text in urls.values()],
        changefreqs=columns.get("changefreqs", [None] * size),
        priorities=columns.get("priorities", [None] * size),
        details=columns.get("details", [None] * size),
    )


class Crawler:
    """Writes a run into a store, as the pipeline does. ``now`` moves a day with each run."""

    def __init__(self, store: Store, now: int = START) -> None:
        self.store = store
        self.now = now
        self.run_id = 0
        self.origin_id = 0

    @contextmanager
    def run(self, share: float = 1.0) -> Iterator[Crawler]:
        """One run; ``gone`` holds afterwards how many URLs it retired."""
        self.start()
        yield self
        self.gone_ids = self.store.retire(self.origin_id, self.now, share=share)
        self.gone = sum(map(len, self.gone_ids.values()))
        self.store.finish_run(
            self.run_id, state="complete", reason=None, finish_reason="finished",
            summary={"urls": 1, "files": {"complete": 1}}, now=self.now,
        )  # fmt: skip

    def start(self) -> None:
        self.now += DAY
        self.run_id = self.store.begin_run(spider="sitemaps", job=None, arguments={}, now=self.now)
        self.origin_id = self.store.origin_id(ORIGIN, self.now)

    def read(
        self,
        urls: Mapping[str, str | None],
        *,
        file: str = "sitemap.xml",
        state: State = State.COMPLETE,
        repeats: Sequence[str] = (),
        children: Sequence[str] = (),
        **fields: Any,
    ) -> Marks:
        """Read a file; returns the marks of its rows."""
        found = SitemapFile(page(file), ORIGIN)
        read = self.store.begin_file(self.origin_id, found, self.run_id, self.now)
        batch = entries(urls, **fields.pop("columns", {}))
        keys = [url_key(loc) for loc in batch.locs]
        marks = self.store.add_urls(read, batch, keys, ["in-path"] * len(batch), self.now)
        self.store.add_listings(read, [url_key(page(name)) for name in repeats])
        for name, value in {"state": state, "reason": "ok", **fields}.items():
            setattr(found, name, value)
        found.children = [FoundFile(page(name), "index", found.url, 1, None) for name in children]
        self.dropped = self.store.finish_file(read, found, self.now)
        return marks

    def fail(
        self, state: State = State.FAILED, *, file: str = "sitemap.xml", **fields: Any
    ) -> None:
        """A read that came to no entries."""
        found = SitemapFile(page(file), ORIGIN, state=state, reason="http-503", **fields)
        read = self.store.begin_file(self.origin_id, found, self.run_id, self.now)
        self.store.finish_file(read, found, self.now)

    def rows(self, columns: str, table: str = "url", order: str = "id") -> list[tuple[Any, ...]]:
        return self.store.rows(f"SELECT {columns} FROM {table} ORDER BY {order}")

    def present(self) -> set[str]:
        """Names of the pages that are not gone."""
        found = self.store.rows("SELECT loc FROM url WHERE gone_at IS NULL")
        return {loc.removeprefix(ORIGIN + "/") for (loc,) in found}

    def last_seen(self, name: str) -> str:
        ((when,),) = self.store.rows(
            "SELECT strftime('%s', last_seen) FROM urls WHERE loc = ?", (page(name),)
        )
        return str(when)


@contextmanager
def opened(url: str) -> Iterator[Crawler]:
    store = open_store(url)
    try:
        yield Crawler(store)
    finally:
        store.close()
