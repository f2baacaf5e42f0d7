"""CSV feeds: the contract's columns, nested values as JSON, no cell that runs."""

from __future__ import annotations

import csv
import datetime
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from feeds.batches import batch, batches, plain, written
from hypothesis import given, settings
from scrapy.exporters import CsvItemExporter
from scrapy.spiders import Spider
from scrapy.utils.test import get_crawler

from sitemap_discovery.feeds.columns import FIELDS
from sitemap_discovery.feeds.csv import CsvExporter
from sitemap_discovery.items import SitemapUrl

if TYPE_CHECKING:
    from sitemap_discovery.items import UrlBatch


def test_columns_keep_the_contracts_order_and_nest_as_json() -> None:
    details = {"images": [{"loc": "i", "title": "é"}]}
    made = batch(("https://a.example/x", "2026", "weekly", 0.5, details, "in-path"))
    head, row = csv.reader(io.StringIO(written(CsvExporter, made, True).decode()))
    assert head == list(FIELDS)
    cells = dict(zip(head, row))
    assert json.loads(cells["images"]) == details["images"]
    assert (cells["news"], cells["priority"], cells["lastmod_raw"]) == ("", "0.5", "2026")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"encoding": "utf-8", "fields_to_export": ["loc", "no-such", "news", "change"]},
        {"fields_to_export": {"lastmod_raw": "raw", "priority": "-p"}},
        {"fields_to_export": ["sitemap"], "include_headers_line": False},
        {"delimiter": ";", "quoting": csv.QUOTE_NONNUMERIC},
        {"encoding": "utf-16-le"},
    ],
    ids=["all", "fields", "renamed", "one-constant-no-header", "dialect", "utf-16"],
)
@settings(max_examples=30)
@given(made=batches())
def test_a_batch_is_written_as_its_rows_are(options: dict[str, Any], made: UrlBatch) -> None:
    options = {**options, "errors": "replace"}
    assert written(CsvExporter, made, True, **options) == written(
        CsvExporter, made, False, **options
    )


@given(made=batches())
def test_unguarded_flat_columns_are_what_scrapy_writes(made: UrlBatch) -> None:
    class Unguarded(CsvExporter):
        guard = False

    options: dict[str, Any] = {"fields_to_export": [*FIELDS[:11], *FIELDS[-2:]]}
    assert written(Unguarded, made, True, **options) == written(
        CsvItemExporter, made, False, **options
    )


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("own", [True, False], ids=["own-item", "batch"])
def test_a_cell_runs_as_a_formula_only_when_the_guard_is_off(
    text: str, guarded: bool, own: bool
) -> None:
    crawler = get_crawler(Spider, {"SITEMAP_CSV_FORMULA_GUARD": guarded})
    exporter = CsvExporter.from_crawler(crawler, out := io.BytesIO(), fields_to_export=["scope"])
    if own:
        exporter.export_item({"scope": text})
    else:
        row = ("https://a.example/", "", None, None, None, text)
        exporter.export_batch(batch(row, row), 0, 2)
    rows = csv.reader(io.StringIO(out.getvalue().decode(), newline=""))
    assert {row[0] for row in rows} == {"scope", "'" + text if guarded else text}


def test_numbers_are_no_formulas_and_own_items_stay_as_scrapy_writes_them() -> None:
    item = {"n": -1, "list": ["a", "b"], "nested": {"day": datetime.date(2026, 1, 2)}, "none": None}
    outs = io.BytesIO(), io.BytesIO()
    for exporter in (CsvExporter(outs[0]), CsvItemExporter(outs[1])):
        exporter.export_item(item)
        exporter.finish_exporting()
    assert outs[0].getvalue() == outs[1].getvalue()


def test_the_guard_is_on_without_a_setting() -> None:
    exporter = CsvExporter.from_crawler(get_crawler(Spider), io.BytesIO())
    assert exporter.guard


def test_single_rows_and_batches_share_one_header() -> None:
    exporter = CsvExporter(out := io.BytesIO())
    exporter.export_item(SitemapUrl("https://a.example/first"))
    exporter.export_batch(plain(3), 0, 3)
    assert [line[:4] for line in out.getvalue().splitlines()] == [b"loc,", *[b"http"] * 4]
