"""A run that is killed at any moment: the next one makes good what it left."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sites import index, urlset

if TYPE_CHECKING:
    from httpserver import Site

ROOT = Path(__file__).parents[2]
FILES, SIZE = 6, 4_000

WHAT_IS_STORED = {
    "urls": "SELECT loc, lastmod, gone_at IS NULL FROM url ORDER BY loc",
    "listings": "SELECT file.url, loc FROM listing JOIN file ON file.id = listing.file_id"
    " JOIN url ON url.id = url_id ORDER BY 1, 2",
    "files": "SELECT url, kind, digest, begun_at, entries_kept FROM file ORDER BY url",
    "dropped": "SELECT count(*) FROM dropped",
    "damage": "PRAGMA integrity_check",
}


@pytest.fixture
def large(site: Site) -> Site:
    """An index of files that take a moment each; their URLs overlap."""
    u = site.url
    names = [f"{u}/{n}.xml" for n in range(FILES)]
    site.add("/robots.txt", f"Sitemap: {u}/index.xml\n".encode())
    site.add("/index.xml", index(*names), delay=0.02)
    for n, name in enumerate(names):
        locs = [f"{u}/{page}" for page in range(n * SIZE // 2, n * SIZE // 2 + SIZE)]
        site.add(name.removeprefix(u), urlset(*locs, lastmod="2026-01-01"), delay=0.05)
    return site


def start(site: Site, folder: Path, *more: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    settings = {
        "INVENTORY_URL": f"sqlite:///{folder}/inventory.db", "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": 0, "LOG_LEVEL": "ERROR", "SITEMAP_BATCH_SIZE": 1_000,
    }  # fmt: skip
    flags = [flag for name, value in settings.items() for flag in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy.cmdline", "crawl", "sitemaps"]
    return subprocess.Popen(
        [*command, "-a", f"origin={site.url}", *flags, *more],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(site: Site, process: subprocess.Popen[bytes], requests: int) -> None:
    """Wait until a run has made so many requests."""
    before = len(site.requests)
    while len(site.requests) < before + requests and process.poll() is None:
        time.sleep(0.005)


def end(process: subprocess.Popen[bytes]) -> str:
    _, log = process.communicate(timeout=90)
    return log.decode()


def stored(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(folder / "inventory.db")) as database:
        return {name: database.execute(sql).fetchall() for name, sql in WHAT_IS_STORED.items()}


@pytest.mark.parametrize("queue_on_disk", [False, True])
def test_a_run_after_one_that_was_killed_leaves_what_an_undisturbed_one_does(
    large: Site, tmp_path: Path, queue_on_disk: bool
) -> None:
    end(start(large, tmp_path / "whole"))
    whole = stored(tmp_path / "whole")
    assert len(whole["urls"]) == (FILES + 1) * SIZE // 2
    assert len(whole["listings"]) == FILES * SIZE
    draw, cut = random.Random(queue_on_disk), 0
    for number in range(10):
        folder = tmp_path / str(number)
        more = ("-s", f"JOBDIR={folder}/job") if queue_on_disk else ()
        process = start(large, folder, *more)
        wait_for(large, process, requests=draw.randint(1, FILES + 2))
        time.sleep(draw.uniform(0, 0.2))
        cut += process.poll() is None
        process.kill()
        end(process)
        assert end(start(large, folder, *more)) == ""
        assert not (folder / "job").exists()
        assert stored(folder) == whole, f"killed at the moment number {number}"
    assert cut >= 5, "hardly any run was still under way when it was to be killed"


def test_two_runs_of_one_origin_at_once_store_it_once(large: Site, tmp_path: Path) -> None:
    end(start(large, tmp_path / "whole"))
    both = [start(large, tmp_path / "both") for _ in range(2)]
    assert [end(process) for process in both] == ["", ""]
    assert stored(tmp_path / "both") == stored(tmp_path / "whole")
