"""CSV of batches: nested values as JSON text, and no cell that a spreadsheet would run."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any, Final

from scrapy.exporters import CsvItemExporter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import BytesIO

    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from sitemap_discovery.items import UrlBatch

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet run a cell (CWE-1236)."""


class CsvExporter(CsvItemExporter):
    """One line a row. A text cell that begins like a formula gets a leading ``'``, unless
    ``SITEMAP_CSV_FORMULA_GUARD`` is off; numbers are left alone."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: BytesIO, **kwargs: Any) -> Self:
        exporter = cls(file, **kwargs)
        exporter.guard = crawler.settings.getbool("SITEMAP_CSV_FORMULA_GUARD", True)
        return exporter

    guard = True

    def export_batch(self, batch: UrlBatch, start: int, stop: int) -> None:
        """Write the rows from ``start`` up to ``stop``."""
        for row in batch.rows(start, stop):
            self.export_item(row)

    def _join_if_needed(self, value: Any) -> Any:
        if isinstance(value, dict) or (
            isinstance(value, (list, tuple)) and any(isinstance(part, dict) for part in value)
        ):
            return dumps(value, ensure_ascii=False)
        return super()._join_if_needed(value)

    def _build_row(self, values: Iterable[Any]) -> Iterable[Any]:
        for value in super()._build_row(values):
            if self.guard and isinstance(value, str) and value.startswith(FORMULA_STARTS):
                yield "'" + value
            else:
                yield value
