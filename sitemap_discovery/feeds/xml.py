"""XML of batches that is well-formed whatever a site wrote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from scrapy.exporters import XmlItemExporter
from scrapy.utils.python import is_listlike

from sitemap_discovery.items import SitemapFile, SitemapUrl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_discovery.items import UrlBatch

_NO_CHARACTER: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 cannot hold, not even escaped (production 2)."""

_NO_NAME: Final = re.compile(r"[^\w.-]|^(?=[^A-Za-z_])", re.ASCII)
"""What cannot be in a name, or stand at its start, for every parser (production 5, in ASCII)."""


class XmlExporter(XmlItemExporter):
    """One element a row. Empty values of our own items are empty elements."""

    def export_batch(self, batch: UrlBatch, start: int, stop: int) -> None:
        """Write the rows from ``start`` up to ``stop``."""
        for row in batch.rows(start, stop):
            self.export_item(row)

    def get_serialized_fields(
        self, item: Any, default_value: Any = None, include_empty: bool | None = None
    ) -> Iterable[tuple[str, Any]]:
        """Scrapy's (name, value) pairs, with ``""`` for ``None`` in our own items."""
        fields = super().get_serialized_fields(item, default_value, include_empty)
        if not isinstance(item, (SitemapUrl, SitemapFile)):
            return fields
        return ((name, "" if value is None else value) for name, value in fields)

    def _export_xml_field(self, name: str, serialized_value: Any, depth: int) -> None:
        if not hasattr(serialized_value, "items") and not is_listlike(serialized_value):
            serialized_value = _NO_CHARACTER.sub("", str(serialized_value))
        super()._export_xml_field(_NO_NAME.sub("_", name) or "_", serialized_value, depth)
