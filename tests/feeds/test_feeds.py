"""Feeds: batches come out as the rows Scrapy itself would write, and every option counts rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import signals
from scrapy.exporters import JsonItemExporter, JsonLinesItemExporter
from scrapy.spiders import Spider
from scrapy.utils.test import get_crawler

from sitemap_discovery.feeds.csv import CsvExporter
from sitemap_discovery.feeds.json import JsonExporter, JsonLinesExporter
from sitemap_discovery.feeds.xml import XmlExporter
from sitemap_discovery.items import SitemapFile, SitemapUrl, UrlBatch
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from httpserver import CrawlResult, Site

FILE = SitemapFile("https://a.example/s.xml", "https://a.example", fetched_at=1_790_000_000)
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def batch(*rows: tuple[Any, ...], changes: list[str] | None = None) -> UrlBatch:
    """A batch of (loc, lastmod text, changefreq, priority, details, scope) rows."""
    entries = Entries("url")
    scopes = []
    for loc, lastmod, changefreq, priority, details, scope in rows:
        entries.locs.append(loc)
        entries.lastmods.append(parse_lastmod(lastmod))
        entries.changefreqs.append(changefreq)
        entries.priorities.append(priority)
        entries.details.append(details)
        scopes.append(scope)
    made = UrlBatch(FILE, entries, scopes, changes=changes)
    if changes:
        made.first_seen = [1_780_000_000 + n for n in range(len(entries))]
    return made


def plain(count: int) -> UrlBatch:
    return batch(
        *((f"https://a.example/p/{n}", "", None, None, None, "in-path") for n in range(count))
    )


TEXT = st.text(max_size=12)
ROWS = st.tuples(
    st.one_of(
        st.sampled_from(["https://a.example/x/y", "https://a.example/"]),
        TEXT.map(lambda text: "https://a.example/" + text),
    ),
    st.sampled_from(["", "2026", "2026-10-02T00:00:00+00:00", "2026-10-02T00:00:00Z"]) | TEXT,
    st.sampled_from([None, "weekly"]),
    st.sampled_from([None, 0.5, 1.0]),
    st.none()
    | st.dictionaries(st.sampled_from(["news", "extra"]), st.dictionaries(TEXT, TEXT), max_size=2),
    st.sampled_from(["in-path", "foreign"]),
)


def written(exporter_class: type, made: UrlBatch, by_batch: bool, **options: Any) -> bytes:
    out = io.BytesIO()
    exporter = exporter_class(out, **options)
    exporter.start_exporting()
    if by_batch:
        exporter.export_batch(made, 0, len(made))
    else:
        for row in made.rows():
            exporter.export_item(row)
    exporter.finish_exporting()
    return out.getvalue()


@pytest.mark.parametrize(
    ("ours", "stock"),
    [(JsonLinesExporter, JsonLinesItemExporter), (JsonExporter, JsonItemExporter)],
)
@pytest.mark.parametrize(
    "options",
    [
        {"encoding": "utf-8"},
        {},
        {"encoding": "utf-8", "indent": 2},
        {"encoding": "utf-8", "fields_to_export": ["loc", "change"]},
        {"encoding": "utf-8", "fields_to_export": {"loc": "url"}},
        {"sort_keys": True},
    ],
    ids=["utf-8", "ascii", "indent", "fields", "renamed", "sorted"],
)
@given(rows=st.lists(ROWS, max_size=6), seen=st.booleans())
def test_json_is_what_scrapy_writes(
    ours: type, stock: type, options: dict[str, Any], rows: list[tuple[Any, ...]], seen: bool
) -> None:
    made = batch(*rows, changes=["new", "changed"] * 3 if seen else None)
    if made.changes:
        made.changes = made.changes[: len(made)]
    assert written(ours, made, True, **options) == written(stock, made, False, **options)


def test_csv_keeps_the_column_order_and_nests_as_json() -> None:
    made = batch(
        ("https://a.example/x", "2026", "weekly", 0.5, {"images": [{"loc": "i"}]}, "in-path")
    )
    head, row = csv.reader(io.StringIO(written(CsvExporter, made, True).decode()))
    assert head == list(SitemapUrl.__dataclass_fields__)
    cells = dict(zip(head, row))
    assert json.loads(cells["images"]) == [{"loc": "i"}]
    assert (cells["news"], cells["priority"], cells["lastmod_raw"]) == ("", "0.5", "2026")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_a_csv_cell_never_starts_a_formula(text: str) -> None:
    exporter = CsvExporter(io.BytesIO())
    assert list(exporter._build_row([text])) == ["'" + text]
    exporter.guard = False
    assert list(exporter._build_row([text])) == [text]


def test_xml_is_well_formed_whatever_a_site_wrote() -> None:
    extra = {"extra": {"my:tag": "a\x01b\ufffe<&", "1": "x"}}
    made = batch(("https://a.example/x", "\x0bnonsense", None, None, extra, "in-path"))
    (item,) = ElementTree.fromstring(written(XmlExporter, made, True))
    assert item.findtext("extra/my_tag") == "ab<&"
    assert item.findtext("news") == ""


# -- the extension, through a crawl that serves batches from a spider ------------------------------


class BatchSpider(Spider):
    """Yields what it was given; no network."""

    name = "batches"

    async def start(self) -> Any:
        for item in pickle.loads(bytes.fromhex(self.items)):
            yield item


class Odd:
    """A feed's own filter."""

    def __init__(self, options: Any) -> None:
        pass

    def accepts(self, item: Any) -> bool:
        return getattr(item, "loc", "0")[-1] in "13579"


