"""The columns of a batch under the names a feed gives them, read for many rows at once."""

from __future__ import annotations

from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.items import DETAIL_FIELDS, SitemapUrl, iso_time
from sitemap_discovery.protocol.urls import section_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scrapy.exporters import BaseItemExporter

    from sitemap_discovery.items import UrlBatch

    Column = list[Any] | repeat[Any]
    Reader = Callable[[UrlBatch, slice], Sequence[Any] | repeat[Any]]

ROWS_AT_ONCE: Final = 1_000
"""Rows read and written at a time: half a megabyte of text, that stays in the processor's cache."""

FIELDS: Final = tuple(SitemapUrl.__dataclass_fields__)
"""The names of all columns, in the order of the contract."""


def read_column(batch: UrlBatch, name: str, rows: slice) -> Column:
    """What :meth:`UrlBatch.rows` gives for one field, row by row.

    A column whose rows are all alike comes as a ``repeat``, so that it is written only once.
    """
    column = _READERS[name](batch, rows)
    if isinstance(column, repeat):
        return column
    first, count = column[0], len(column)
    if column.count(first) == count:
        return repeat(first, count)
    return column if isinstance(column, list) else list(column)


def chosen_fields(exporter: BaseItemExporter, **how: Any) -> list[tuple[str, Any]]:
    """(name in the feed, field) pairs, as the exporter's own options choose, order and rename.

    The exporter is asked with a row that holds in each field the field's name; a name that is no
    field comes with the exporter's default value.
    """
    names: dict[str, Any] = {name: name for name in FIELDS}
    return list(exporter.get_serialized_fields(SitemapUrl(**names), **how))


def is_utf8(encoding: str | None) -> bool:
    """Whether an exporter's encoding, ``None`` for its default, is UTF-8."""
    return (encoding or "utf-8").lower() in ("utf-8", "utf8")


def keeps_methods(exporter: BaseItemExporter, ours: type, names: Iterable[str]) -> bool:
    """Whether no subclass has changed how ``ours`` writes a row."""
    return all(getattr(type(exporter), name) is getattr(ours, name) for name in names)


def sections_of(locs: Sequence[str]) -> list[str]:
    """The section of each loc, quickly where all are of one host, as they are in most files.

    >>> sections_of(["https://a.example/blog/x", "https://a.example/y?z=/", "https://a.example/"])
    ['blog', '', '']
    """
    root = locs[0][: locs[0].find("/", 8) + 1]
    if not root or not all(map(str.startswith, locs, repeat(root))):
        return list(map(section_of, locs))
    start = len(root)
    folders = [loc[start:end] if (end := loc.find("/", start)) > 0 else "" for loc in locs]
    sections = {folder: section_of(f"{root}{folder}/") for folder in set(folders)}
    return [sections[folder] for folder in folders]


# -- one reader a field ----------------------------------------------------------------------------


def _date(position: int) -> Reader:
    part = itemgetter(position)
    return lambda batch, rows: [
        None if date is None else part(date) for date in batch.entries.lastmods[rows]
    ]


def _detail(name: str) -> Reader:
    def read(batch: UrlBatch, rows: slice) -> Sequence[Any] | repeat[Any]:
        details = batch.entries.details[rows]
        if not any(details):
            return repeat(None, len(details))
        return [more.get(name) if more else None for more in details]

    return read


def _same(value: Callable[[UrlBatch], Any]) -> Reader:
    return lambda batch, rows: repeat(value(batch), len(batch.scopes[rows]))


def _last_seen(batch: UrlBatch) -> str | None:
    return iso_time(batch.file.fetched_at)


def _changes(batch: UrlBatch, rows: slice) -> Sequence[Any] | repeat[Any]:
    return batch.changes[rows] if batch.changes else _same(lambda _: None)(batch, rows)


def _trusts(batch: UrlBatch, rows: slice) -> Sequence[Any] | repeat[Any]:
    return batch.trusts[rows] if batch.trusts else _same(lambda same: same.trust)(batch, rows)


def _first_seen(batch: UrlBatch, rows: slice) -> Sequence[Any] | repeat[Any]:
    if not batch.first_seen:
        return _same(_last_seen)(batch, rows)
    seconds = batch.first_seen[rows]
    texts = {second: iso_time(second) for second in set(seconds)}
    return [texts[second] for second in seconds]


_READERS: Final[dict[str, Reader]] = {
    "loc": lambda batch, rows: batch.entries.locs[rows],
    "lastmod": _date(1),
    "lastmod_precision": _date(2),
    "lastmod_raw": _date(3),
    "lastmod_trust": _trusts,
    "change": _changes,
    "sitemap": _same(lambda batch: batch.file.url),
    "section": lambda batch, rows: sections_of(batch.entries.locs[rows]),
    "scope": lambda batch, rows: batch.scopes[rows],
    "changefreq": lambda batch, rows: batch.entries.changefreqs[rows],
    "priority": lambda batch, rows: batch.entries.priorities[rows],
    **{name: _detail(name) for name in DETAIL_FIELDS},
    "first_seen": _first_seen,
    "last_seen": _same(_last_seen),
}
