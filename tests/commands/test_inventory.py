"""``scrapy inventory`` as people run it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from sitemap_discovery.commands._printing import printable
from sitemap_discovery.inventory.store import open_store
from sitemap_discovery.items import SitemapFile
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.urls import url_key

ROOT = Path(__file__).parents[2]
ORIGIN = "https://example.com"


def scrapy_inventory(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    setting = f"INVENTORY_URL=sqlite:///{folder}/inventory.db"
    command = [sys.executable, "-m", "scrapy.cmdline", "inventory", *arguments, "-s", setting]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def store_site(folder: Path, state: State = State.COMPLETE, reason: str = "ok") -> None:
    """1,234 URLs of one file, half of them dated."""
    store = open_store(f"sqlite:///{folder}/inventory.db")
    run = store.begin_run(spider="sitemaps", job=None, arguments={}, now=1_790_000_000)
    file = SitemapFile(f"{ORIGIN}/sitemap.xml", ORIGIN, state=state, reason=reason, error_line=7)
    read = store.begin_file(store.origin_id(ORIGIN, 1_790_000_000), file, run, 1_790_000_000)
    locs = [f"{ORIGIN}/{n}" for n in range(1_234)]
    date = parse_lastmod("2026-01-01")
    entries = Entries(
        locs=locs, lastmods=[date, None] * 617, changefreqs=[None] * 1_234,
        priorities=[None] * 1_234, details=[None] * 1_234,
    )  # fmt: skip
    store.add_urls(
        read, entries, [url_key(loc) for loc in locs], ["in-path"] * 1_234, 1_790_000_000
    )
    store.finish_file(read, file, 1_790_000_000)
    store.close()


def test_a_sound_inventory_is_shown_with_status_0(tmp_path: Path) -> None:
    store_site(tmp_path)
    shown = scrapy_inventory(tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == [
        "https://example.com",
        "  URLs      1,234 listed, 617 dated (50 %), 0 gone",
        "  last run  1,234 new, 0 changed, 0 returned, 0 gone",
        "  files           1 complete",
        "  runs      2026-09-21T14:13:20+00:00 sitemaps unfinished",
    ]


def test_a_faulty_file_is_shown_with_status_1(tmp_path: Path) -> None:
    store_site(tmp_path, State.PARTIAL, "truncated")
    shown = scrapy_inventory(tmp_path, "example.com")
    assert shown.returncode == 1
    fault = "https://example.com/sitemap.xml partial: truncated, line 7; last complete never"
    assert f"  not read  {fault}" in shown.stdout.splitlines()


def test_it_is_told_when_files_are_due(tmp_path: Path) -> None:
    store_site(tmp_path)
    database = sqlite3.connect(tmp_path / "inventory.db")
    database.execute("UPDATE file SET kind = 'urlset'")
    database.commit()
    assert "  next read 1 file is due" in scrapy_inventory(tmp_path).stdout.splitlines()
    database.execute("UPDATE file SET fetched_at = 4000000000")
    database.commit()
    database.close()
    expected = "  next read 2096-10-03T07:06:40+00:00"
    assert expected in scrapy_inventory(tmp_path).stdout.splitlines()


def test_json_is_one_object_with_iso_times(tmp_path: Path) -> None:
    store_site(tmp_path, State.PARTIAL, "truncated")
    shown = scrapy_inventory(tmp_path, "--json", ORIGIN)
    (origin,) = json.loads(shown.stdout)["origins"]
    assert shown.returncode == 1
    assert (origin["origin"], origin["urls"]["present"]) == (ORIGIN, 1_234)
    assert origin["runs"][0]["started_at"] == "2026-09-21T14:13:20+00:00"
    assert origin["faulty"][0]["reason"] == "truncated"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["https://unknown.example"],
            "nothing is stored of https://unknown.example; known: https://example.com",
        ),
        (["one", "two"], "one ORIGIN at most, not 2"),
        (["ftp://example.com"], "only http and https can be read"),
    ],
    ids=["unknown", "two", "scheme"],
)
def test_bad_usage_is_one_line_and_status_2(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    store_site(tmp_path)
    shown = scrapy_inventory(tmp_path, *arguments)
    assert (shown.returncode, shown.stdout) == (2, "")
    (line,) = shown.stderr.splitlines()
    assert line.startswith(f"scrapy inventory: {message}")


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    shown = scrapy_inventory(tmp_path)
    assert shown.returncode == 2
    assert shown.stderr.startswith("scrapy inventory: there is no inventory at ")
    assert list(tmp_path.iterdir()) == []


def test_what_is_long_gone_is_forgotten(tmp_path: Path) -> None:
    store_site(tmp_path)
    store = open_store(f"sqlite:///{tmp_path}/inventory.db")
    run = store.begin_run(spider="sitemaps", job=None, arguments={}, now=1_790_100_000)
    origin = store.origin_id(ORIGIN, 1_790_100_000)
    file = SitemapFile(f"{ORIGIN}/sitemap.xml", ORIGIN, state=State.COMPLETE, reason="ok")
    read = store.begin_file(origin, file, run, 1_790_100_000)
    store.finish_file(read, file, 1_790_100_000)
    store.retire(origin, 1_790_100_000)
    store.close()
    kept = scrapy_inventory(tmp_path, "--prune", "9000w")
    assert "forgot 0 URLs that are gone and 0 runs" in kept.stderr
    shown = scrapy_inventory(tmp_path, "--prune", "0d")
    assert (shown.returncode, shown.stderr) == (0, "forgot 1,234 URLs that are gone and 1 runs\n")
    assert shown.stdout.splitlines()[1] == "  URLs      0 listed, 0 dated, 0 gone"
    wrong = scrapy_inventory(tmp_path, "--prune", "soon")
    assert (wrong.returncode, wrong.stderr) == (
        2, "scrapy inventory: --prune='soon': give an age (180d, 26w)\n"
    )  # fmt: skip


def store_sections(folder: Path) -> None:
    """Three URLs of a shop, two of a blog, one at the top."""
    store = open_store(f"sqlite:///{folder}/inventory.db")
    run = store.begin_run(spider="sitemaps", job=None, arguments={}, now=1_790_000_000)
    file = SitemapFile(f"{ORIGIN}/sitemap.xml", ORIGIN, state=State.COMPLETE, reason="ok")
    read = store.begin_file(store.origin_id(ORIGIN, 1_790_000_000), file, run, 1_790_000_000)
    locs = [f"{ORIGIN}/{name}" for name in ("shop/a", "shop/b", "shop/c", "blog/a", "blog/b", "x")]
    dates = [parse_lastmod("2026-01-01"), parse_lastmod("2026-02-01"), None, None, None, None]
    none: list[None] = [None] * 6
    entries = Entries(
        locs=locs, lastmods=dates, changefreqs=none, priorities=[*none], details=[*none]
    )
    store.add_urls(read, entries, [url_key(loc) for loc in locs], ["in-path"] * 6, 1_790_000_000)
    store.finish_file(read, file, 1_790_000_000)
    store.close()


def test_sections_are_counted(tmp_path: Path) -> None:
    store_sections(tmp_path)
    shown = scrapy_inventory(tmp_path, ORIGIN, "--sections")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [line.split() for line in shown.stdout.splitlines()] == [
        ["section", "URLs", "dated", "gone", "newest"],
        ["/shop/", "3", "2", "0", "2026-02-01T00:00:00+00:00"],
        ["/blog/", "2", "0", "0", "-"],
        ["/", "1", "0", "0", "-"],
    ]
    found = json.loads(scrapy_inventory(tmp_path, ORIGIN, "--sections", "--json").stdout)
    assert [(each["section"], each["urls"]) for each in found] == [
        ("shop", 3),
        ("blog", 2),
        ("", 1),
    ]


@pytest.mark.parametrize("as_feed", [False, True], ids=["lines", "feed"])
def test_a_list_of_urls_is_compared(tmp_path: Path, *, as_feed: bool) -> None:
    store_sections(tmp_path)
    names = ("shop/a", "shop/a", "shop/new", "blog/a", "x")
    urls = [f"{ORIGIN}/{name}" for name in names] + ["https://elsewhere.example/"]
    lines = [json.dumps({"loc": url}) for url in urls] if as_feed else ["# seen", *urls, ""]
    (tmp_path / "seen.txt").write_text("\n".join(lines))
    shown = scrapy_inventory(tmp_path, ORIGIN, "--compare", str(tmp_path / "seen.txt"))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [line for line in shown.stdout.splitlines() if line.startswith("only")] == [
        f"only in the list: {ORIGIN}/shop/new",
        *(f"only in sitemaps: {ORIGIN}/{name}" for name in ("blog/b", "shop/b", "shop/c")),
    ]
    asked = ("--compare", str(tmp_path / "seen.txt"), "--json")
    found = json.loads(scrapy_inventory(tmp_path, ORIGIN, *asked).stdout)
    total = found["total"]
    assert (total["both"], total["found"], total["listed"]) == (3, 4, 6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"\xff\xfe\x00", "cannot be read: it is not UTF-8 text"),
        (b'{"url": "https://example.com/"}\n', "line 1 has no loc"),
        (b"https://elsewhere.example/\n", f"holds no URL of {ORIGIN}"),
    ],
    ids=["missing", "bytes", "no-loc", "foreign"],
)
def test_a_list_that_cannot_be_compared_is_one_line(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    store_sections(tmp_path)
    path = tmp_path / "seen.txt"
    if content is not None:
        path.write_bytes(content)
    shown = scrapy_inventory(tmp_path, ORIGIN, "--compare", str(path))
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr == f"scrapy inventory: --compare {str(path)!r}: {message}\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://example.com/ä", "https://example.com/ä"),
        ("a\x1b[31m\r\n", "a\\x1b[31m\\r\\n"),
        ("\u202egnp", "\\u202egnp"),
        ("\x9b\u2028\ud800", "\\x9b\\u2028\\ud800"),
        ("x" * 201, "x" * 200 + "…"),
    ],
    ids=["plain", "escape", "bidi", "c1", "long"],
)
def test_a_terminal_obeys_nothing_that_a_site_wrote(text: str, shown: str) -> None:
    assert printable(text) == shown
