"""What the plan saves and what it misses, beside other ways to choose what to fetch.

``python -m benchmarks.lastmod.plan``: daily reads of simulated sites, every page fetched at the
first. Exit status 1 when an honest site costs more than 40 % of its pages a day or learns of more
than 5 % of its changes late, or a dishonest one does worse than a fixed interval.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchmarks.lastmod.play import Player
from benchmarks.lastmod.sites import SPEEDS
from benchmarks.measure import table
from sitemap_discovery.trust.keeper import PageLook

if TYPE_CHECKING:
    from benchmarks.lastmod.sites import SimulatedPage

HONEST: Final = ("honest", "bulk_import", "tz_shift", "date_only")
DISHONEST: Final = ("gen", "gen_night", "cosmetic", "stale", "random", "half_silent", "absent")
INTERVAL: Final = 7


@dataclass
class Strategy:
    """One way to choose. ``copies`` are the versions that were fetched last."""

    copies: dict[str, int] = field(default_factory=dict)
    stamps: dict[str, str | None] = field(default_factory=dict)
    fetched: int = 0
    late: int = 0
    stale: int = 0

    def fetch(self, pages: list[SimulatedPage], lastmods: dict[str, str | None]) -> None:
        self.fetched += len(pages)
        for page in pages:
            self.copies[page.url] = page.version
            self.stamps[page.url] = lastmods[page.url]


class Contest:
    """One site, followed by every strategy at once."""

    def __init__(self, behaviour: str, speed: str, seed: int) -> None:
        self.player = Player(behaviour, speed, seed, sample=30)
        self.ours, self.naive, self.fixed = Strategy(), Strategy(), Strategy()
        self.page_days = self.changes = 0
        self._versions: dict[str, int] = {}

    def day(self, number: int) -> None:
        player, site = self.player, self.player.site
        run_id = player.read_sitemaps()
        pages = {page.url: page for page in site.pages}
        lastmods = {url: site.lastmod(page) for url, page in pages.items()}
        changed = {
            u for u, page in pages.items() if self._versions.get(u, page.version) != page.version
        }
        self._versions = {url: page.version for url, page in pages.items()}
        self.changes += len(changed)
        self.page_days += len(pages)
        chosen = self._ours(pages, run_id, number)
        self.ours.fetch(chosen, lastmods)
        self.naive.fetch(
            [p for u, p in pages.items() if u not in self.naive.stamps or lastmods[u] != self.naive.stamps[u]],
            lastmods,
        )  # fmt: skip
        self.fixed.fetch(
            [p for i, p in enumerate(pages.values()) if not number or i % INTERVAL == number % INTERVAL],
            lastmods,
        )  # fmt: skip
        for strategy in (self.ours, self.naive, self.fixed):
            behind = {u for u, page in pages.items() if strategy.copies.get(u) != page.version}
            strategy.stale += len(behind)
            strategy.late += len(behind & changed)

    def _ours(
        self, pages: dict[str, SimulatedPage], run_id: int, number: int
    ) -> list[SimulatedPage]:
        """The plan's pages with the sample; all of them are evidence."""
        player, now = self.player, self.player.site.now
        sample = player.choose() if number else []
        plan = player.keeper.plan(player.origin_id, now=now, audits=[page.loc for page in sample])
        due = {due.loc for due in plan.due} | {page.loc for page in sample}
        stored = [
            page
            for some in player.store.pages_of(player.origin_id, 10_000)
            for page in some
            if page.loc in due and page.loc in pages
        ]
        looks: list[PageLook] = [player.look(page, now) for page in stored]
        player.keeper.note_looks(player.origin_id, run_id, looks, now)
        return [pages[page.loc] for page in stored]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lastmod.plan")
    parser.add_argument("--sites", type=int, default=2)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--behaviours", nargs="+", default=[*HONEST, *DISHONEST])
    asked = parser.parse_args()
    rows, missed = [], False
    for behaviour in asked.behaviours:
        for speed in SPEEDS:
            total: dict[str, list[float]] = {}
            for seed in range(80_000, 80_000 + asked.sites):
                contest = Contest(behaviour, speed, seed)
                for number in range(asked.days):
                    contest.day(number)
                for name in ("ours", "naive", "fixed"):
                    strategy = getattr(contest, name)
                    shares = total.setdefault(name, [0.0, 0.0, 0.0])
                    shares[0] += strategy.fetched / contest.page_days / asked.sites
                    shares[1] += strategy.stale / contest.page_days / asked.sites
                    shares[2] += strategy.late / max(1, contest.changes) / asked.sites
                contest.player.close()
            ours, fixed = total["ours"], total["fixed"]
            if behaviour in HONEST:
                missed = missed or ours[0] > 0.4 or ours[2] > 0.05
            else:
                missed = missed or ours[1] > fixed[1] * 1.05
            cells = [" / ".join(f"{share:.1%}" for share in total[name]) for name in total]
            rows.append([f"{behaviour}, {speed}", *cells])
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    heads = ["pages fetched a day / copies out of date / changes late", "the plan", "lastmod believed",
             f"every {INTERVAL} days"]  # fmt: skip
    print(table(heads, rows))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
