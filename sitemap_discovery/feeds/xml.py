"""XML of batches that is well-formed whatever a site wrote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from scrapy.exporters import XmlItemExporter

if TYPE_CHECKING:
    from sitemap_discovery.items import UrlBatch

_NO_CHARACTER: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 cannot hold, not even escaped (production 2)."""

_NO_NAME: Final = re.compile(r"[^\w.-]|^(?=[^A-Za-z_])")


class XmlExporter(XmlItemExporter):
    """One element a row; empty values are empty elements."""

    def export_batch(self, batch: UrlBatch, start: int, stop: int) -> None:
        """Write the rows from ``start`` up to ``stop``."""
        for row in batch.rows(start, stop):
            self.export_item(row)

    def _export_xml_field(self, name: str, serialized_value: Any, depth: int) -> None:
        if serialized_value is None:
            serialized_value = ""
        elif isinstance(serialized_value, str):
            serialized_value = _NO_CHARACTER.sub("", serialized_value)
        super()._export_xml_field(_NO_NAME.sub("_", name), serialized_value, depth)
