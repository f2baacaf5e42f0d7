"""``scrapy changed`` as people run it, and the plans of its statements."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sitemap_discovery.inventory.queries import CHANGES, changes_sql, overview
from sitemap_discovery.inventory.store import open_store
from sitemap_discovery.items import SitemapFile, SitemapUrl
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.urls import url_key

ROOT = Path(__file__).parents[2]
ORIGIN = "https://example.com"
NOW = int(time.time())
DAY = 86_400


def scrapy_changed(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    setting = f"INVENTORY_URL=sqlite:///{folder}/inventory.db"
    command = [sys.executable, "-m", "scrapy.cmdline", "changed", *arguments, "-s", setting]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def read(folder: Path, now: int, **pages: str) -> None:
    """A run over one file that lists ``pages`` with their dates."""
    store = open_store(f"sqlite:///{folder}/inventory.db")
    run = store.begin_run(spider="sitemaps", job=None, arguments={}, now=now)
    origin = store.origin_id(ORIGIN, now)
    file = SitemapFile(f"{ORIGIN}/s.xml", ORIGIN, state=State.COMPLETE, reason="ok")
    locs = [f"{ORIGIN}/{name}" for name in pages]
    none: list[Any] = [None] * len(locs)
    entries = Entries(
        locs=locs, lastmods=[parse_lastmod(text) for text in pages.values()],
        changefreqs=[*none], priorities=[*none], details=[*none],
    )  # fmt: skip
    going = store.begin_file(origin, file, run, now)
    store.add_urls(going, entries, [url_key(loc) for loc in locs], ["in-path"] * len(locs), now)
    store.finish_file(going, file, now)
    store.retire(origin, now)
    store.finish_run(
        run, state="complete", reason=None, finish_reason="finished", summary={}, now=now
    )
    store.close()


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Three runs, ten and five days ago and today."""
    read(tmp_path, NOW - 10 * DAY, a="2026-01-01", b="2026-01-01", c="", d="2026-01-01")
    read(tmp_path, NOW - 5 * DAY, a="2026-01-01", c="", d="2026-01-02")
    read(tmp_path, NOW, a="2026-02-01", b="2026-01-01", d="2026-01-02", e="")
    return tmp_path


def told(text: str) -> list[tuple[str, str]]:
    return [(line.split()[0], line.rpartition("/")[2]) for line in text.splitlines()]


def test_what_the_last_run_met_is_shown(history: Path) -> None:
    shown = scrapy_changed(history, ORIGIN)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert told(shown.stdout) == [
        ("new", "e"), ("changed", "a"), ("returned", "b"), ("gone", "c"),
    ]  # fmt: skip
    assert shown.stdout.splitlines()[1] == f"changed  2026-02-01T00:00:00+00:00 {ORIGIN}/a"


def test_since_looks_further_back(history: Path) -> None:
    shown = scrapy_changed(history, ORIGIN, "--since", "7d", "--undated", "drop")
    assert told(shown.stdout) == [("changed", "a"), ("changed", "d"), ("returned", "b")]


def test_a_page_that_moved_is_hinted_at(tmp_path: Path) -> None:
    old = {f"2025/{name}": "" for name in ("hello-world", "twice-there", "short", "a")}
    new = {f"blog/{name}": "" for name in ("hello-world", "twice-there", "a")}
    read(tmp_path, NOW - DAY, **old)
    read(tmp_path, NOW, **new, **{"news/twice-there/": ""})
    lines = scrapy_changed(tmp_path, ORIGIN).stdout.splitlines()
    hints = [line.partition("  perhaps now ")[2] for line in lines if line.startswith("gone")]
    assert hints == [f"{ORIGIN}/blog/hello-world", "", "", ""]


def test_json_has_the_columns_of_a_feed(history: Path) -> None:
    shown = scrapy_changed(history, ORIGIN, "--json")
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    assert list(rows[0]) == list(SitemapUrl.__dataclass_fields__)
    assert [row["sitemap"] for row in rows] == [f"{ORIGIN}/s.xml"] * 4
    assert {row["lastmod_trust"] for row in rows} == {"unproven"}
    gone = rows[-1]
    assert (gone["change"], gone["lastmod"]) == ("gone", None)
    assert gone["first_seen"] < gone["last_seen"]


def test_the_verdict_that_holds_now_is_told(history: Path) -> None:
    database = sqlite3.connect(history / "inventory.db")
    database.execute(
        "INSERT INTO part (origin_id, name, verdict, why, sentence, score, urls, reads, judged_at,"
        " state) VALUES (1, '/s.xml', 'trusted', '[]', '', 1, 4, 9, 9, '{}')"
    )
    database.commit()
    database.close()
    shown = scrapy_changed(history, ORIGIN, "--json")
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    assert {row["lastmod_trust"] for row in rows} == {"trusted"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give one ORIGIN, not 0"),
        (("https://other.example",), "nothing is stored of https://other.example; known: "),
        ((ORIGIN, "--since", "soon"), "since='soon': give a date"),
        ((ORIGIN, "--undated", "drop"), "undated='drop': it needs since="),
        ((ORIGIN, "--what"), "there is no option --what"),
    ],
)
def test_bad_usage_is_one_line(history: Path, arguments: tuple[str, ...], message: str) -> None:
    shown = scrapy_changed(history, *arguments)
    assert shown.returncode == 2
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_looked_up_in_an_index(history: Path, change: str) -> None:
    store = open_store(f"sqlite:///{history}/inventory.db")
    plan = store.rows(f"EXPLAIN QUERY PLAN {changes_sql(change)}", {"origin": 1, "since": NOW})
    assert [step for *_, step in plan if step.startswith("SEARCH url USING")]
    assert not [step for *_, step in plan if step.startswith("SCAN url")]
    store.close()


def test_counts_come_from_indexes(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(f"sqlite:///{history}/inventory.db")
    rows, asked = store.rows, []

    def noted(sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        asked.append((sql, values))
        return rows(sql, values)

    monkeypatch.setattr(store, "rows", noted)
    (found,) = overview(store, ORIGIN, now=NOW)
    urls = found.urls
    assert (urls.present, urls.dated, urls.gone) == (4, 3, 1)
    assert (urls.new, urls.changed, urls.returned, urls.gone_in_run) == (1, 1, 1, 1)
    for sql, values in asked:
        plan = [step for *_, step in rows(f"EXPLAIN QUERY PLAN {sql}", values)]
        assert not [step for step in plan if step.startswith("SCAN url")], (sql, plan)
    store.close()
