"""A ``lastmod`` as evidence: a moment, how exact it is, and the interval it may mean."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final, NamedTuple

from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.trust.thresholds import DEFAULT

if TYPE_CHECKING:
    from sitemap_discovery.protocol.dates import Lastmod

DAY: Final = 86_400
PRECISIONS: Final = ("year", "month", "day", "minute", "second")
DATE_ONLY: Final = 3
"""Precisions below this number in :data:`PRECISIONS` have no time of day."""

_WIDTHS: Final = {"day": DAY, "minute": 60, "second": 1}
_ZONED: Final = re.compile(r"(?:Z|[+-]\d\d:?\d\d|GMT|UTC?)\s*\Z", re.IGNORECASE)


class Stamp(NamedTuple):
    """``time`` is UTC; ``zoned`` says that the text named its zone."""

    time: int
    precision: str = "second"
    zoned: bool = True

    @property
    def is_date_only(self) -> bool:
        """Whether it has no time of day."""
        return PRECISIONS.index(self.precision) < DATE_ONLY

    @property
    def width(self) -> int:
        """Seconds that the text leaves open."""
        if self.precision in _WIDTHS:
            return _WIDTHS[self.precision]
        day = datetime.fromtimestamp(self.time, timezone.utc)
        if self.precision == "month":
            return monthrange(day.year, day.month)[1] * DAY
        return (366 if monthrange(day.year, 2)[1] == 29 else 365) * DAY

    @property
    def earliest(self) -> int:
        """The earliest moment that it may mean."""
        slack = 0 if self.zoned and not self.is_date_only else DEFAULT.zone_slack_seconds
        return self.time - slack

    @property
    def latest(self) -> int:
        """The latest one."""
        slack = 0 if self.zoned and not self.is_date_only else DEFAULT.zone_slack_seconds
        return self.time + self.width + slack


def stamp_of(lastmod: Lastmod | None) -> Stamp | str:
    """A date as a stamp, or why it is none: ``absent``, ``placeholder`` or ``invalid``.

    A date in the future is a stamp like others.

    >>> stamp_of(parse_lastmod("2026-10-15T14:30:00+02:00"))
    Stamp(time=1792067400, precision='second', zoned=True)
    >>> stamp_of(parse_lastmod("now"))
    'invalid'
    """
    if lastmod is not None and lastmod.code == "lastmod-future":
        lastmod = parse_lastmod(lastmod.raw or "")
    if lastmod is None:
        return "absent"
    if lastmod.time is None or lastmod.precision is None:
        return "placeholder" if lastmod.code == "lastmod-ancient" else "invalid"
    return stored_stamp(lastmod.time, lastmod.precision, lastmod.raw)


def stored_stamp(time: int, precision: str, raw: str | None) -> Stamp:
    """A usable date as the inventory has it."""
    timed = PRECISIONS.index(precision) >= DATE_ONLY
    return Stamp(time, precision, timed and (raw is None or _ZONED.search(raw) is not None))
