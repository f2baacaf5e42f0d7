"""Feed exports of batches: exporters that write a batch as rows, and the extension that feeds them.

Every ``FEEDS`` option means what Scrapy documents, counted in rows.
"""

from __future__ import annotations

from typing import Final

_JSON = "sitemap_discovery.feeds.json."

FEED_EXPORTERS: Final[dict[str, str]] = {
    "jsonlines": _JSON + "JsonLinesExporter",
    "jsonl": _JSON + "JsonLinesExporter",
    "jl": _JSON + "JsonLinesExporter",
    "json": _JSON + "JsonExporter",
    "csv": "sitemap_discovery.feeds.csv.CsvExporter",
    "xml": "sitemap_discovery.feeds.xml.XmlExporter",
}
"""Format name to exporter, for the setting of the same name."""
