"""JSON lines and JSON of batches: byte for byte what Scrapy writes, at a tenth of its cost."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any, Final

from scrapy.exporters import JsonItemExporter, JsonLinesItemExporter

from sitemap_discovery.items import DETAIL_FIELDS, iso_time
from sitemap_discovery.protocol.urls import section_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from io import BytesIO

    from sitemap_discovery.items import UrlBatch
    from sitemap_discovery.protocol.dates import Lastmod

_ROWS: Final = 2_000
"""Rows written at a time: a megabyte of text, that stays in the processor's cache."""

_NO_DATE: Final = '"lastmod": null, "lastmod_precision": null, "lastmod_raw": null, '
_NO_DETAILS: Final = "".join(f'"{name}": null, ' for name in DETAIL_FIELDS)


class JsonLinesExporter(JsonLinesItemExporter):
    """One JSON object a line. Batches are written fast unless an option changes how rows look."""

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        self._plain = _is_plain(kwargs)
        super().__init__(file, **kwargs)

    def export_batch(self, batch: UrlBatch, start: int, stop: int) -> None:
        """Write the rows from ``start`` up to ``stop``."""
        if not self._plain:
            for row in batch.rows(start, stop):
                self.export_item(row)
            return
        for first in range(start, stop, _ROWS):
            last = min(first + _ROWS, stop)
            lines = json_rows(batch, first, last, ensure_ascii=not self.encoding)
            self.file.write(("\n".join(lines) + "\n").encode())


class JsonExporter(JsonItemExporter):
    """One JSON array. Batches are written fast unless an option changes how rows look."""

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        self._plain = _is_plain(kwargs)
        super().__init__(file, **kwargs)

    def export_batch(self, batch: UrlBatch, start: int, stop: int) -> None:
        """Write the rows from ``start`` up to ``stop``."""
        if not self._plain:
            for row in batch.rows(start, stop):
                self.export_item(row)
            return
        if start == stop:
            return
        self._add_comma_after_first()
        comma = ",\n" if self.indent is not None else ","
        text = comma.join(json_rows(batch, start, stop, ensure_ascii=not self.encoding))
        self.file.write(text.encode())


def _is_plain(kwargs: dict[str, Any]) -> bool:
    """Whether rows are written with all fields, in order, on one line."""
    changed = {name for name, value in kwargs.items() if value} - {"encoding"}
    return not changed and (kwargs.get("encoding") or "utf-8").lower() in ("utf-8", "utf8")


def json_rows(batch: UrlBatch, start: int, stop: int, *, ensure_ascii: bool) -> list[str]:
    """The rows of a batch as JSON objects, fields in the order of the feed's columns."""
    locs = batch.entries.locs[start:stop]
    dates = map(_date_cells(ensure_ascii), batch.entries.lastmods[start:stop])
    tails = _tails(batch, start, stop, ensure_ascii)
    joined = "".join(locs)
    if len(dumps(joined)) == len(joined) + 2:  # URIs: nothing in them needs an escape
        return [f'{{"loc": "{loc}", {date}{tail}' for loc, date, tail in zip(locs, dates, tails)]
    written = (dumps(loc, ensure_ascii=ensure_ascii) for loc in locs)
    return [f'{{"loc": {loc}, {date}{tail}' for loc, date, tail in zip(written, dates, tails)]


def _date_cells(ensure_ascii: bool) -> Callable[[Lastmod | None], str]:
    def write(lastmod: Lastmod | None) -> str:
        if lastmod is None:
            return _NO_DATE
        _, iso, precision, raw, _ = lastmod
        if raw is None:
            return f'"lastmod": "{iso}", "lastmod_precision": "{precision}", "lastmod_raw": null, '
        raw = dumps(raw, ensure_ascii=ensure_ascii)
        cells = f'"lastmod": {dumps(iso)}, "lastmod_precision": {dumps(precision)}, '
        return f'{cells}"lastmod_raw": {raw}, '

    return write


def _tails(batch: UrlBatch, start: int, stop: int, ensure_ascii: bool) -> Iterable[str]:
    """Everything behind the date; rows that share it share the text."""
    entries = batch.entries
    none: list[Any] = [None] * len(batch)
    now: list[Any] = [batch.file.fetched_at] * len(batch)
    columns: list[list[Any]] = [
        (batch.changes or none)[start:stop],
        batch.scopes[start:stop],
        entries.changefreqs[start:stop],
        entries.priorities[start:stop],
        (batch.first_seen or now)[start:stop],
    ]
    details = entries.details[start:stop]
    sections = map(section_of, entries.locs[start:stop])
    shared = _SharedTails(batch, ensure_ascii)
    if any(details):
        keys = zip(sections, *columns)
        return [
            shared[key] if not more else shared.make(key, more) for key, more in zip(keys, details)
        ]
    if all(column.count(column[0]) == len(column) for column in columns):
        rest = tuple(column[0] for column in columns)
        named = list(sections)
        by_section = {name: shared[key] for name, key in ((n, (n, *rest)) for n in set(named))}
        return map(by_section.__getitem__, named)
    return map(shared.__getitem__, zip(sections, *columns))


class _SharedTails(dict[tuple[Any, ...], str]):
    """The text behind the date by section, change, scope, changefreq, priority, first seen."""

    def __init__(self, batch: UrlBatch, ensure_ascii: bool) -> None:
        super().__init__()
        self._batch = batch
        self._ensure_ascii = ensure_ascii

    def __missing__(self, key: tuple[Any, ...]) -> str:
        tail = self[key] = self.make(key, None)
        return tail

    def make(self, key: tuple[Any, ...], details: dict[str, Any] | None) -> str:
        return _tail(self._batch, key, details, self._ensure_ascii)


def _tail(
    batch: UrlBatch, key: tuple[Any, ...], details: dict[str, Any] | None, ensure_ascii: bool
) -> str:
    section, change, scope, changefreq, priority, first_seen = key

    def cell(name: str, value: Any) -> str:
        return f'"{name}": {dumps(value, ensure_ascii=ensure_ascii)}, '

    return (
        cell("lastmod_trust", batch.trust)
        + cell("change", change)
        + cell("sitemap", batch.file.url)
        + cell("section", section)
        + cell("scope", scope)
        + cell("changefreq", changefreq)
        + cell("priority", priority)
        + ("".join(cell(n, details.get(n)) for n in DETAIL_FIELDS) if details else _NO_DETAILS)
        + cell("first_seen", iso_time(first_seen))
        + cell("last_seen", iso_time(batch.file.fetched_at))[:-2]
        + "}"
    )
