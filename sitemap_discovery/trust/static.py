"""What one read of a sitemap shows of its dates: coverage, spread, and generation time."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from math import log2
from typing import TYPE_CHECKING, Final

from sitemap_discovery.trust.stamps import DATE_ONLY, DAY, PRECISIONS, stamp_of
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sitemap_discovery.protocol.dates import Lastmod

SKETCH: Final = 4_096
"""Stamps of one file that are kept: all, or as many at even distances in their order."""

SAMPLE: Final = 16_384
"""Stamps of a part that its spread is measured on, where it has more."""

_CODES: Final = {name: number for number, name in enumerate(PRECISIONS)}
_KIND: Final = (7).__and__  # the number of a kept stamp's precision
_STEP: Final = 8  # a stamp is kept as its time times this, plus its precision's number


@dataclass(frozen=True, slots=True)
class Clues:
    """When a file was built, as far as its answer tells: its HTTP ``Date``, when it was
    ``fetched``, its ``Last-Modified``. ``index`` is its date in the index that names it."""

    fetched: int
    date: int | None = None
    last_modified: int | None = None
    index: int | None = None

    def moments(self, limits: Thresholds = DEFAULT) -> list[int]:
        """The moments near which a stamp is that of the file's building. An old Last-Modified is
        none: it cannot tell an old build from an old import."""
        found = [self.fetched, *([self.date] if self.date else [])]
        fresh = self.fetched - limits.clue_fresh_seconds
        if self.last_modified is not None and self.last_modified >= fresh:
            found.append(self.last_modified)
        return found


@dataclass(slots=True)
class FileDates:
    """The dates of one file, or of one section of it. Sums of several are those of a part.

    ``n`` entries, ``dated`` with a usable date, ``fresh`` of these new to the inventory; of the
    others ``invalid`` have what is no date and ``placeholder`` one before 1995. ``future`` and
    ``ahead`` count dates beyond any zone's error, and within it. ``timed`` have a time of day;
    ``near_timed`` and ``near_days`` count those near the file's building. ``stamps`` are sorted,
    each standing for ``weight`` of them.
    """

    n: int = 0
    dated: int = 0
    fresh: int = 0
    invalid: int = 0
    placeholder: int = 0
    future: int = 0
    ahead: int = 0
    timed: int = 0
    near_timed: int = 0
    near_days: int = 0
    is_news: bool = False
    stamps: array[int] = field(default_factory=lambda: array("q"))
    weight: float = 1.0

    def add(self, lastmods: Sequence[Lastmod | None], fresh: int = 0) -> None:
        """Take the dates of more entries, ``fresh`` of the dated ones new."""
        self.n += len(lastmods)
        self.fresh += fresh
        try:  # all are usable: the common case
            self.stamps.extend([date[0] * _STEP + _CODES[date[2]] for date in lastmods])  # type: ignore[index,operator]
        except (TypeError, KeyError):
            self._add_mixed(lastmods)

    def _add_mixed(self, lastmods: Iterable[Lastmod | None]) -> None:
        for date in lastmods:
            stamp = stamp_of(date)
            if isinstance(stamp, str):
                self.invalid += stamp == "invalid"
                self.placeholder += stamp == "placeholder"
            else:
                self.stamps.append(stamp.time * _STEP + _CODES[stamp.precision])

    def settle(self, clues: Clues, limits: Thresholds = DEFAULT) -> None:
        """Count what stands against the file's own clues, and keep a sketch of the rest."""
        stamps = self.stamps = array("q", sorted(self.stamps))
        self.dated = len(stamps)
        kinds = Counter(map(_KIND, stamps))
        self.timed = sum(kinds[kind] for kind in kinds if kind >= DATE_ONLY)
        late, beyond = clues.fetched + 300, clues.fetched + limits.zone_slack_seconds
        first = bisect_right(stamps, late * _STEP + _STEP - 1)
        for stamp in stamps[first:]:
            time, is_timed = stamp // _STEP, stamp % _STEP >= DATE_ONLY
            lowest = time if is_timed else time - limits.zone_slack_seconds
            self.future += time > beyond and lowest > late
            self.ahead += is_timed and time <= beyond
        self._count_near(clues.moments(limits), limits)
        if len(stamps) > SKETCH:
            self.weight = len(stamps) / SKETCH
            self.stamps = array("q", [stamps[int(i * self.weight)] for i in range(SKETCH)])

    def _count_near(self, moments: list[int], limits: Thresholds) -> None:
        days = {moment // DAY for moment in moments}
        first = min([min(moments) - limits.clue_before_seconds, min(days) * DAY])
        for stamp in self.stamps[bisect_right(self.stamps, first * _STEP - 1) :]:
            time = stamp // _STEP
            if stamp % _STEP < DATE_ONLY:
                self.near_days += time // DAY in days
            else:
                self.near_timed += any(
                    moment - limits.clue_before_seconds
                    <= time
                    <= moment + limits.clue_after_seconds
                    for moment in moments
                )


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the dates of a part of a site look like. Shares are of the dated entries, ``modal``,
    ``cluster`` and ``track`` of those with a time of day, or without one if most have none.

    ``track`` is the share near the files' building, ``cluster_start`` the first moment of the
    largest cluster. ``index`` compares the newest date with the index's: ``none``, ``agrees``,
    ``index-newer`` or ``index-older``.
    """

    n: int
    dated: int
    coverage: float
    invalid: int
    placeholder: int
    future: float
    ahead: float
    date_only: float
    distinct: int
    modal: float
    cluster: float
    entropy_bits: float
    effective: float
    days: int
    track: float
    gen_now: bool
    uniform: bool
    cluster_start: int | None = None
    index: str = "none"


def statistics(
    files: Sequence[FileDates],
    *,
    index: int | None = None,
    limits: Thresholds = DEFAULT,
) -> Statistics:
    """The statistics of some settled files as one part."""
    n, dated = sum(file.n for file in files), sum(file.dated for file in files)
    timed = sum(file.timed for file in files)
    by_day = 2 * (dated - timed) > dated
    values = _values(files, by_day=by_day)
    total = sum(values.values())
    modal = max(values.values(), default=0) / total if total else 0.0
    width = 0 if by_day else limits.cluster_seconds
    largest, start = _largest_window(values, width)
    cluster = largest / total if total else 0.0
    entropy = -sum(w / total * log2(w / total) for w in values.values()) if total else 0.0
    count = dated - timed if by_day else timed
    near = sum(file.near_days if by_day else file.near_timed for file in files)
    track = near / count if count else 0.0
    enough = count >= (limits.min_date_only if by_day else limits.min_stamps)
    clustered = cluster >= limits.cluster_share
    gen_now = (
        enough
        and clustered
        and track >= limits.track_share
        and not (by_day and any(file.is_news for file in files))
    )
    return Statistics(
        n=n,
        dated=dated,
        coverage=dated / n if n else 0.0,
        invalid=sum(file.invalid for file in files),
        placeholder=sum(file.placeholder for file in files),
        future=sum(file.future for file in files) / dated if dated else 0.0,
        ahead=sum(file.ahead for file in files) / dated if dated else 0.0,
        date_only=(dated - timed) / dated if dated else 0.0,
        distinct=len(values),
        modal=modal,
        cluster=cluster,
        entropy_bits=entropy,
        effective=2**entropy if total else 0.0,
        days=len({value // DAY for value in values}),
        track=track,
        gen_now=gen_now,
        uniform=clustered and not gen_now and bool(total),
        cluster_start=start,
        index=_index_word(values, index),
    )


def _values(files: Sequence[FileDates], *, by_day: bool) -> dict[int, float]:
    """Times and how many entries have each, of the stamps that decide."""
    step = max(1, sum(len(file.stamps) for file in files) // SAMPLE)
    values: dict[int, float] = {}
    for file in files:
        for stamp, count in Counter(file.stamps[step // 2 :: step]).items():
            if (stamp % _STEP < DATE_ONLY) is by_day:
                time = stamp // _STEP
                values[time] = values.get(time, 0.0) + count * step * file.weight
    return values


def _largest_window(values: dict[int, float], width: int) -> tuple[float, int | None]:
    """The most entries within one closed window of so many seconds, and where it begins."""
    times = sorted(values)
    best, begins = 0.0, None
    held, start = 0.0, 0
    for time in times:
        held += values[time]
        while time - times[start] > width:
            held -= values[times[start]]
            start += 1
        if held > best:
            best, begins = held, times[start]
    return best, begins


def _index_word(values: dict[int, float], index: int | None) -> str:
    if index is None or not values:
        return "none"
    apart = index - max(values)
    return "agrees" if abs(apart) <= 3_600 else "index-newer" if apart > 0 else "index-older"
