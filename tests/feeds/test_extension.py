"""The feed extension, through crawls: every option of ``FEEDS`` counts rows, every fault is said."""

from __future__ import annotations

import gzip
import json
import marshal
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from feeds.batches import FILE, plain
from scrapy.exporters import BaseItemExporter
from scrapy.extensions.feedexport import FileFeedStorage
from scrapy.spiders import Spider

from sitemap_discovery.items import FoundFile, SitemapFile, SitemapUrl

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpserver import CrawlResult, Site


class BatchSpider(Spider):
    """Yields what it was given; no network."""

    name = "batches"
    items: str

    async def start(self) -> Any:
        for item in pickle.loads(bytes.fromhex(self.items)):
            yield item


class Odd:
    """A feed's own filter."""

    def __init__(self, options: Any) -> None:
        pass

    def accepts(self, item: Any) -> bool:
        return getattr(item, "loc", "1")[-1] in "13579"


class LocExporter(BaseItemExporter):
    """A third party's exporter: knows items, not batches."""

    def __init__(self, file: Any, **options: Any) -> None:
        super().__init__(dont_fail=True, **options)
        self.file = file

    def export_item(self, item: Any) -> None:
        assert isinstance(item, SitemapUrl)
        self.file.write(item.loc.encode() + b"\n")


class LostStorage(FileFeedStorage):
    """A storage whose server cannot be reached."""

    def store(self, file: Any) -> None:
        super().store(file)
        raise ConnectionError("no\nroute")


def part_of_day(params: dict[str, Any], spider: Spider) -> dict[str, Any]:
    return {**params, "day": "monday"}


GZIP = ["scrapy.extensions.postprocessing.GzipPlugin"]
PLAIN = {"format": "jsonlines", "fields": ["loc"]}


@pytest.fixture
def feed(crawl: Callable[..., CrawlResult]) -> Callable[..., CrawlResult]:
    """``feed(items, feeds, **settings)``: a crawl that yields the items into the feeds."""

    def run(items: list[Any], feeds: dict[Any, Any], **settings: Any) -> CrawlResult:
        given = {"FEEDS": feeds, "INVENTORY_ENABLED": False, "ITEM_PIPELINES_BASE": {}, **settings}
        return crawl(BatchSpider, given, items=pickle.dumps(items).hex(), timeout=40)

    return run


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


@pytest.mark.parametrize(
    ("limit", "sizes"), [(4, [4, 4, 3]), (5, [5, 5, 1]), (20, [11]), (1, [1] * 11)]
)
def test_files_are_cut_by_rows_over_the_borders_of_batches(
    feed: Any, tmp_path: Path, limit: int, sizes: list[int]
) -> None:
    template = str(tmp_path / "%(day)s" / "part-%(batch_id)03d.jsonl")
    options = {**PLAIN, "batch_item_count": limit, "uri_params": part_of_day}
    result = feed([plain(5), plain(6)], {template: options})
    parts = sorted((tmp_path / "monday").glob("part-*.jsonl"))
    assert [lines(path) for path in parts] == sizes
    assert f"Stored jsonlines feed ({sizes[0]} items)" in result.log
    assert result.stats["feedexport/success_count/FileFeedStorage"] == len(sizes)


def test_one_batch_fills_more_files_than_may_be_open(feed: Any, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of open files are Unix's")
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, old[1]))
    try:
        options = {**PLAIN, "batch_item_count": 1}
        feed([plain(300)], {str(tmp_path / "part-%(batch_id)d.jsonl"): options})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, old)
    assert len(list(tmp_path.glob("part-*.jsonl"))) == 300


@pytest.mark.parametrize("kind", ["jsonlines", "json", "csv", "xml"])
def test_a_file_can_be_fed_in_every_format(feed: Any, tmp_path: Path, kind: str) -> None:
    file = SitemapFile("https://a.example/s.xml", "https://a.example", digest=b"\xab\xcd")
    file.findings.add("doctype", line=1)
    file.children.append(FoundFile("https://a.example/c.xml", "index", file.url, 1, None))
    path = tmp_path / "files"
    feed([file], {str(path): {"format": kind, "item_classes": [SitemapFile]}})
    text = path.read_text()
    for part in ("abcd", "doctype", "https://a.example/c.xml"):
        assert part in text
    assert "None" not in text


