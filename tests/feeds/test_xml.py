"""XML feeds: well-formed whatever a site wrote."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from feeds.batches import batch, batches, written
from hypothesis import given
from scrapy.exporters import XmlItemExporter

from sitemap_discovery.feeds.columns import FIELDS
from sitemap_discovery.feeds.xml import XmlExporter

if TYPE_CHECKING:
    from sitemap_discovery.items import UrlBatch


@given(made=batches())
def test_every_batch_is_well_formed(made: UrlBatch) -> None:
    root = ElementTree.fromstring(written(XmlExporter, made, True))
    assert [[cell.tag for cell in item] for item in root] == [list(FIELDS)] * len(made)


def test_characters_and_names_that_xml_cannot_hold_are_left_out() -> None:
    extra = {"extra": {"my:tag": "a\x01b\ufffe<&\ud800", "1²": "x", "": "y"}}
    made = batch(("https://a.example/x", "\x0bnonsense", None, None, extra, "in-path"))
    (item,) = ElementTree.fromstring(written(XmlExporter, made, True))
    assert {cell.tag: cell.text for cell in item.find("extra") or ()} == {
        "my_tag": "ab<&", "_1_": "x", "_": "y"
    }  # fmt: skip
    assert item.findtext("news") == ""


def test_own_items_stay_as_scrapy_writes_them() -> None:
    item = {"none": None, "list": ["a", 1], "nested": {"b": 2.5}, "number": 3}
    outs = io.BytesIO(), io.BytesIO()
    for exporter in (XmlExporter(outs[0]), XmlItemExporter(outs[1])):
        exporter.start_exporting()
        exporter.export_item(item)
        exporter.finish_exporting()
    assert outs[0].getvalue() == outs[1].getvalue()
