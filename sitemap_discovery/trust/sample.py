"""Which pages are looked at: moved ones, unmoved ones that are due, and fresh ones, repeatably."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from math import floor
from typing import TYPE_CHECKING, Final, NamedTuple

from sitemap_discovery.trust.numbers import numbers_of
from sitemap_discovery.trust.stamps import DAY
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sitemap_discovery.trust.verdict import PartState


BULK_LOOKS: Final = 10
"""Looks that a bulk move is worth: it has to be judged in the read that meets it."""


class Seen(NamedTuple):
    """A page that was looked at before, in its part, when, and whether its date moved since."""

    url_id: int
    url: str
    part: str
    looked_at: int
    moved: bool


class Choice(NamedTuple):
    """The pages chosen among those seen before, and how many fresh ones are to be added; ``spare``
    are taken where there are not so many."""

    seen: list[Seen]
    fresh: int
    spare: list[Seen]


def order_of(seed: int, salt: str, url: str) -> bytes:
    """A page's place in its stratum: random, and the same each time."""
    return sha256(f"{seed}|{salt}|{url}".encode()).digest()


def gap_of(state: PartState, days_per_read: float, limits: Thresholds = DEFAULT) -> int:
    """Reads between two looks at a page, few enough that two changes seldom hide each other."""
    numbers = numbers_of(state.long, limits)
    looked = state.long.moved_looks + state.long.looks
    rate = numbers.hit_rate + numbers.silent_rate if looked else numbers.move_rate
    if rate * days_per_read <= 0:
        return limits.gap_reads
    return min(max(floor(limits.gap_exposure / (rate * days_per_read)), 1), limits.gap_reads)


def choose(
    seen: Sequence[Seen],
    count: int,
    gaps: Mapping[str, int],
    *,
    bulk: Collection[str] = (),
    days_per_read: float,
    now: int,
    seed: int,
    salt: str = "",
    limits: Thresholds = DEFAULT,
) -> Choice:
    """Share ``count`` looks out: up to half to moved pages, most of the rest to unmoved ones that
    are due, what is left to fresh ones. Parts in ``bulk``, whose dates all moved together, share
    the looks at moved pages evenly, and get a few more where there are few.
    """

    def reads_ago(page: Seen) -> float:
        return (now - page.looked_at) / DAY / days_per_read

    def gap(page: Seen) -> int:
        return gaps.get(page.part, limits.gap_reads)

    def ordered(pages: Iterable[Seen], *, youngest: bool) -> list[Seen]:
        sign = -1 if youngest else 1
        return sorted(pages, key=lambda p: (sign * p.looked_at, order_of(seed, salt, p.url)))

    young = [page for page in seen if page.moved and reads_ago(page) <= gap(page) + 0.3]
    moved = ordered(young, youngest=True)
    quota = count // 2
    if bulk:
        moved, quota = _in_turns(moved), max(quota, min(count, BULK_LOOKS))
    chosen = moved[:quota]
    rest = count - len(chosen)
    unmoved = ordered((page for page in seen if not page.moved), youngest=False)
    due = [page for page in unmoved if gap(page) - 0.3 <= reads_ago(page) <= gap(page) + 1.3]
    due = due[: rest - rest // 5]
    early = [page for page in unmoved if reads_ago(page) < gap(page) - 0.3]
    return Choice(chosen + due, count - len(chosen) - len(due), early)


def _in_turns(pages: Sequence[Seen]) -> list[Seen]:
    """The first page of each part, then the second of each, and so on."""
    met: Counter[str] = Counter()
    turns = []
    for page in pages:
        turns.append((met[page.part], page))
        met[page.part] += 1
    return [page for _, page in sorted(turns, key=lambda each: each[0])]


def shares(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """``count`` shared out: one to each part, the rest by size with the largest remainders.

    >>> shares({"a": 90, "b": 9, "c": 1}, 10)
    {'a': 7, 'b': 2, 'c': 1}
    """
    parts = sorted((part for part in sizes if sizes[part]), key=lambda part: -sizes[part])[:count]
    total = sum(sizes[part] for part in parts)
    if not total:
        return {}
    exact = {part: sizes[part] * (count - len(parts)) / total for part in parts}
    given = {part: 1 + floor(exact[part]) for part in parts}
    left = count - sum(given.values())
    for part in sorted(parts, key=lambda part: floor(exact[part]) - exact[part])[:left]:
        given[part] += 1
    return given
