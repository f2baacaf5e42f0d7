"""How often a page changes, from looks that only tell whether it did."""

from __future__ import annotations

from math import exp, expm1, log
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

STEPS: Final = 80


def rate_regular(looks: float, changes: float, gap: float, chance: float | None = None) -> float:
    """Changes per day, from ``looks`` about ``gap`` days apart that found ``changes`` (Cho and
    Garcia-Molina 2003); with the group's ``chance`` of a change in one gap as two more looks.

    >>> round(rate_regular(10, 3, 1), 4), round(rate_regular(0, 0, 7, 0.1), 4)
    (0.3365, 0.0119)
    """
    if chance is not None:
        looks, changes = looks + 2, changes + 2 * chance
    return -log((looks - changes + 0.5) / (looks + 0.5)) / gap


def rate_of_gaps(changed: Sequence[float], same: Sequence[float]) -> float:
    """The most likely rate where looks are unequal days apart, of which some found a change.

    >>> round(rate_of_gaps([1, 2], [1, 3, 7]), 4)
    0.1609
    """
    if not changed:
        return 0.0
    target = sum(same)
    if not target:
        return float("inf")
    low, high = 1e-9, 1e3
    for _ in range(STEPS):
        rate = (low * high) ** 0.5
        if sum(gap / expm1(rate * gap) if rate * gap < 700 else 0.0 for gap in changed) > target:
            low = rate
        else:
            high = rate
    return float((low * high) ** 0.5)


def chance_of_change(rate: float, days: float) -> float:
    """The chance that a page has changed after so many days."""
    return 1 - exp(-rate * max(0.0, days))


def worth_of_fetch(rate: float, chance: float) -> float:
    """Days for which a copy will be right because of a fetch now, of a page that changes ``rate``
    times a day and has changed by now with this ``chance``.

    Fetching what has most likely changed buys little where it changes again at once: a page that
    changes every hour is not worth the fetch, a page that changes every month is (Azar and others
    2018).

    >>> [round(worth_of_fetch(rate, 0.9), 1) for rate in (24, 1, 1 / 30)]
    [0.0, 0.7, 20.1]
    """
    if rate <= 0:
        return 0.0
    left = max(1 - chance, 1e-9)
    return (1 - left * (1 - log(left))) / rate
