"""Pages are looked at run after run: evidence becomes verdicts, in feeds, inventory and plan."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from sites import FAST, run

from sitemap_discovery.items import UrlBatch
from sitemap_discovery.spiders.inventory import InventorySpider

if TYPE_CHECKING:
    from pathlib import Path

    from httpserver import CrawlResult, Seen, Site
    from sites import Crawl

PAGES = 60
TIMES = {"at", "before", "first_seen", "last_seen"}


class World:
    """A site whose pages and dates change from day to day, and its inventory."""

    def __init__(self, site: Site, crawl: Crawl, folder: Path) -> None:
        self.site, self.crawl, self.database = site, crawl, folder / "inventory.db"
        self.settings = {**FAST, "INVENTORY_URL": f"sqlite:///{self.database}"}
        self.versions = [0] * PAGES
        self.noise = ""
        start = datetime.now(timezone.utc) - timedelta(days=300)
        self.dates = [start + timedelta(days=i) for i in range(PAGES)]
        site.add(
            "/robots.txt", f"User-agent: *\nDisallow: /p/7\nSitemap: {site.url}/s.xml".encode()
        )
        site.add("/s.xml", self.sitemap)
        for i in range(PAGES):
            site.add(f"/p/{i}", self.page, headers={"Content-Type": "text/html"})

    def sitemap(self, seen: Seen) -> tuple[int, dict[str, str], bytes]:
        entries = "".join(
            f"<url><loc>{self.site.url}/p/{i}</loc><lastmod>{date.isoformat()}</lastmod></url>"
            for i, date in enumerate(self.dates)
        )
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
        return 200, {"Content-Type": "text/xml"}, body.encode()

    def page(self, seen: Seen) -> tuple[int, dict[str, str], bytes]:
        number = int(seen.path.rpartition("/")[2])
        noise = f"<nav>{len(self.site.requests)}</nav>{self.noise and len(self.site.requests)}"
        text = f"<main><h1>Page {number}</h1><p>version {self.versions[number]}</p>{noise}</main>"
        return 200, {"Content-Type": "text/html"}, f"<html><body>{text}</body></html>".encode()

    def read(self, **arguments: str) -> CrawlResult:
        return run(self.crawl, self.site, self.settings, **arguments)

    def look(self, sample: int = 60, spider: Any = "lastmod", **arguments: str) -> CrawlResult:
        if spider == "lastmod":
            arguments["sample"] = str(sample)
        result = self.crawl(spider, self.settings, origin=self.site.url, **arguments)
        assert "Traceback" not in result.log
        return result

    def pass_days(self, days: float = 1.0) -> None:
        """All that is stored was so many days earlier."""
        database = sqlite3.connect(self.database)
        tables = [
            n for (n,) in database.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        for table in tables:
            for column in [row[1] for row in database.execute(f"PRAGMA table_info({table})")]:
                if column.endswith("_at") or column in TIMES:
                    database.execute(
                        f"UPDATE {table} SET {column} = {column} - {days * 86_400:.0f}"
                    )
        database.execute("UPDATE url SET lastmod = lastmod WHERE 0")
        database.commit()
        database.close()

    def change(self, numbers: range, *, reported: bool) -> None:
        for i in numbers:
            self.versions[i] += 1
            if reported:
                self.dates[i] = datetime.now(timezone.utc) - timedelta(hours=2)

    def verdict(self, part: str = "") -> tuple[str, list[str]]:
        database = sqlite3.connect(self.database)
        found = database.execute("SELECT verdict, why FROM part WHERE name = ?", (part,)).fetchone()
        database.close()
        return found[0], json.loads(found[1])


@pytest.fixture
def world(site: Site, crawl: Crawl, tmp_path: Path) -> World:
    return World(site, crawl, tmp_path)


def outcomes(result: CrawlResult) -> dict[str, int]:
    prefix = "lastmod/look_count/"
    return {k.removeprefix(prefix): n for k, n in result.stats.items() if k.startswith(prefix)}


def test_looks_compare_pages_with_what_they_were(world: World) -> None:
    world.read()
    first = world.look()
    assert outcomes(first) == {"first": 59, "robots-disallowed": 1}
    world.pass_days()
    world.change(range(3), reported=True)
    world.site.add("/p/20", status=404)
    world.site.add("/p/21", status=301, headers={"Location": "/p/22"})
    world.site.add("/p/23", b"\x89PNG\r\n\x1a\n", headers={"Content-Type": "image/png"})
    world.read()
    assert outcomes(world.look()) == {
        "changed": 3, "same": 53, "http-404": 1, "redirect": 1, "not-html": 1,
        "robots-disallowed": 1,
    }  # fmt: skip


def test_pages_that_differ_from_themselves_tell_nothing(world: World) -> None:
    world.read()
    world.look(sample=60)
    world.pass_days()
    world.noise = "on"
    world.read()
    found = outcomes(world.look())
    assert found == {"noisy": 59, "robots-disallowed": 1}
    assert outcomes(world.look()) == {"robots-disallowed": 1}


def test_an_honest_site_earns_trust_and_feeds_say_so(world: World) -> None:
    for day in range(6):
        world.change(range(8 * day, 8 * day + 8), reported=True)
        feed = world.read()
        world.look()
        world.pass_days()
    assert world.verdict() == ("trusted", ["still-holds"])
    assert world.read().stats["lastmod/verdict_count/trusted"] == 1
    batches = [item for item in world.read(emit="all").items if isinstance(item, UrlBatch)]
    assert {row.lastmod_trust for batch in batches for row in batch.rows()} == {"trusted"}
    batches = [item for item in feed.items if isinstance(item, UrlBatch)]
    assert {row.lastmod_trust for batch in batches for row in batch.rows()} <= {
        "unproven",
        "trusted",
    }


def test_dates_that_stand_still_are_convicted(world: World) -> None:
    for _ in range(5):
        world.change(range(0, PAGES, 5), reported=False)
        world.read()
        world.look()
        world.pass_days()
    assert world.verdict() == ("untrusted", ["under-reports"])


def test_a_build_that_touches_every_date_is_found_out(world: World) -> None:
    world.read()
    world.look()
    world.pass_days()
    world.dates = [datetime.now(timezone.utc) - timedelta(hours=9)] * PAGES
    world.read()
    assert world.verdict()[0] == "unproven"
    assert outcomes(world.look())["same"] == 59
    assert world.verdict() == ("generation-time", ["bulk-moves-without-change"])


def test_generation_time_is_suspected_from_one_read(world: World) -> None:
    world.dates = [datetime.now(timezone.utc)] * PAGES
    world.read()
    assert world.verdict() == ("generation-time", ["one-stamp-near-generation"])


def test_nothing_to_look_at_is_told_in_one_sentence(world: World) -> None:
    result = world.look()
    assert "nothing is stored of" in result.log
    assert not world.site.paths or world.site.paths == ["/robots.txt"]


class PagesSpider(InventorySpider):
    """What a user would write."""

    name = "pages"

    def parse(self, response: Any) -> Any:
        yield {"loc": response.url, "title": response.css("h1::text").get()}


def test_a_spider_of_ones_own_gets_the_pages_that_are_due(world: World) -> None:
    world.read()
    result = world.look(spider=PagesSpider, limit="10")
    titles = [item["title"] for item in result.items]
    assert len(titles) == outcomes(result)["first"] <= 10
    assert all(title.startswith("Page ") for title in titles)
    again = world.look(spider=PagesSpider, limit="10")
    assert not {item["loc"] for item in again.items} & {item["loc"] for item in result.items}
