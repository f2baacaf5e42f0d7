"""Simulated sites: pages that change, and a sitemap that says so, or not."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timezone
from math import exp
from typing import Final

from sitemap_discovery.trust.stamps import DAY

START: Final = 1_790_856_000  # noon, 1 October 2026
SPEEDS: Final = {"slow": 0.02, "fast": 0.10}
GROUPS: Final = {"post": (0.5, 1.0), "product": (0.3, 1.5), "page": (0.2, 0.25)}
"""Share of the URLs, and how often they change beside the mean, of each family of files."""

RIGHT: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("honest", "bulk_import", "tz_shift", "date_only", "small30", "news48", "lag", "noisy",
         "resave_once", "real_bulk", "template", "two_caches"), ("trusted",)),
    **dict.fromkeys(("gen", "gen_two", "gen_night", "deploy_weekly", "deploy_plus", "flip_gen"),
                    ("generation-time",)),
    "absent": ("absent",),
    **dict.fromkeys(("cosmetic", "stale", "random", "random_bump", "half_silent"), ("untrusted",)),
    "articles_only": ("mixed",),
    "flip_frozen": ("unproven", "untrusted", "generation-time", "absent", "mixed"),
}  # fmt: skip
"""What each behaviour should come to; of those that flip, after they did."""

TRUSTWORTHY: Final = tuple(name for name, right in RIGHT.items() if right == ("trusted",))
FLIP: Final = 5
"""The read after which some sites change their ways."""


@dataclass(slots=True)
class SimulatedPage:
    """A page: its rate of change a day, its content's version, and its date in the sitemap."""

    url: str
    group: str
    rate: float
    created: int
    changed: int
    stamp: int
    version: int = 0
    is_noisy: bool = False
    history: list[int] = field(default_factory=list)


