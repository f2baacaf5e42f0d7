"""Rows of the ``url`` table: a batch in the store's terms, and what became of each URL."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.inventory.store import StoredUrls
from sitemap_discovery.protocol.dates import Lastmod
from sitemap_discovery.protocol.entries import Entries

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

SCOPES: Final = {"in-path": 0, "same-host": 1, "cross-submitted": 2, "foreign": 3}
PRECISIONS: Final = {"year": 0, "month": 1, "day": 2, "minute": 3, "second": 4}
CHANGEFREQS: Final = {
    "always": 0, "hourly": 1, "daily": 2, "weekly": 3, "monthly": 4, "yearly": 5, "never": 6,
}  # fmt: skip

_SCOPE_WORDS, _PRECISION_WORDS, _CHANGEFREQ_WORDS = map(list, (SCOPES, PRECISIONS, CHANGEFREQS))

NEW: Final = "new"
CHANGED: Final = "changed"
UNCHANGED: Final = "unchanged"
RETURNED: Final = "returned"
GONE: Final = "gone"
REJECTED: Final = "rejected"
"""The row's ``loc`` is text that no database takes (a lone surrogate); it was not stored."""

IDENTITY: Final = ("key", "loc")
CONTENT: Final = (
    "lastmod", "lastmod_precision", "lastmod_raw", "changefreq", "priority", "details", "scope",
)  # fmt: skip
"""What a file says of a URL, in the order in which it is compared."""

Columns = dict[str, "Sequence[Any]"]
Content = tuple[Any, ...]

_no_date: Final = (None, None, None, None, None)
_to_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


Known = tuple[Any, ...]
"""A stored URL as far as a new reading of it needs it, selected as :data:`KNOWN`."""

KNOWN: Final = ", ".join(
    ("url.key", "url.id", "url.first_seen", "changed_at", "returned_at", "gone_at",
     "url.file_id", *CONTENT)
)  # fmt: skip
STORED: Final = ", ".join(
    ("url.id", "url.key", "url.loc", "url.first_seen", "url.last_seen", *CONTENT)
)
"""What :func:`stored_urls` makes :class:`StoredUrls` of."""

KEY, ID, FIRST_SEEN, CHANGED_AT, RETURNED_AT, GONE_AT, FILE_ID, CONTENT_AT = range(8)
"""Where a :data:`Known` row holds what; its content starts at ``CONTENT_AT``."""


def batch_columns(entries: Entries, keys: Sequence[bytes], scopes: Sequence[str]) -> Columns:
    """The batch as columns of ``url``: words as numbers, times as seconds, details as JSON."""
    dates = [date or _no_date for date in entries.lastmods]
    return {
        "key": keys,
        "loc": entries.locs,
        "lastmod": [date[0] for date in dates],
        "lastmod_precision": [PRECISIONS[date[2]] if date[2] else None for date in dates],
        "lastmod_raw": [date[3] for date in dates],
        "changefreq": [CHANGEFREQS.get(word) if word else None for word in entries.changefreqs],
        "priority": entries.priorities,
        "details": [_to_json(value) if value else None for value in entries.details],
        "scope": [SCOPES[scope] for scope in scopes],
    }


def stored_urls(rows: Sequence[tuple[Any, ...]]) -> StoredUrls:
    """Rows selected as :data:`STORED`, as what was read once."""
    if not rows:
        return StoredUrls(Entries("url"), [], [], [], [])
    (
        _,
        keys,
        locs,
        first_seen,
        last_seen,
        times,
        precisions,
        raws,
        freqs,
        priorities,
        details,
        scopes,
    ) = map(list, zip(*rows, strict=True))
    dates = [_lastmod(*date) for date in zip(times, precisions, raws)]
    more = [json.loads(text) if text else None for text in details]
    words = [None if number is None else _CHANGEFREQ_WORDS[number] for number in freqs]
    entries = Entries("url", locs, dates, words, priorities, more)
    scopes = [_SCOPE_WORDS[number] for number in scopes]
    return StoredUrls(entries, keys, scopes, first_seen, last_seen)


def _lastmod(time: int | None, precision: int | None, raw: str | None) -> Lastmod | None:
    if time is None:
        return None if raw is None else Lastmod(None, None, None, raw, None)
    iso = datetime.fromtimestamp(time, timezone.utc).isoformat()
    word = None if precision is None else _PRECISION_WORDS[precision]
    return Lastmod(time, iso, word, raw, None)


def pick(columns: Columns, flags: Sequence[object]) -> Columns:
    """The rows of ``columns`` whose flag is true."""
    return {name: list(compress(values, flags)) for name, values in columns.items()}


