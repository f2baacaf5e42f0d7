"""What happens to an SQLite file: faults, kills, several processes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from stores import Crawler, opened, page

from sitemap_discovery.inventory import sqlite as module
from sitemap_discovery.inventory.migrate import schema
from sitemap_discovery.inventory.rows import CHANGEFREQS, PRECISIONS, SCOPES
from sitemap_discovery.inventory.store import StoreUnavailable, open_store

WRITER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from stores import opened
url, name, batches, kill = sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5] == "kill"
with opened(url) as crawler:
    with crawler.run():
        for n in range(batches):
            own = {f"{name}-{n}-{i}": "2026-01-01" for i in range(200)}
            crawler.read(own | {f"shared-{n}-{i}": None for i in range(200)}, file=f"{name}-{n}.xml")
            if kill and n == batches // 2:
                os._exit(9)
"""


def writer(url: str, name: str, *, batches: int = 8, kill: bool = False) -> subprocess.Popen[bytes]:
    arguments = [str(Path(__file__).parent), url, name, str(batches), "kill" if kill else "whole"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", WRITER, *arguments], env=environment)


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder}/inventory.db"


def integrity(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "inventory.db")) as database:
        return str(database.execute("PRAGMA integrity_check").fetchone()[0])


def test_several_processes_write_one_origin_at_once(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    writers = [writer(url, name) for name in "abc"]
    assert [process.wait(timeout=120) for process in writers] == [0, 0, 0]
    assert integrity(tmp_path) == "ok"
    with opened(url) as crawler:
        assert crawler.rows("count(*)") == [(3 * 8 * 200 + 8 * 200,)]
        assert crawler.rows("count(*)", "listing", "1") == [(3 * 8 * 400,)]
        assert crawler.rows("count(*)", "urls", "1") == [(3 * 8 * 200 + 8 * 200,)]


def test_a_killed_run_leaves_a_sound_store_that_the_next_completes(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    assert writer(url, "a", kill=True).wait(timeout=60) == 9
    assert integrity(tmp_path) == "ok"
    assert writer(url, "a").wait(timeout=60) == 0
    with opened(url) as crawler:
        assert crawler.rows("count(*)") == [(8 * 400,)]
        assert crawler.rows("state", "run") == [(None,), ("complete",)]
        assert crawler.rows(
            "count(*)", "file WHERE state = 'complete' AND begun_at IS NULL", "1"
        ) == [(8,)]


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from stores import ORIGIN, entries, opened, page
from sitemap_discovery.inventory import sqlite
from sitemap_discovery.items import SitemapFile
from sitemap_discovery.protocol.urls import url_key
sqlite.COMMIT_ROWS = 200
with opened(sys.argv[2]) as crawler:
    crawler.start()
    read = crawler.store.begin_file(crawler.origin_id, SitemapFile(page("a.xml"), ORIGIN), crawler.run_id, crawler.now)
    for n in range(3):
        batch = entries({f"{n}-{i}": None for i in range(150)})
        crawler.store.add_urls(read, batch, [url_key(loc) for loc in batch.locs], ["in-path"] * 150, crawler.now)
    os._exit(9)
"""


def test_a_kill_between_the_batches_of_a_file_loses_what_was_not_committed(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), url]
    assert subprocess.run(command, env=environment, check=False, timeout=60).returncode == 9
    assert integrity(tmp_path) == "ok"
    with opened(url) as crawler:
        assert crawler.rows("count(*)") == [(300,)]
        names = {f"{n}-{i}": None for n in range(3) for i in range(150)}
        with crawler.run():
            assert set(crawler.read(names, file="a.xml").changes) == {"new"}
        assert crawler.rows("count(*), count(gone_at)") == [(450, 0)]


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        StoreUnavailable, match=r"inventory\.db cannot be used.*folder exists"
    ) as caught:
        open_store(f"sqlite:///{tmp_path}/none/inventory.db")
    assert "\n" not in str(caught.value)


def test_a_folder_in_the_place_of_the_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        open_store(f"sqlite:///{tmp_path}")


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "inventory.db").write_bytes(b"a shopping list " * 100)
    with pytest.raises(StoreUnavailable, match="not a database; give another INVENTORY_URL"):
        open_store(sqlite_url(tmp_path))


def full_after(crawler: Crawler, pages: int) -> None:
    """Let the database grow by no more than ``pages``."""
    ((size,),) = crawler.store.rows("PRAGMA page_count")
    crawler.store.rows(f"PRAGMA max_page_count = {size + pages}")


def test_a_full_disk_loses_only_the_batch_that_did_not_fit(tmp_path: Path) -> None:
    with opened(sqlite_url(tmp_path)) as crawler:
        with crawler.run():
            crawler.read({"a": None})
        full_after(crawler, 3)
        crawler.start()
        with pytest.raises(StoreUnavailable, match="full; make room on the disk"):
            crawler.read({f"p{n}": None for n in range(5_000)}, file="2.xml")
        assert crawler.present() == {"a"}
    assert integrity(tmp_path) == "ok"


def test_a_lock_held_too_long_names_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.2)
    with opened(sqlite_url(tmp_path)) as crawler:
        with closing(sqlite3.connect(tmp_path / "inventory.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="locked; another process holds it"):
                crawler.start()
        crawler.start()


def test_what_is_stored_at_a_files_end_others_can_read(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    with opened(url) as crawler, opened(url) as reader, crawler.run():
        crawler.read({"a": None})
        assert reader.present() == {"a"}


def test_views_spell_everything_out(tmp_path: Path) -> None:
    with opened(sqlite_url(tmp_path)) as crawler:
        with crawler.run():
            crawler.read({"a": "2026-01-01"}, columns={"changefreqs": ["weekly"]})
        columns = "loc, lastmod, lastmod_precision, scope, changefreq, listed_by"
        assert crawler.rows(columns, "urls") == [
            (page("a"), "2026-01-01 00:00:00", "day", "in-path", "weekly", 1)
        ]
        assert crawler.rows("origin, state, reason", "files") == [
            ("https://example.com", "complete", "ok")
        ]


@pytest.mark.parametrize(
    ("column", "words"),
    [("scope", SCOPES), ("lastmod_precision", PRECISIONS), ("changefreq", CHANGEFREQS)],
)
def test_the_schema_explains_the_numbers_that_are_stored(
    column: str, words: dict[str, int]
) -> None:
    explained = ", ".join(f"{number} {word}" for word, number in words.items())
    (line,) = [line for line in schema().splitlines() if line.startswith(f"  {column} ")]
    assert explained in line
