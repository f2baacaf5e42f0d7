"""Looks at pages become evidence: what a moved date was worth, and what went on without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from sitemap_discovery.trust.stamps import DAY, Stamp
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sitemap_discovery.trust.verdict import PartState

LATE_SECONDS: Final = 3_600
"""A stamp that much older than our last look says nothing of what we have not seen."""

WAIT_SECONDS: Final = 20 * 3_600
"""How long a look at an unmoved page waits for a stamp that comes late."""


@dataclass(frozen=True, slots=True)
class Look:
    """A page that was compared with what it was at ``before``: whether it ``changed``, its stamp
    then and now."""

    url_id: int
    before: int
    at: int
    stamp_before: Stamp
    stamp: Stamp
    changed: bool

    @property
    def moved(self) -> bool:
        """Whether its date is another."""
        return self.stamp.time != self.stamp_before.time


class Waiting(NamedTuple):
    """A look at an unmoved page that is booked a read later, when a late date would have come."""

    url_id: int
    before: int
    at: int
    stamp: Stamp
    changed: bool


class Booked(NamedTuple):
    """What became of the looks of one read at one part. ``strike`` says that a bulk move was empty:
    its pages' dates are written off; ``burst`` that the template changed: older baselines go."""

    waiting: list[Waiting]
    strike: bool = False
    burst: bool = False


def book(
    state: PartState,
    looks: Sequence[Look],
    limits: Thresholds = DEFAULT,
    *,
    bulk: Sequence[Look] = (),
    everywhere: Sequence[Look] = (),
) -> Booked:
    """Book the looks of one read: those at moved pages at once, the others later.

    ``bulk`` are the looks at all parts whose dates moved together, ``everywhere`` those at the
    whole site: they judge the move, and a new template, where there are too few at this part alone.
    """
    moved = [look for look in looks if look.moved]
    unmoved = [look for look in looks if not look.moved]
    strike = False
    if state.bulk:
        enough = len(moved) >= limits.burst_looks
        judging = moved if enough else [look for look in bulk if look.moved]
        strike = state.note_bulk(sum(look.changed for look in judging), len(judging), limits)
        moved = moved if len(judging) >= limits.burst_looks else []
    if not strike:
        _book_moved(state, moved)
    few = len(unmoved) < limits.burst_looks
    burst = _is_burst(
        state, [look for look in everywhere if not look.moved] if few else unmoved, limits
    )
    waiting = [] if burst else list(_to_wait(unmoved))
    return Booked(waiting, strike, burst)


def _book_moved(state: PartState, looks: Iterable[Look]) -> None:
    for look in looks:
        if look.stamp.latest < look.before - LATE_SECONDS:
            continue
        for table in (state.long, state.short):
            table.hits += look.changed
            table.bumps += not look.changed
        if look.changed:
            state.note_hit()


def _is_burst(state: PartState, looks: Sequence[Look], limits: Thresholds) -> bool:
    """Whether nearly all unmoved pages changed at once: a new template, the first times."""
    changed = sum(look.changed for look in looks)
    if len(looks) < limits.burst_looks or changed < limits.burst_share * len(looks):
        return False
    state.bursts = [
        *(read for read in state.bursts if state.reads - read < limits.strike_memory),
        state.reads,
    ]
    return len(state.bursts) <= limits.burst_free


def _to_wait(looks: Iterable[Look]) -> Iterable[Waiting]:
    for look in looks:
        day_is_over = not look.stamp.is_date_only or look.stamp.latest <= look.before
        if day_is_over:
            yield Waiting(look.url_id, look.before, look.at, look.stamp, look.changed)


def book_waiting(
    state: PartState, waiting: Iterable[Waiting], stamps: dict[int, Stamp | None], now: int
) -> list[Waiting]:
    """Book looks that have waited long enough, by the stamps that their pages have now; those that
    have not are returned."""
    left = []
    for look in waiting:
        if now - look.at < WAIT_SECONDS:
            left.append(look)
            continue
        stamp = stamps.get(look.url_id)  # none: the page is gone, or its date, and nothing comes
        moved = stamp is not None and stamp.time != look.stamp.time
        late = look.changed and moved and not state.bulk
        late = late and stamp is not None and covers(stamp, look.before, look.at)
        for table in (state.long, state.short):
            table.looks += 1
            table.exposure += (look.at - look.before) / DAY
            table.hits += late
            table.misses += look.changed and not late
        if late:
            state.note_hit()
    return left


def covers(stamp: Stamp, before: int, at: int, limits: Thresholds = DEFAULT) -> bool:
    """Whether a date may mean a moment after ``before`` and up to ``at``.

    >>> covers(Stamp(1790586000), 1790510400, 1790596800)
    True
    """
    slack = limits.zone_slack_seconds
    return stamp.time - slack <= at and stamp.time + stamp.width + slack > before