def test_options_mean_what_scrapy_documents(feed: Any, tmp_path: Path) -> None:
    urls, files = "sitemap_discovery.items.SitemapUrl", "sitemap_discovery.items.SitemapFile"
    feeds: dict[str, Any] = {
        "renamed.jl": {"format": "jsonlines", "fields": {"loc": "url"}},
        "packed.csv.gz": {"format": "csv", "postprocessing": GZIP},
        "odd.json": {"format": "json", "item_filter": Odd},
        "urls.jl": {**PLAIN, "item_classes": [urls]},
        "dicts.jl": {"format": "jsonlines", "item_classes": [dict]},
        "files.jl": {"format": "jsonlines", "item_classes": [files], "fields": ["url"]},
        "odd-urls.jl": {**PLAIN, "item_filter": Odd, "item_classes": [urls]},
        "pickled": {"format": "pickle", "fields": ["loc"]},
        "marshalled": {"format": "marshal", "fields": ["loc"]},
        "custom": {"format": "loc", "item_classes": [urls]},
        "own.xml": {"format": "xml", "item_export_kwargs": {"item_element": "url"}},
    }
    paths = {name: tmp_path / name for name in feeds}
    feed(
        [plain(10), FILE, {"own": 1}],
        {str(paths[name]): options for name, options in feeds.items()},
        FEED_EXPORTERS={"loc": LocExporter},
    )
    first = {"loc": "https://a.example/p/0"}
    assert json.loads(paths["renamed.jl"].read_text().split("\n")[0]) == {"url": first["loc"]}
    assert len(gzip.decompress(paths["packed.csv.gz"].read_bytes()).splitlines()) == 12
    assert len(json.loads(paths["odd.json"].read_bytes())) == 6  # five URLs and the dict
    assert lines(paths["urls.jl"]) == 10
    assert paths["dicts.jl"].read_text() == '{"own": 1}\n'
    assert paths["files.jl"].read_text() == '{"url": "https://a.example/s.xml"}\n'
    assert lines(paths["odd-urls.jl"]) == 6
    assert pickle.loads(paths["pickled"].read_bytes()) == first
    assert marshal.loads(paths["marshalled"].read_bytes()) == first
    assert paths["custom"].read_text().split()[9] == "https://a.example/p/9"
    assert paths["own.xml"].read_text().count("<url>") == 11


@pytest.mark.parametrize(
    ("items", "options", "expected"),
    [
        ([plain(2)], {}, 3),
        ([plain(2)], {"overwrite": True}, 2),
        ([], {}, 1),
        ([], {"overwrite": True}, 0),
        ([], {"overwrite": True, "store_empty": False}, 1),
    ],
    ids=["append", "overwrite", "append-none", "overwrite-by-none", "none-not-stored"],
)
def test_an_earlier_feed_is_kept_or_replaced(
    feed: Any, tmp_path: Path, items: list[Any], options: dict[str, Any], expected: int
) -> None:
    path = tmp_path / "urls.jsonl"
    path.write_text("earlier\n")
    feed(items, {path: {**PLAIN, **options}})
    assert lines(path) == expected


def test_no_file_is_made_for_a_feed_that_stores_nothing(feed: Any, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "target.jsonl")
    feed([], {tmp_path / "link.jsonl": {**PLAIN, "store_empty": False}})
    assert (tmp_path / "link.jsonl").is_symlink()
    assert not (tmp_path / "target.jsonl").exists()


@pytest.mark.parametrize("name", ["file/urls.jsonl", "folder", "x" * 300, "a\0b"])
def test_an_unwritable_feed_ends_the_run_before_any_request(
    crawl: Any, site: Site, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    result = crawl("sitemaps", {"FEEDS": {str(path): PLAIN}}, origin=site.url)
    assert result.stats["finish_reason"] == "feed-error"
    assert site.requests == []
    assert f"The feed {path} cannot be written: " in result.log
    assert result.log.count(" ERROR: ") == 1
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


FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")


@FULL
@pytest.mark.parametrize(
    "items",
    [[plain(5)], [plain(3_000)] * 5, [{"own": "x" * 100}] * 2_000],
    ids=["small", "batches", "own-items"],
)
def test_a_full_disk_ends_the_run_with_one_line(
    feed: Any, tmp_path: Path, items: list[Any]
) -> None:
    other = tmp_path / "other.json"
    result = feed(items, {"/dev/full": {"format": "jsonlines"}, other: {"format": "json"}})
    assert result.stats["finish_reason"] == "feed-error"
    assert result.stats["feedexport/failed_count/FileFeedStorage"] == 1
    assert result.log.count(" ERROR: ") == 1
    assert "The feed /dev/full cannot be written any further: No space left" in result.log
    assert "Traceback" not in result.log
    assert json.loads(other.read_bytes())


@FULL
def test_a_disk_that_is_full_only_at_the_end_is_one_line(feed: Any) -> None:
    result = feed([plain(5)], {"/dev/full": {**PLAIN, "postprocessing": GZIP}})
    assert result.stats["feedexport/failed_count/FileFeedStorage"] == 1
    assert "Error storing jsonlines feed (5 items) in: /dev/full: No space left" in result.log
    assert "Traceback" not in result.log


def test_a_storage_that_cannot_be_reached_is_one_line(feed: Any, tmp_path: Path) -> None:
    result = feed([plain(5)], {f"lost://{tmp_path}/x": PLAIN}, FEED_STORAGES={"lost": LostStorage})
    assert result.stats["feedexport/failed_count/LostStorage"] == 1
    assert r"ConnectionError: no\nroute" in result.log
    assert "Traceback" not in result.log
