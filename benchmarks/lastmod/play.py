"""Plays a simulated site against the real code: sitemaps into the store, looks, verdicts."""

from __future__ import annotations

from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

from benchmarks.lastmod.sites import SimulatedSite
from sitemap_discovery.inventory.store import open_store
from sitemap_discovery.items import SitemapFile, UrlBatch
from sitemap_discovery.pipelines.trust import note_dates
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.dates import LastmodCache
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.trust.keeper import PageLook, TrustKeeper
from sitemap_discovery.trust.static import Clues, FileDates

if TYPE_CHECKING:
    from sitemap_discovery.inventory.evidence import StoredPage
    from sitemap_discovery.trust.verdict import PartState

ROOT = "https://www.example.com"


class Player:
    """One site through its reads. ``sample`` pages are looked at in each."""

    def __init__(self, behaviour: str, speed: str, seed: int, sample: int) -> None:
        self.site = SimulatedSite(behaviour, speed, seed)
        self.store = open_store("sqlite:///:memory:")
        self.keeper = TrustKeeper(self.store)
        self.origin_id = self.store.origin_id(ROOT, self.site.now)
        self.sample, self.seed = sample, seed
        self.judged: list[PartState] = []

    def read(self) -> str:
        """One read with its looks; the verdict on the site."""
        run_id = self.read_sitemaps()
        pages = {page.url for page in self.site.pages}
        looks = [self.look(page, self.site.now) for page in self.choose() if page.loc in pages]
        if looks:
            now = self.site.now
            self.judged = self.keeper.note_looks(self.origin_id, run_id, looks, now)
        return self.judged[0].verdict

    def choose(self) -> list[StoredPage]:
        """The sample of the read at hand."""
        now = self.site.now
        return self.keeper.choose_pages(self.origin_id, self.sample, seed=self.seed, now=now)

    def read_sitemaps(self) -> int:
        """A day passes, and the sitemaps are read; the run's id."""
        if self.site.read or self.judged:
            self.site.pass_day()
        site, now = self.site, self.site.now
        site.begin_read()
        run_id = self.store.begin_run(spider="sitemaps", job=None, arguments={}, now=now)
        for group in dict.fromkeys(page.group for page in site.pages):
            self._read_file(group, run_id, now)
        self.store.retire(self.origin_id, now)
        self.judged = self.keeper.after_read(self.origin_id, run_id, now)
        return run_id

    def _read_file(self, group: str, run_id: int, now: int) -> None:
        site, cache = self.site, LastmodCache(now)
        ours = [page for page in site.pages if page.group == group]
        texts = [site.lastmod(page) for page in ours]
        size = len(ours)
        entries = Entries(
            "url", [page.url for page in ours], [cache[text] if text else None for text in texts],
            [None] * size, [None] * size, [None] * size,
        )  # fmt: skip
        file = SitemapFile(f"{ROOT}/{group}-sitemap.xml", ROOT, kind="urlset", fetched_at=now)
        file.state, file.reason = State.COMPLETE, "ok"
        file.digest = sha256("".join(map(str, texts)).encode()).digest()
        read = self.store.begin_file(self.origin_id, file, run_id, now)
        batch = UrlBatch(file, entries, ["in-path"] * size)
        self.store.add_urls(read, entries, batch.keys, batch.scopes, now)
        sections: dict[str, FileDates] = {}
        note_dates(sections, batch)
        self.store.finish_file(read, file, now)
        self.keeper.note_file(read.file_id, sections, Clues(now, now))

    def look(self, stored: StoredPage, now: int) -> PageLook:
        page = self.site.page(stored.loc)
        content = blake2b(self.site.content(page).encode()).digest()
        outcome = "first"
        if stored.fetched_at is not None and stored.fingerprint:
            outcome = "same" if content == stored.fingerprint else "changed"
            if page.is_noisy:
                outcome = "noisy"
        modified, published = self.site.own_dates(page)
        return PageLook(stored, now, outcome, 200, content, None, modified, published)

    def close(self) -> None:
        self.store.close()
