"""JSON lines and JSON of batches: byte for byte what Scrapy writes, at a tenth of its cost."""

from __future__ import annotations

from abc import abstractmethod
from itertools import chain, repeat
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any, Final

from scrapy.exporters import BaseItemExporter, JsonItemExporter, JsonLinesItemExporter

from sitemap_discovery.feeds.columns import (
    FIELDS,
    ROWS_AT_ONCE,
    chosen_fields,
    is_utf8,
    keeps_methods,
    read_column,
)
from sitemap_discovery.items import DETAIL_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from io import BytesIO

    from sitemap_discovery.feeds.columns import Column
    from sitemap_discovery.items import UrlBatch

_QUICK_OPTIONS: Final = {"encoding", "fields_to_export", "export_empty_fields", "indent"}
"""What leaves the look of a row alone; any other option makes Scrapy's own encoder write it."""

_FEW_VALUES: Final = {"lastmod_precision", "change", "section", "scope", "changefreq", "priority"}
"""Fields with few different values in a file: each is encoded once."""

_ROW_METHODS: Final = ("export_item", "serialize_field", "get_serialized_fields")


class _BatchRows(BaseItemExporter):
    """What both JSON formats share: a batch as the texts of its rows."""

    encoder: Any
    file: BytesIO

    def _prepare(self, stock: type, options: dict[str, Any]) -> None:
        """Find out, once, whether rows may be written by columns, and which columns."""
        ascii_only = not self.encoding
        self._quote = encode_basestring_ascii if ascii_only else encode_basestring
        self._quick = (
            {name for name, value in options.items() if value is not None} <= _QUICK_OPTIONS
            and is_utf8(self.encoding)
            and (stock is JsonLinesItemExporter or not self.indent)
            and keeps_methods(self, stock, _ROW_METHODS)
        )
        self._fields = dict(chosen_fields(self)) if self._quick else {}

    def export_batch(self, batch: UrlBatch, start: int, stop: int) -> None:
        """Write the rows from ``start`` up to ``stop``."""
        if not self._quick:
            for row in batch.rows(start, stop):
                self.export_item(row)
            return
        for first in range(start, stop, ROWS_AT_ONCE):
            rows = slice(first, min(first + ROWS_AT_ONCE, stop))
            self._write_rows(batch, rows)

    @abstractmethod
    def _write_rows(self, batch: UrlBatch, rows: slice) -> None:
        """Write the rows of one slice in the format's own frame."""

    def _rows(self, batch: UrlBatch, rows: slice, comma: str) -> str:
        """The rows as JSON objects, ``comma`` after each.

        One join over all rows, of what they have in common and the cells between: no row is ever
        a string of its own.
        """
        common, cells = [""], []
        for before, (output, name) in zip(chain("{", repeat(", ")), self._fields.items()):
            common[-1] += f"{before}{self._quote(output)}: "
            column = read_column(batch, name, rows) if name in FIELDS else repeat(None)
            if isinstance(column, repeat):
                common[-1] += self.encoder.encode(next(column))
            else:
                cells.append(self._cells(name, column))
                common.append("")
        common[-1] += "}" + comma if self._fields else "{}" + comma
        pieces: list[Iterable[str]] = [repeat(common[0], rows.stop - rows.start)]
        for cell, text in zip(cells, common[1:]):
            pieces += [cell, repeat(text)]
        return "".join(chain.from_iterable(zip(*pieces)))

    def _cells(self, name: str, column: Column) -> Iterable[str]:
        encode: Callable[[Any], str] = self.encoder.encode
        if name in DETAIL_FIELDS:
            return ["null" if value is None else encode(value) for value in column]
        if name in _FEW_VALUES:
            texts = {value: encode(value) for value in set(column)}
            return map(texts.__getitem__, column)
        quote = self._quote
        return ["null" if text is None else quote(text) for text in column]


class JsonLinesExporter(_BatchRows, JsonLinesItemExporter):
    """One JSON object a line. Batches are written fast unless an option changes how rows look."""

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        super().__init__(file, **kwargs)
        self._prepare(JsonLinesItemExporter, kwargs)

    def _write_rows(self, batch: UrlBatch, rows: slice) -> None:
        self.file.write(self._rows(batch, rows, "\n").encode("utf-8", "replace"))


class JsonExporter(_BatchRows, JsonItemExporter):
    """One JSON array. Batches are written fast unless an option changes how rows look."""

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        super().__init__(file, **kwargs)
        self._prepare(JsonItemExporter, kwargs)

    def _write_rows(self, batch: UrlBatch, rows: slice) -> None:
        self._add_comma_after_first()
        comma = "," if self.indent is None else ",\n"
        text = self._rows(batch, rows, comma)[: -len(comma)]
        self.file.write(text.encode("utf-8", "replace"))
