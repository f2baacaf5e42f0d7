"""Which pages to fetch next and why: by lastmod where it is trusted, by change rates elsewhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import nlargest
from typing import TYPE_CHECKING, Final, NamedTuple

from sitemap_discovery.trust.numbers import Numbers, numbers_of
from sitemap_discovery.trust.rates import chance_of_change, rate_regular, worth_of_fetch
from sitemap_discovery.trust.stamps import DAY, Stamp
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds
from sitemap_discovery.trust.verdict import TRUSTED, UNPROVEN, UNTRUSTED, PartState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

NEW: Final = "never fetched"
MOVED: Final = "lastmod moved"
DAY_OPEN: Final = "its day was not over when it was fetched"
AUDIT: Final = "to check lastmod"
OLD: Final = "not fetched for long"
RATE: Final = "likely to have changed"

USUAL_RATE: Final = 1 / 30
"""Changes a day of a page of which nothing is known."""

LEAST_OF_BULK: Final = 6
"""Pages that moved in bulk and are fetched all the same: half a sample, or at least so many."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the inventory knows it. ``fetched_at`` is when it was last asked for, whatever
    came of it, ``stamp`` its date now and ``stamp_then`` that of the last fetch which could be
    compared; ``looks`` found ``changes`` in ``observed`` days.
    """

    url: str
    part: str
    stamp: Stamp | None = None
    fetched_at: int | None = None
    stamp_then: Stamp | None = None
    looks: int = 0
    changes: int = 0
    observed: float = 0.0
    first_seen: int = 0

    @property
    def moved(self) -> bool:
        """Whether its date is another than when it was fetched."""
        if self.stamp is None:
            return False
        return self.stamp_then is None or self.stamp.time != self.stamp_then.time


class Due(NamedTuple):
    """A page to fetch, why, the chance that it has changed (0.0–1.0), and what the fetch is worth:
    the days for which the copy is expected to be right because of it."""

    loc: str
    reason: str
    chance: float
    part: str
    worth: float


@dataclass(slots=True)
class Plan:
    """Pages to fetch, best first, and what that is expected to come to.

    Of ``pages`` in all, ``saved`` are not fetched; ``caught`` changes are expected among those that
    are, ``missed`` among those that are not, ``missed_most`` at most.
    """

    due: list[Due] = field(default_factory=list)
    pages: int = 0
    saved: int = 0
    caught: float = 0.0
    missed: float = 0.0
    missed_most: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)


class _Part:
    """How the pages of one part are ranked."""

    def __init__(self, state: PartState, limits: Thresholds) -> None:
        self.state, self.limits = state, limits
        self.numbers: Numbers = numbers_of(state.long, limits)
        self.by_lastmod = _is_guide(state, self.numbers, limits)
        looked = state.long.moved_looks + state.long.looks
        found = self.numbers.hit_rate + self.numbers.silent_rate
        self.rate = (found if looked else self.numbers.move_rate) or USUAL_RATE
        self.by_rate: list[Page] = []
        self._moved = 0
        known = state.long.moved_looks
        self.moved_chance = (state.long.hits + 1) / (known + 2)
        if self.by_lastmod and known:
            self.moved_chance = self.numbers.precision

    def learn_rate(self) -> None:
        """The rate of the part from all its pages that are ranked by rates, dated or not."""
        looks = sum(page.looks for page in self.by_rate)
        if looks:
            changes = sum(page.changes for page in self.by_rate)
            gap = sum(page.observed for page in self.by_rate) / looks
            usual = chance_of_change(self.rate, gap)
            self.rate = rate_regular(looks, changes, gap, usual) if gap else self.rate

    def page_rate(self, page: Page) -> float:
        """Unreported changes a day: the part's where lastmod is a guide, else the page's own."""
        if self.by_lastmod:
            return self.numbers.silent_rate
        gap = page.observed / page.looks if page.looks else 1 / self.rate
        return rate_regular(page.looks, page.changes, gap, chance_of_change(self.rate, gap))

    def chance(self, page: Page, now: int) -> float:
        """That an unmoved page has changed, or any page where lastmod tells nothing."""
        age = (now - (page.fetched_at or now)) / DAY
        return chance_of_change(self.page_rate(page), age)

    def most(self, page: Page, now: int) -> float:
        """The upper figure of the same where lastmod is a guide."""
        age = (now - (page.fetched_at or now)) / DAY
        return chance_of_change(self.numbers.silent_most, age)

    def due(self, page: Page, now: int, *, audit: bool) -> Due | None:
        """The page with its reason; ``None`` for one that can wait."""
        if page.fetched_at is None:
            return Due(page.url, NEW, 1.0, page.part, worth_of_fetch(self.rate, 1.0))
        reason = self._reason(page, now, audit=audit)
        if reason is None or (reason == MOVED and self._is_held()):
            return None
        chance = self.chance(page, now)
        if reason in (MOVED, DAY_OPEN):
            chance = self.moved_chance if self.by_lastmod else max(chance, self.moved_chance)
        rate = self.rate if self.by_lastmod else self.page_rate(page)
        return Due(page.url, reason, chance, page.part, worth_of_fetch(rate, chance))

    def _is_held(self) -> bool:
        """Whether one more moved page waits until looks have shown what a bulk move was."""
        self._moved += 1
        few = max(LEAST_OF_BULK, self.limits.sample // 2)
        return bool(self.state.bulk and not self.state.shown and self._moved > few)

    def _reason(self, page: Page, now: int, *, audit: bool) -> str | None:
        assert page.fetched_at is not None
        slack = self.limits.zone_slack_seconds
        since = page.stamp is not None and page.stamp.latest + slack >= page.fetched_at
        if not self.by_lastmod:
            if page.moved and self.state.verdict == UNPROVEN and (since or page.stamp_then):
                return MOVED
            return AUDIT if audit else RATE
        if page.moved and since:
            return MOVED
        then = page.stamp_then
        if then is not None and then.is_date_only and page.fetched_at < then.latest:
            return DAY_OPEN
        if audit:
            return AUDIT
        return OLD if now - page.fetched_at > self.limits.safety_days * DAY else None


def make_plan(
    pages: Iterable[Page],
    parts: Mapping[str, PartState],
    *,
    now: int,
    audits: Collection[str] = (),
    limit: int | None = None,
    limits: Thresholds = DEFAULT,
) -> Plan:
    """Choose the pages to fetch at ``now``: at most ``limit``, by default what the verdicts ask for
    and, where they rest on rates, ``budget_share`` of the pages beside new ones."""
    ranked = {name: _Part(state, limits) for name, state in parts.items()}
    chosen: list[Due] = []
    plan, most = Plan(), 0.0
    for page in pages:
        plan.pages += 1
        part = ranked.get(page.part) or ranked.setdefault(
            page.part, _Part(PartState(page.part), limits)
        )
        if not part.by_lastmod:
            part.by_rate.append(page)
        elif due := part.due(page, now, audit=page.url in audits):
            chosen.append(due)
        else:
            plan.missed += part.chance(page, now)
            most += part.most(page, now)
    for part in ranked.values():
        part.learn_rate()
        waiting: list[Due] = []
        for page in part.by_rate:
            due = part.due(page, now, audit=page.url in audits)
            if due is None:
                plan.missed += part.chance(page, now)
                most += part.chance(page, now)
            else:
                (chosen if due.reason == NEW else waiting).append(due)
        share = max(1, int(len(part.by_rate) * limits.budget_share))
        best = nlargest(share if limit is None else limit, waiting, key=lambda due: due.worth)
        chosen += best
        rest = sum(due.chance for due in waiting) - sum(due.chance for due in best)
        plan.missed, most = plan.missed + rest, most + rest
    chosen.sort(key=lambda due: (due.reason != NEW, -due.worth))
    left = chosen[limit:] if limit is not None else []
    plan.due = chosen[: len(chosen) - len(left)]
    rest = sum(due.chance for due in left)
    plan.missed, plan.missed_most = plan.missed + rest, max(most, plan.missed) + rest
    plan.caught = sum(due.chance for due in plan.due)
    plan.saved = plan.pages - len(plan.due)
    plan.reasons = dict(Counter(due.reason for due in plan.due).most_common())
    return plan


def _is_guide(state: PartState, numbers: Numbers, limits: Thresholds) -> bool:
    """Whether pages whose lastmod did not move may be skipped: where it is trusted, and where it
    moves too often but never fails to."""
    wolf = state.verdict == UNTRUSTED and state.why == ["over-reports"]
    return state.verdict == TRUSTED or (wolf and numbers.recall_least >= limits.recall)
