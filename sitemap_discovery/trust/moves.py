"""What two reads show: which dates moved, whether together, and whether a clock was set."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sitemap_discovery.trust.stamps import DAY
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sitemap_discovery.trust.stamps import Stamp


class Move(NamedTuple):
    """An entry whose effective date is another than in the read before."""

    old: Stamp
    new: Stamp

    @property
    def delta(self) -> int:
        """Seconds between the two; none when only one names a time of the same, or next, day."""
        apart = self.new.time - self.old.time
        if self.old.is_date_only != self.new.is_date_only:
            days = abs(self.new.time // DAY - self.old.time // DAY)
            return 0 if days <= 1 else apart
        return apart


@dataclass(frozen=True, slots=True)
class Movement:
    """What became of the ``compared`` entries of a part that were dated in both reads.

    ``window`` is the share of the new values inside one cluster. ``shift`` is the seconds by which
    a clock was set; such entries count as unmoved. ``is_bulk`` says that nearly all moved together,
    ``is_partial`` that some did.
    """

    compared: int
    moved: int
    backward: int
    share: float
    window: float
    same_shift: float
    shift: int | None
    is_bulk: bool
    is_partial: bool


def movement(
    moves: Iterable[Move], compared: int, limits: Thresholds = DEFAULT, *, weight: float = 1.0
) -> Movement:
    """Judge the moves between two reads, of which each stands for ``weight``."""
    moves = [move for move in moves if move.delta]
    deltas = Counter(move.delta for move in moves)
    delta, same = deltas.most_common(1)[0] if deltas else (0, 0)
    share = same / len(moves) if moves else 0.0
    if _is_zone_shift(moves, round(compared / weight), delta, share, limits):
        moves = [move for move in moves if move.delta != delta]
        shift: int | None = delta
    else:
        shift = None
    moved = round(len(moves) * weight)
    mu = min(1.0, moved / compared) if compared else 0.0
    window = _window([move.new for move in moves], limits)
    return Movement(
        compared=compared,
        moved=moved,
        backward=round(weight * sum(1 for move in moves if move.delta < 0)),
        share=mu,
        window=window,
        same_shift=share,
        shift=shift,
        is_bulk=compared >= limits.bulk_compared
        and mu >= limits.bulk_moved
        and window >= limits.bulk_window,
        is_partial=0 < mu < limits.bulk_moved,
    )


def _is_zone_shift(
    moves: Sequence[Move], compared: int, delta: int, share: float, limits: Thresholds
) -> bool:
    """Whether a clock or zone was set: all spread dates move by the same quarters of an hour."""
    return (
        len(moves) >= limits.bulk_compared
        and 2 * len(moves) >= compared
        and share >= limits.bulk_window
        and abs(delta) <= limits.zone_slack_seconds
        and delta % 900 == 0
        and _window([move.old for move in moves], limits) < 0.5
    )


def _window(stamps: Sequence[Stamp], limits: Thresholds) -> float:
    """The largest share of stamps within one cluster; of dates, with the same value."""
    if not stamps:
        return 0.0
    by_day = 2 * sum(stamp.is_date_only for stamp in stamps) > len(stamps)
    times = sorted(stamp.time for stamp in stamps)
    width = 0 if by_day else limits.cluster_seconds
    best = start = 0
    for end, time in enumerate(times):
        while time - times[start] > width:
            start += 1
        best = max(best, end - start + 1)
    return best / len(times)