class SimulatedSite:
    """One site of a behaviour; :meth:`pass_day` moves it from noon to noon."""

    def __init__(self, behaviour: str, speed: str, seed: int) -> None:
        self.behaviour, self.rng = behaviour, random.Random(f"{behaviour}|{speed}|{seed}")
        self.now, self.read, self.template = START, 0, 0
        self.mean = 0.5 if behaviour == "news48" else SPEEDS[speed]  # young articles change often
        self.offset = self.rng.randint(-8, 9) * 3_600 if behaviour == "tz_shift" else 0
        self.built = self.now - self.rng.randint(0, 6) * DAY - 7_200
        self.noisy = 0.3 if behaviour == "noisy" else 0.05
        self.slow_noise = 0.01 if behaviour == "noisy" else 0.003
        self.page_dates = self.rng.choices(
            ("none", "column", "true", "render", "published"), (40, 24, 24, 6, 6)
        )[0]
        self._number = 0
        self._by_url: dict[str, SimulatedPage] = {}
        count = {"small30": 30, "news48": 200}.get(behaviour, 1_000)
        self.pages: list[SimulatedPage] = []
        for group, (share, factor) in GROUPS.items():
            for _ in range(round(share * count)):
                self.pages.append(self._new_page(group, factor))
        self._begin()

    def _new_page(self, group: str, factor: float, born: int | None = None) -> SimulatedPage:
        self._number += 1
        rng = self.rng
        age = rng.uniform(0, 2) if self.behaviour == "news48" else rng.uniform(30, 900)
        created = born if born is not None else int(self.now - age * DAY)
        rate = self.mean * factor * rng.gammavariate(0.5, 2.0)
        last = self.now - rng.expovariate(max(rate, 1e-4)) * DAY
        changed = max(created, int(last))
        url = f"https://www.example.com/{group}/{self._number}"
        page = SimulatedPage(url, group, rate, created, changed, changed)
        page.is_noisy = rng.random() < self.noisy
        return page

    def _begin(self) -> None:
        import_at = self.now - 30 * DAY
        for page in self.pages:
            if self.behaviour == "bulk_import" and page.stamp < import_at:
                page.stamp = import_at
            if self.behaviour in ("stale", "random_bump"):
                page.stamp = page.created
        self._after_day()

    # -- a day -------------------------------------------------------------------------------------

    def pass_day(self) -> None:
        """From one read to the next."""
        self.read += 1
        self.now += DAY
        for page in self.pages:
            page.history.append(page.stamp)
            for _ in range(self._events(page.rate)):
                self._change(page, self._moment())
            self._bump(page)
        if self.behaviour == "news48":
            self._turn_over()
        self._after_day()

    def _moment(self) -> int:
        return self.now - self.rng.randint(1, DAY - 1)

    def _events(self, rate: float) -> int:
        count, left = 0, exp(-rate)
        product = self.rng.random()
        while product > left:
            product *= self.rng.random()
            count += 1
        return count

    def _change(self, page: SimulatedPage, moment: int) -> None:
        page.version += 1
        page.changed = max(page.changed, moment)
        reported = 0.5 if self.behaviour == "half_silent" else 0.97
        if self._reports(page) and self.rng.random() < reported:
            page.stamp = max(page.stamp, moment)

    def _reports(self, page: SimulatedPage) -> bool:
        if self.behaviour in ("stale", "random_bump", "random", "deploy_weekly"):
            return False
        if self.behaviour == "articles_only":
            return page.group == "post"
        return not (self.behaviour == "flip_frozen" and self.read > FLIP)

    def _bump(self, page: SimulatedPage) -> None:
        """Edits that nobody can see."""
        extra = {"cosmetic": 4.0}.get(self.behaviour, 0.15)
        if self._reports(page) and self._events(extra * page.rate):
            page.stamp = max(page.stamp, self._moment())
        if self.behaviour == "random_bump" and self.rng.random() < 0.05:
            page.stamp = self._moment()

    def _turn_over(self) -> None:
        born = [page for page in self.pages if self.now - page.created <= 2 * DAY]
        while len(born) < 200:
            group = self.rng.choices(list(GROUPS), [share for share, _ in GROUPS.values()])[0]
            born.append(self._new_page(group, GROUPS[group][1], self._moment()))
        self.pages = born

    def _after_day(self) -> None:
        rng, name = self.rng, self.behaviour
        weekly = (self.now - self.built) >= 7 * DAY
        if weekly:
            self.built = self.now - rng.randint(3_600, 20 * 3_600)
        first = self.read == 0 and name == "deploy_weekly"
        if first or (weekly and name in ("deploy_weekly", "deploy_plus")):
            self._stamp_all(self.built, 60)
        if name == "random":
            for page in self.pages:
                page.stamp = self.now - rng.randint(0, 365 * DAY)
        if self.read == 4 and name in ("resave_once", "real_bulk"):
            self._stamp_all(self.now - 7_200, 600)
        if self.read == 4 and name == "real_bulk":
            for page in self.pages:
                page.version += 1
        if self.read == 4 and name == "template":
            self.template += 1
        if name == "gen_night":
            self._stamp_all(self.now - 10 * 3_600, 600)
        if name in ("gen", "gen_two") or (name == "flip_gen" and self.read > FLIP):
            self._stamp_all(self.now - 20, 1 if name == "gen_two" else 0)

    def _stamp_all(self, moment: int, spread: int) -> None:
        for page in self.pages:
            page.stamp = moment + (self.rng.randint(0, spread) if spread else 0)

    # -- what can be seen --------------------------------------------------------------------------

    def page(self, url: str) -> SimulatedPage:
        """One page by its address."""
        if url not in self._by_url:
            self._by_url = {page.url: page for page in self.pages}
        return self._by_url[url]

    def begin_read(self) -> None:
        """A server answers: some have two, of which one is behind."""
        self._behind = 0
        if self.behaviour == "lag":
            self._behind = 1
        if self.behaviour == "two_caches" and self.rng.random() < 0.5:
            self._behind = 2

    def lastmod(self, page: SimulatedPage) -> str | None:
        """The date that the sitemap gives of a page."""
        if self.behaviour == "absent":
            return None
        stamp = page.stamp
        if self._behind and page.history:
            stamp = page.history[-min(self._behind, len(page.history))]
        summer = 3_600 if self.behaviour == "tz_shift" and self.read >= 4 else 0
        text = datetime.fromtimestamp(stamp + self.offset + summer, timezone.utc).isoformat()
        return text[:10] if self.behaviour == "date_only" else text

    def content(self, page: SimulatedPage) -> str:
        """What a page says when it is fetched."""
        if self.rng.random() < self.slow_noise:
            page.version += 1
        return f"{page.url} {page.version} {self.template}"

    def own_dates(self, page: SimulatedPage) -> tuple[str | None, str | None]:
        """``dateModified`` and ``datePublished`` of a page."""
        if self.page_dates == "none":
            return None, None
        modified = {
            "column": page.stamp, "true": page.changed, "render": self.now, "published": page.created,
        }[self.page_dates]  # fmt: skip
        return _iso(modified), _iso(page.created)


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()
