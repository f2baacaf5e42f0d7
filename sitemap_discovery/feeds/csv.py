"""CSV of batches: nested values as JSON text, and no cell that a spreadsheet would run."""

from __future__ import annotations

from itertools import islice, repeat
from json import dumps
from typing import TYPE_CHECKING, Any, Final

from scrapy.exporters import CsvItemExporter

from sitemap_discovery.feeds.columns import (
    FIELDS,
    ROWS_AT_ONCE,
    chosen_fields,
    is_utf8,
    keeps_methods,
    read_column,
)
from sitemap_discovery.items import SitemapFile, SitemapUrl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BytesIO

    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from sitemap_discovery.items import UrlBatch

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet run a cell (CWE-1236)."""

_ROW_METHODS: Final = ("export_item", "serialize_field", "get_serialized_fields", "_build_row")


class CsvExporter(CsvItemExporter):
    """One line a row. A text cell that begins like a formula gets a leading ``'``, unless
    ``SITEMAP_CSV_FORMULA_GUARD`` is off; numbers are left alone. People's own items are guarded
    too, and otherwise written as Scrapy writes them."""

    guard = True

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: BytesIO, **kwargs: Any) -> Self:
        exporter = cls(file, **kwargs)
        exporter.guard = crawler.settings.getbool("SITEMAP_CSV_FORMULA_GUARD", True)
        return exporter

    def export_batch(self, batch: UrlBatch, start: int, stop: int) -> None:
        """Write the rows from ``start`` up to ``stop``.

        The first goes the way of a single item, which also writes the header and warns of
        columns that an earlier item's header lacks.
        """
        quick = keeps_methods(self, CsvExporter, _ROW_METHODS) and is_utf8(self.encoding)
        alone = start + 1 if quick else stop
        for row in batch.rows(start, min(alone, stop)):
            self.export_item(row)
        for first in range(alone, stop, ROWS_AT_ONCE):
            rows = slice(first, min(first + ROWS_AT_ONCE, stop))
            self.csv_writer.writerows(self._rows(batch, rows))

    def _rows(self, batch: UrlBatch, rows: slice) -> Iterator[tuple[Any, ...]]:
        columns: list[Iterable[Any]] = []
        for _, name in chosen_fields(self, default_value="", include_empty=True):
            if name not in FIELDS:
                columns.append(repeat(""))
                continue
            column = read_column(batch, name, rows)
            if isinstance(column, repeat):
                columns.append(repeat(*self._cells([next(column)])))
            else:
                columns.append(self._cells(column))
        return islice(zip(*columns), rows.stop - rows.start)

    def _cells(self, column: Iterable[Any]) -> Iterable[Any]:
        texts = map(_json_text, column)
        return map(_disarmed, texts) if self.guard else texts

    def get_serialized_fields(
        self, item: Any, default_value: Any = None, include_empty: bool | None = None
    ) -> Iterable[tuple[str, Any]]:
        """Scrapy's (name, value) pairs; the nested values of our own items as JSON text."""
        fields = super().get_serialized_fields(item, default_value, include_empty)
        if not isinstance(item, (SitemapUrl, SitemapFile)):
            return fields
        return ((name, _json_text(value)) for name, value in fields)

    def _build_row(self, values: Iterable[Any]) -> Iterable[Any]:
        cells = super()._build_row(values)
        return map(_disarmed, cells) if self.guard else cells


def _json_text(value: Any) -> Any:
    return dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value


def _disarmed(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return "'" + cell
    return cell
