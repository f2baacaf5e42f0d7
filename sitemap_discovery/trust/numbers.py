"""What the evidence amounts to: decayed counts, and the rates and bounds that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import nan, sqrt

from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds


def wilson(k: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's bounds for the share that ``k`` of ``n`` shows; (0, 1) when nothing was seen.

    >>> tuple(round(bound, 4) for bound in wilson(12, 13, 1.645))
    (0.7177, 0.9826)
    """
    if n <= 0:
        return 0.0, 1.0
    share, square = k / n, z * z
    centre = share + square / (2 * n)
    spread = z * sqrt(max(0.0, share * (1 - share) / n + square / (4 * n * n)))
    return max(0.0, (centre - spread) / (1 + square / n)), (centre + spread) / (1 + square / n)


def most_events(count: float, z: float) -> float:
    """The upper bound for the mean of a Poisson variable after ``count`` events (Byar)."""
    following = count + 1
    root: float = 1 - 1 / (9 * following) + z / (3 * sqrt(following))
    return following * root**3


def least_events(count: float, z: float) -> float:
    """The lower one; 0 where there is none."""
    if count <= 0:
        return 0.0
    root: float = 1 - 1 / (9 * count) - z / (3 * sqrt(count))
    return count * root**3 if root > 0 else 0.0


@dataclass(slots=True)
class Table:
    """What was seen of one part of a site, older reads weighing less.

    Of pages whose lastmod moved, ``hits`` had changed and ``bumps`` had not. Of pages whose lastmod
    did not move there were ``looks`` over ``exposure`` page-days, and ``misses`` had changed.
    ``moves`` entries moved, ``backward`` of them to an earlier date, in ``compared`` page-days.
    """

    hits: float = 0.0
    bumps: float = 0.0
    misses: float = 0.0
    looks: float = 0.0
    exposure: float = 0.0
    moves: float = 0.0
    backward: float = 0.0
    compared: float = 0.0

    def decay(self, half_life: float) -> None:
        """Begin a new read: everything before weighs less."""
        factor = 0.5 ** (1 / half_life)
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) * factor)

    def add(self, other: Table) -> None:
        """Add another table's counts."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    @property
    def moved_looks(self) -> float:
        """Looks at pages whose lastmod had moved."""
        return self.hits + self.bumps


@dataclass(frozen=True, slots=True)
class Numbers:
    """Rates and bounds. ``precision`` is the share of moved pages that had changed, ``recall`` the
    share of changes that moved lastmod; ``value`` the changes that would have been seen on unmoved
    pages if as many were silent as are reported. Rates are per page and day."""

    moved_seen: float
    precision: float
    precision_least: float
    precision_most: float
    move_rate: float
    hit_rate: float
    silent_rate: float
    silent_least: float
    silent_most: float
    value: float
    recall: float
    recall_least: float
    recall_most: float


def numbers_of(table: Table, limits: Thresholds = DEFAULT) -> Numbers:
    """The numbers that a table gives."""
    seen = table.moved_looks
    precision = table.hits / seen if seen else nan
    least, most = wilson(table.hits, seen, limits.precision_z)
    move_rate = table.moves / table.compared if table.compared else 0.0
    hit_rate = move_rate * precision if seen else 0.0
    exposure = table.exposure
    silent = table.misses / exposure if exposure else 0.0
    accused = least_events(table.misses, limits.accuse_z) - limits.noise * table.looks
    silent_least = max(0.0, accused) / exposure if exposure else 0.0
    most_silent = most_events(table.misses, limits.recall_z)
    value = hit_rate * exposure
    reported = move_rate if seen < limits.min_accused else hit_rate
    return Numbers(
        moved_seen=seen,
        precision=precision,
        precision_least=least,
        precision_most=most,
        move_rate=move_rate,
        hit_rate=hit_rate,
        silent_rate=silent,
        silent_least=silent_least,
        silent_most=most_silent / exposure if exposure else 0.0,
        value=value,
        recall=_share(hit_rate, silent),
        recall_least=value / (value + most_silent),
        recall_most=_share(reported, silent_least, nothing=1.0),
    )


def _share(part: float, rest: float, nothing: float = nan) -> float:
    return part / (part + rest) if part + rest else nothing
