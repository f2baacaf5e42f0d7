"""The forms dates are written in: W3C's first, then every other that can only mean one moment.

Nothing is guessed: a zone that is not known, a two-digit year with nothing to tell it, a day and a
month that could be swapped make a text no date.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Order = Literal["day-first", "month-first"]


class Found(NamedTuple):
    """A date that was read: the moment in UTC, how exact it is, what is odd about its form."""

    moment: datetime
    precision: str
    code: str | None = None


_W3C: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:T(?P<hour>\d\d):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?)?(?P<zone>Z|[+-]\d\d:\d\d)?)?)?)?",
    re.ASCII,
)
"""W3C Datetime (NOTE-datetime), with the zone optional so that its absence can be named."""

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_WEEKDAY: Final = (
    r"(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs?)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?(?:,\s*|\s+))?"
)
_MONTH: Final = (
    r"(?P<name>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_TIME: Final = (
    r"(?P<hour>\d{1,2})(?P<colon>:?)(?P<minute>\d\d)"
    r"(?:(?P=colon)(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[AaPp]\.?[Mm]\.?))?"
)
_CLOCK: Final = _TIME.replace("(?P<colon>:?)", "(?P<colon>:)")
_ZONE: Final = r"(?:\s*(?P<zone>[A-Za-z]{1,5}|Etc/(?:GMT|UTC)|(?:GMT|UTC)?[+-]\d\d(?::?\d\d)?))?"
_AT: Final = rf"(?:,?\s+(?:at\s+)?{_CLOCK}{_ZONE})?"

_RFC822: Final = rf"{_WEEKDAY}{_DAY}[\s-]+{_MONTH}[\s-]+(?P<year>\d{{4}}|\d\d){_AT}"
_LENIENT: Final = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        # 20261002, 2026/10/2, 2026-10-02 08:30 AM +02:00, Fri, 2026/10/02 08:30:15 EDT
        rf"{_WEEKDAY}(?P<year>\d{{4}})(?P<by>[-/.]?)(?P<month>\d{{1,2}})(?P=by)(?P<day>\d{{1,2}})"
        rf"(?:(?:T|\s+){_TIME}{_ZONE})?",
        # 2 October, 2026 08:30
        rf"{_WEEKDAY}{_DAY}[\s-]+{_MONTH},?[\s-]+(?P<year>\d{{4}}){_AT}",
        # October 2, 2026 at 8:30 pm
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY},?\s+(?P<year>\d{{4}}){_AT}",
        # Fri Oct  2 08:30:15 2026, Fri Oct 2 08:30:15 +0000 2026
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY}\s+{_CLOCK}{_ZONE}\s+(?P<year>\d{{4}})",
    )
)
_MAIL: Final = re.compile(_RFC822, re.ASCII | re.IGNORECASE)
"""A date of a mail (RFC 822 5.1, RFC 5322 3.3), with what generators make of it."""

_NUMBERS: Final = re.compile(
    rf"(?P<left>\d{{1,2}})(?P<by>[-/.])(?P<right>\d{{1,2}})(?P=by)(?P<year>\d{{4}}){_AT}",
    re.ASCII | re.IGNORECASE,
)
"""Day, month and year in digits, the year last: the other two may be swapped."""

ZONES: Final = {
    "z": 0, "utc": 0, "gmt": 0, "ut": 0, "etc/gmt": 0, "etc/utc": 0, "wet": 0,
    "west": 60, "bst": 60, "cet": 60, "met": 60, "cest": 120, "mest": 120, "eet": 120,
    "eest": 180, "msk": 180, "jst": 540, "kst": 540, "aest": 600, "aedt": 660, "nzst": 720,
    "nzdt": 780, "adt": -180, "ast": -240, "at": -240, "edt": -240, "est": -300, "et": -300,
    "cdt": -300, "cst": -360, "ct": -360, "mdt": -360, "mst": -420, "mt": -420, "pdt": -420,
    "pst": -480, "pt": -480,
}  # fmt: skip
"""Minutes east of UTC (RFC 822 5.1 and the usual ones of Europe and the Pacific)."""

_OFFSET: Final = re.compile(r"(?:GMT|UTC)?([+-])(\d\d):?(\d\d)?", re.ASCII | re.IGNORECASE)


def read_w3c(text: str) -> Found | None:
    """A W3C datetime in any of its precisions."""
    match = _W3C.fullmatch(text)
    if match is None:
        return None
    code = "lastmod-no-zone" if match["hour"] and not match["zone"] else None
    return _found(match.groupdict(), code)


def read_lenient(text: str) -> Found | None:
    """A form that is not W3C's but whose order is beyond doubt."""
    for form in _LENIENT:
        match = form.fullmatch(text)
        if match is not None:
            parts = match.groupdict()
            if parts.get("by") == "" and (len(parts["month"]), len(parts["day"])) != (2, 2):
                return None
            if parts.get("colon") == "" and len(parts["hour"]) != 2:
                return None
            return _found(parts, "lastmod-lenient")
    return None