def without_empty(columns: Columns) -> Columns:
    """The columns that hold more than the table's own defaults (null, and 0 for ``scope``)."""
    return {
        name: values
        for name, values in columns.items()
        if name in IDENTITY or values.count(0 if name == "scope" else None) != len(values)
    }


def storable(columns: Columns) -> list[bool]:
    """For each row, whether its ``loc`` can be written as UTF-8: a lone surrogate cannot."""
    return [is_text(loc) for loc in columns["loc"]]


def mended(columns: Columns) -> Columns:
    """The same columns, lone surrogates beside the ``loc`` written as escapes (in JSON they mean
    the same)."""
    return {
        name: [mend(value) for value in values] if name in ("lastmod_raw", "details") else values
        for name, values in columns.items()
    }


def all_text(columns: Columns) -> bool:
    """Whether a database can hold every text of a batch."""
    texts = (filter(None, columns[name]) for name in ("loc", "lastmod_raw", "details"))
    return all(is_text("".join(column)) for column in texts)


def is_text(text: str) -> bool:
    """Whether a database can hold ``text``."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def mend(value: Any) -> Any:
    """``value`` as a database can hold it: a lone surrogate as its escape.

    >>> mend("a" + chr(0xD800)) == "a" + chr(92) + "ud800"
    True
    """
    if isinstance(value, str) and not is_text(value):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


@dataclass(slots=True)
class Comparison:
    """A batch beside what is stored. ``changes`` and ``first_seen`` run parallel to the batch,
    ``fresh`` flags the rows to insert, ``updates`` fit the store's update of one row."""

    changes: list[str] = field(default_factory=list)
    first_seen: list[int] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)
    updates: list[tuple[Any, ...]] = field(default_factory=list)
    met: list[int] = field(default_factory=list)


def compare(
    columns: Columns,
    known: Sequence[Known | None],
    now: int,
    *,
    file_id: int,
    begun_at: int | None = None,
    others: Collection[int] = (),
) -> Comparison:
    """Tell new, changed, returned and unchanged URLs apart; ``known`` runs parallel to the batch.

    ``others`` are the ids of URLs that are what another file says than ``file_id``, which counts
    for them only where its date is later: that other file may not be read in this run.

    ``begun_at`` is the start of an earlier read of the file that never came to its end: what it
    stored is told again, because nobody may have heard of it. A new key's second row is unchanged.
    """
    result = Comparison()
    inserted: set[bytes] = set()
    contents = zip(*(columns[name] for name in CONTENT), strict=True)
    for key, before, content in zip(columns["key"], known, contents, strict=True):
        if before is None:
            change = UNCHANGED if key in inserted else NEW
            first_seen = now
            inserted.add(key)
        else:
            if before[ID] in others and not is_later(content, before[CONTENT_AT:]):
                content = before[CONTENT_AT:]
            change = change_of(before, content, begun_at)
            first_seen = before[FIRST_SEEN]
            result.met.append(before[ID])
            if before[GONE_AT] is not None or before[CONTENT_AT:] != content:
                result.updates.append(_update(before, content, now, file_id))
        result.fresh.append(before is None and change is NEW)
        result.changes.append(change)
        result.first_seen.append(first_seen)
    return result


def change_of(before: Known, content: Content, begun_at: int | None = None) -> str:
    """What became of a stored URL; see :func:`compare`."""
    if before[GONE_AT] is not None:
        return RETURNED
    if moved(before[CONTENT_AT:], content):
        return CHANGED
    return UNCHANGED if begun_at is None else _told_again(before, begun_at)


def is_later(content: Content, before: Content) -> bool:
    """Whether ``lastmod`` is a usable one, and later than before."""
    return content[0] is not None and (before[0] is None or content[0] > before[0])


def moved(before: Content, now: Content) -> bool:
    """Whether ``lastmod`` moved: its time or precision, or the text where neither is usable."""
    return before[:2] != now[:2] or (now[0] is None and before[2] != now[2])


def _told_again(before: Known, begun_at: int) -> str:
    if before[FIRST_SEEN] >= begun_at:
        return NEW
    if (before[RETURNED_AT] or 0) >= begun_at:
        return RETURNED
    return CHANGED if (before[CHANGED_AT] or 0) >= begun_at else UNCHANGED


def _update(before: Known, content: Content, now: int, file_id: int) -> tuple[Any, ...]:
    changed = moved(before[CONTENT_AT:], content)
    return (
        changed,
        *content,
        now if changed else before[CHANGED_AT],
        before[RETURNED_AT] if before[GONE_AT] is None else now,
        file_id,
        before[ID],
    )
