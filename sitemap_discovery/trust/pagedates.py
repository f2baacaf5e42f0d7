"""The dates that pages give of themselves: they may speak against lastmod, never for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.trust.stamps import DAY, Stamp, stamp_of
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds

if TYPE_CHECKING:
    from sitemap_discovery.trust.verdict import PageDates

HOUR: Final = 3_600
DAYS_KEPT: Final = 32


def compare(lastmod: Stamp, modified: Stamp, limits: Thresholds = DEFAULT) -> str:
    """Whether a page's own date agrees with lastmod, or lastmod is ``behind`` or ``ahead`` of it.

    >>> compare(Stamp(1772323200, "day", False), Stamp(1772395200))
    'agree'
    """
    slack = limits.page_date_slack_seconds
    if modified.time > lastmod.time + lastmod.width + slack:
        return "behind"
    if modified.time + modified.width + slack < lastmod.time:
        return "ahead"
    return "agree"


def compare_dates(
    counts: PageDates, lastmod: Stamp, modified: str, published: str | None, now: int
) -> None:
    """Count how a page's ``dateModified`` compares, and whether it can be believed at all."""
    stamp = stamp_of(parse_lastmod(modified))
    if isinstance(stamp, str):
        return
    counts.tested += 1
    counts.rendered += abs(now - stamp.time) <= HOUR
    day = str(stamp.time // DAY)
    if day in counts.days or len(counts.days) < DAYS_KEPT:
        counts.days[day] = counts.days.get(day, 0) + 1
    first = stamp_of(parse_lastmod(published)) if published else "absent"
    counts.created += not isinstance(first, str) and abs(first.time - stamp.time) <= 60
    found = compare(lastmod, stamp)
    setattr(counts, found, getattr(counts, found) + 1)
