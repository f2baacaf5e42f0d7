"""``scrapy due`` as people run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sitemap_discovery.inventory.evidence import StoredLook
from sitemap_discovery.inventory.store import open_store
from sitemap_discovery.items import SitemapFile
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.urls import url_key

ROOT = Path(__file__).parents[2]
ORIGIN = "https://example.com"
NOW = int(time.time())
DAY = 86_400


def scrapy_due(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    setting = f"INVENTORY_URL=sqlite:///{folder}/inventory.db"
    command = [sys.executable, "-m", "scrapy.cmdline", "due", *arguments, "-s", setting]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An inventory of 70 pages: ten were fetched a week ago, of which the first had changed."""
    store = open_store(f"sqlite:///{tmp_path}/inventory.db")
    run = store.begin_run(spider="sitemaps", job=None, arguments={}, now=NOW - 9 * DAY)
    origin = store.origin_id(ORIGIN, NOW - 9 * DAY)
    file = SitemapFile(f"{ORIGIN}/s.xml", ORIGIN, state=State.COMPLETE, reason="ok")
    locs = [f"{ORIGIN}/p/{i:02}" for i in range(70)]
    date, none = parse_lastmod("2026-01-01"), [None] * 70
    entries = Entries(
        locs=locs, lastmods=[date] * 70, changefreqs=[*none], priorities=[*none], details=[*none]
    )
    read = store.begin_file(origin, file, run, NOW - 9 * DAY)
    keys = [url_key(loc) for loc in locs]
    store.add_urls(read, entries, keys, ["in-path"] * 70, NOW - 9 * DAY)
    store.finish_file(read, file, NOW - 9 * DAY)
    looked = [
        StoredLook(page.url_id, "/s.xml", NOW - 8 * DAY, 200, "first", None, b"1", stamp=page.stamp)
        for page in (store.page(origin, key) for key in keys[:10])
        if page is not None
    ]
    store.save_looks(origin, run, looked)
    store.save_looks(
        origin,
        run,
        [
            StoredLook(
                look.url_id, "/s.xml", NOW - 7 * DAY, 200, "same" if i else "changed", None, b"2",
                stamp=look.stamp, days=1.0,
            )
            for i, look in enumerate(looked)
        ],
    )  # fmt: skip
    store.close()
    return tmp_path


def test_new_pages_come_first_then_what_most_likely_changed(folder: Path) -> None:
    shown = scrapy_due(folder, ORIGIN, "--limit", "62")
    assert (shown.returncode, shown.stderr) == (0, "")
    *lines, summary = shown.stdout.splitlines()
    assert len(lines) == 62
    assert {" ".join(line.split()[1:-1]) for line in lines[:60]} == {"never fetched"}
    assert lines[60].split()[1:] == ["likely", "to", "have", "changed", f"{ORIGIN}/p/00"]
    assert lines[60].split()[0] > lines[61].split()[0]
    assert summary.startswith("fetch 62 of 70 pages, 8 saved (11.4%); changes expected: ")


def test_json_is_one_object_a_line(folder: Path) -> None:
    shown = scrapy_due(folder, "example.com", "--limit", "61", "--json")
    *pages, plan = map(json.loads, shown.stdout.splitlines())
    assert list(pages[0]) == ["loc", "reason", "chance", "part", "worth"]
    assert (pages[60]["loc"], pages[60]["reason"]) == (f"{ORIGIN}/p/00", "likely to have changed")
    assert (plan["plan"]["fetch"], plan["plan"]["pages"], plan["plan"]["saved"]) == (61, 70, 9)
    assert 0 < plan["plan"]["missed"] <= plan["plan"]["missed_most"]


def test_a_page_that_tells_nothing_is_not_new_for_ever(folder: Path) -> None:
    store = open_store(f"sqlite:///{folder}/inventory.db")
    pages = sorted((page for some in store.pages_of(1, 100) for page in some), key=lambda p: p.loc)
    outcomes = ["http-404", "noisy", "robots-disallowed", *["first"] * 57]
    looks = [
        StoredLook(page.url_id, "/s.xml", NOW - 3_600, 200, outcome, None, stamp=page.stamp)
        for page, outcome in zip(pages[10:], outcomes)
    ]
    store.save_looks(1, 1, looks)
    store.close()
    shown = scrapy_due(folder, ORIGIN, "--limit", "10")
    due = [line.split()[-1] for line in shown.stdout.splitlines()[:-1]]
    assert due[0] == f"{ORIGIN}/p/00"
    assert sorted(due) == [f"{ORIGIN}/p/{i:02}" for i in range(10)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give one ORIGIN, not 0"),
        (("https://other.example",), "nothing is stored of https://other.example; known: "),
        ((ORIGIN, "--limit", "few"), "--limit 'few': "),
        ((ORIGIN, "--limit", "0"), "--limit '0': "),
        ((ORIGIN, "--what"), "there is no option --what"),
    ],
)
def test_bad_usage_is_one_line(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    shown = scrapy_due(folder, *arguments)
    assert (shown.returncode, shown.stdout) == (2, "")
    (line,) = shown.stderr.splitlines()
    assert line.startswith(f"scrapy due: {message}")