def feed(
    crawl: Callable[..., CrawlResult], items: list[Any], feeds: dict[str, Any], **settings: Any
) -> CrawlResult:
    return crawl(
        BatchSpider,
        {"FEEDS": feeds, "INVENTORY_ENABLED": False, "ITEM_PIPELINES": {}, **settings},
        items=pickle.dumps(items).hex(),
    )


def test_files_of_a_feed_are_cut_by_rows(crawl: Any, tmp_path: Path) -> None:
    options = {"format": "jsonlines", "batch_item_count": 4}
    result = feed(crawl, [plain(5), plain(6)], {str(tmp_path / "part-%(batch_id)d.jsonl"): options})
    sizes = [len(path.read_text().splitlines()) for path in sorted(tmp_path.glob("part-*.jsonl"))]
    assert sizes == [4, 4, 3]
    assert "feed (4 items)" in result.log


def test_options_mean_what_scrapy_documents(crawl: Any, tmp_path: Path) -> None:
    feeds = {
        str(tmp_path / "renamed.jsonl"): {"format": "jsonlines", "fields": {"loc": "url"}},
        str(tmp_path / "packed.csv.gz"): {
            "format": "csv",
            "postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"],
        },
        str(tmp_path / "odd.json"): {"format": "json", "item_filter": Odd},
        str(tmp_path / "pickled"): {"format": "pickle", "fields": ["loc"]},
        str(tmp_path / "files.jsonl"): {
            "format": "jsonlines",
            "item_classes": ["sitemap_discovery.items.SitemapFile"],
            "fields": ["url"],
        },
    }
    feed(crawl, [plain(10), FILE, {"own": 1}], feeds)
    rows = (tmp_path / "renamed.jsonl").read_text().splitlines()
    assert json.loads(rows[0]) == {"url": "https://a.example/p/0"}
    assert len(gzip.decompress((tmp_path / "packed.csv.gz").read_bytes()).splitlines()) == 12
    assert len(json.loads((tmp_path / "odd.json").read_bytes())) == 5
    assert (tmp_path / "files.jsonl").read_text() == '{"url": "https://a.example/s.xml"}\n'
    with (tmp_path / "pickled").open("rb") as stream:
        assert pickle.load(stream) == {"loc": "https://a.example/p/0"}


def test_an_unwritable_feed_ends_the_run_before_any_request(
    crawl: Any, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    path = tmp_path / "file" / "urls.jsonl"
    result = crawl("sitemaps", {"FEEDS": {str(path): {"format": "jsonlines"}}}, origin=site.url)
    assert result.stats["finish_reason"] == "feed-error"
    assert site.requests == []
    assert f"The feed {path} cannot be written: " in result.log
    assert "Traceback" not in result.log


def test_a_run_that_never_started_keeps_the_earlier_feed(
    crawl: Any, site: Site, tmp_path: Path
) -> None:
    path = tmp_path / "urls.jsonl"
    path.write_text("earlier\n")
    settings = {
        "FEEDS": {str(path): {"format": "jsonlines", "overwrite": True}},
        "INVENTORY_URL": "sqlite:////nowhere/at/all/inventory.db",
    }
    result = crawl("sitemaps", settings, origin=site.url)
    assert result.stats["finish_reason"] == "storage-error"
    assert path.read_text() == "earlier\n"


def test_the_extension_takes_the_place_of_scrapys_own() -> None:
    from sitemap_discovery.feeds.extension import BatchFeedExporter

    crawler = get_crawler(Spider, {"FEEDS": {"x.jsonl": {"format": "jsonlines"}}})
    assert BatchFeedExporter.from_crawler(crawler).storages
    crawler.signals.disconnect_all(signals.item_scraped)
