"""JSON feeds: batches come out byte for byte as the rows that Scrapy would write."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from feeds.batches import batch, batches, plain, written
from hypothesis import given, settings
from scrapy.exporters import JsonItemExporter, JsonLinesItemExporter

from sitemap_discovery.feeds.columns import ROWS_AT_ONCE
from sitemap_discovery.feeds.json import JsonExporter, JsonLinesExporter

if TYPE_CHECKING:
    from sitemap_discovery.items import UrlBatch

PAIRS = [(JsonLinesExporter, JsonLinesItemExporter), (JsonExporter, JsonItemExporter)]
UTF8 = {"encoding": "utf-8"}
OPTIONS: dict[str, dict[str, Any]] = {
    "utf-8": UTF8,
    "ascii": {},
    "indent": {**UTF8, "indent": 2},
    "line-breaks": {**UTF8, "indent": 0},
    "fields": {**UTF8, "fields_to_export": ["change", "loc", "no-such"]},
    "empty-fields": {"fields_to_export": ["loc", "no-such"], "export_empty_fields": True},
    "renamed": {**UTF8, "fields_to_export": {"loc": "100%s", "news": 'a"b', "sitemap": "s"}},
    "two-of-one-name": {**UTF8, "fields_to_export": {"loc": "x", "scope": "y", "section": "x"}},
    "no-fields": {**UTF8, "fields_to_export": ["no-such"]},
    "sorted": {"sort_keys": True},
    "not-ascii": {"ensure_ascii": False},
    "separators": {**UTF8, "separators": (",", ":")},
    "utf-16": {"encoding": "utf-16-le"},
}


@pytest.mark.parametrize(("ours", "stock"), PAIRS, ids=["jsonlines", "json"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=30)
@given(made=batches())
def test_a_batch_is_written_as_scrapy_writes_its_rows(
    ours: type, stock: type, options: dict[str, Any], made: UrlBatch
) -> None:
    assert written(ours, made, True, **options) == written(stock, made, False, **options)


@pytest.mark.parametrize(("ours", "stock"), PAIRS, ids=["jsonlines", "json"])
def test_a_batch_of_many_pages_has_every_row_once(ours: type, stock: type) -> None:
    made = plain(2 * ROWS_AT_ONCE + 1)
    assert written(ours, made, True, **UTF8) == written(stock, made, False, **UTF8)


def test_a_lone_surrogate_does_not_cost_the_batch() -> None:
    made = batch(("https://a.example/", "", None, None, {"extra": {"k": "\ud800"}}, "in-path"))
    row = json.loads(written(JsonLinesExporter, made, True, **UTF8))
    assert row["extra"] == {"k": "?"}


def test_a_subclass_that_serializes_its_own_way_is_asked_for_every_row() -> None:
    class Loud(JsonLinesExporter):
        def serialize_field(self, field: Any, name: str, value: Any) -> Any:
            return value.upper() if name == "loc" else value

    out = io.BytesIO()
    Loud(out, encoding="utf-8").export_batch(plain(2), 0, 2)
    assert b'"loc": "HTTPS://A.EXAMPLE/P/1"' in out.getvalue()