def read_mail(text: str) -> Found | None:
    """A mail's date, which RSS has too."""
    match = _MAIL.fullmatch(text)
    if match is None:
        return None
    if len(match["year"]) == 2 and (not match["hour"] or "-" in text[: match.start("hour")]):
        return None  # 26-Oct-02: nothing tells the year from the day
    return _found(match.groupdict(), "lastmod-rfc822")


def read_numbers(text: str, order: Order | None) -> Found | None:
    """A date in digits with the year last, when ``order`` or its own numbers settle it."""
    match = _NUMBERS.fullmatch(text)
    if match is None:
        return None
    order = order_of(text) or order
    if order is None:
        return None
    day, month = ("left", "right") if order == "day-first" else ("right", "left")
    parts = match.groupdict()
    return _found({**parts, "day": parts[day], "month": parts[month]}, "lastmod-lenient")


def order_of(text: str) -> Order | None:
    """What a date in digits tells about the order of all: a number above 12 is the day, and points
    stand between day, month and year only in that order.

    >>> order_of("31/12/2026"), order_of("12/31/2026"), order_of("11/12/2026")
    ('day-first', 'month-first', None)
    """
    match = _NUMBERS.fullmatch(text)
    if match is None:
        return None
    left, right = int(match["left"]), int(match["right"])
    if match["by"] == "." or left > 12 >= right:
        return "day-first"
    return "month-first" if right > 12 >= left else None


def needs_order(text: str) -> bool:
    """Whether day and month of a date could be swapped."""
    match = _NUMBERS.fullmatch(text)
    if match is None or order_of(text) is not None:
        return False
    return all(1 <= int(match[name]) <= 12 for name in ("left", "right"))


def _found(parts: dict[str, str | None], code: str | None) -> Found:
    """The moment; :class:`ValueError` or :class:`OverflowError` when the calendar has none."""
    year, month = _year(parts["year"] or ""), _month(parts)
    day = int(parts.get("day") or 1)
    if not parts.get("hour"):
        precision = "day" if parts.get("day") else "month" if parts.get("month") else "year"
        return Found(datetime(year, month, day, tzinfo=timezone.utc), precision, code)
    hour, minute, second = _of_24(parts), int(parts["minute"] or 0), parts.get("second")
    midnight = (hour, minute, int(second or 0)) == (24, 0, 0)
    moment = datetime(
        year, month, day, 0 if midnight else hour, minute,
        59 if second == "60" else int(second or 0),  # a leap second is the one before it
        int((parts.get("fraction") or "0").ljust(6, "0")[:6]), timezone.utc,
    )  # fmt: skip
    moment += timedelta(days=midnight) - offset_of(parts.get("zone"))
    return Found(moment, "second" if second else "minute", code)


def _year(text: str) -> int:
    """A year; of two digits as mails have it (RFC 5322 4.3)."""
    year = int(text)
    if len(text) == 2:
        return year + (2000 if year < 50 else 1900)
    return year


def _month(parts: dict[str, str | None]) -> int:
    name = parts.get("name")
    return _MONTHS[name[:3].lower()] if name else int(parts.get("month") or 1)


def _of_24(parts: dict[str, str | None]) -> int:
    hour, half = int(parts["hour"] or 0), parts.get("half")
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + 12 * half.lower().startswith("p")


def offset_of(zone: str | None) -> timedelta:
    """How far east of UTC a zone is; :class:`ValueError` for one that is not known.

    >>> offset_of("-05:00") == offset_of("EST")
    True
    """
    match = _OFFSET.fullmatch(zone or "")
    if match is None:
        if zone and zone.lower() not in ZONES:
            raise ValueError(zone)
        return timedelta(minutes=ZONES[zone.lower()] if zone else 0)
    hours, minutes = int(match[2]), int(match[3] or 0)
    if hours > 14 or minutes > 59:
        raise ValueError(zone)
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if match[1] == "-" else offset


FORMS: Final[tuple[Callable[[str], Found | None], ...]] = (read_w3c, read_mail, read_lenient)
"""Readers of the forms that need nothing but the text, the commonest first."""
