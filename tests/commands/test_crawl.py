"""``scrapy crawl`` as an operator meets it: exit status, one clear line, never a traceback."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from httpserver import Site

PROJECT = Path(__file__).parents[2]
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SETTINGS = ["-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=0", "-s", "RETRY_TIMES=0"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "scrapy.cmdline", *arguments]


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(PROJECT),
        "SCRAPY_SETTINGS_MODULE": "sitemap_discovery.settings",
    }


def crawl(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command("crawl", "sitemaps", "-O", "urls.jsonl", *SETTINGS, *arguments),
        cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def serve(site: Site) -> None:
    site.add("/robots.txt", b"Sitemap: /s.xml")
    site.add("/s.xml", f"<urlset {NS}><url><loc>{site.url}/a</loc></url></urlset>".encode())


def test_a_complete_run_exits_with_0_and_writes_rows(site: Site, tmp_path: Path) -> None:
    serve(site)
    done = crawl(tmp_path, "-a", f"origin={site.url}")
    assert done.returncode == 0
    row = json.loads((tmp_path / "urls.jsonl").read_text())
    assert (row["loc"], row["change"], row["scope"]) == (site.url + "/a", "new", "in-path")
    again = crawl(tmp_path, "-a", f"origin={site.url}")
    row = json.loads((tmp_path / "urls.jsonl").read_text())
    assert (again.returncode, row["change"]) == (0, "unchanged")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["-a", "origin=ftp://a.example"], "scrapy crawl: origin='ftp://a.example': only http"),
        (["-a", "orgin=https://a.example"], "scrapy crawl: orgin='https://a.example': no such"),
        ([], "scrapy crawl: origin='': give origin=https://example.com"),
        (["-a", "origin=a.example", "-a", "max_files=many"], "scrapy crawl: max_files='many'"),
        (["-a", "origin=/tmp/s.xml"], "scrapy crawl: origin='/tmp/s.xml': not a site's address"),
        (
            ["-a", "origin=a.example", "-s", "INVENTORY_URL=mysql://x"],
            "scrapy crawl: INVENTORY_URL='mysql://x' names no store: give sqlite:///inventory.db",
        ),
        (
            ["-a", "origin=a.example", "-s", "SITEMAP_ALLOWED_HOSTS=[1"],
            "scrapy crawl: SITEMAP_ALLOWED_HOSTS='[1': give hosts",
        ),
        (
            ["-a", "origin=a.example", "-s", "DOWNLOAD_DELAY=soon"],
            "scrapy crawl: DOWNLOAD_DELAY='soon': give seconds",
        ),
        (
            ["-a", "origin=a.example", "-a", "undated=drop"],
            "scrapy crawl: undated='drop': it needs",
        ),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_5(
    tmp_path: Path, arguments: list[str], line: str
) -> None:
    (tmp_path / "urls.jsonl").write_text("earlier\n")
    done = crawl(tmp_path, *arguments)
    assert done.returncode == 5
    (message,) = done.stderr.splitlines()
    assert message.startswith(line)
    assert (tmp_path / "urls.jsonl").read_text() == "earlier\n"


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_an_unreachable_host_is_told_by_reason(tmp_path: Path) -> None:
    done = crawl(tmp_path, "-a", f"origin=http://127.0.0.1:{closed_port()}")
    assert done.returncode == 2
    assert "cannot be read (connection-refused): nothing of this origin is fetched" in done.stderr


def test_a_failing_tls_handshake_is_told_by_reason(site: Site, tmp_path: Path) -> None:
    done = crawl(tmp_path, "-a", f"origin=https://127.0.0.1:{site.port}")
    assert done.returncode == 2
    assert "cannot be read (tls-failure)" in done.stderr


def test_an_unwritable_inventory_is_exit_3(site: Site, tmp_path: Path) -> None:
    serve(site)
    done = crawl(
        tmp_path, "-a", f"origin={site.url}", "-s", "INVENTORY_URL=sqlite:////no/such/i.db"
    )
    assert done.returncode == 3
    (line,) = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert "/no/such/i.db" in line
    assert site.requests == []


def test_an_inventory_of_a_newer_schema_is_refused(site: Site, tmp_path: Path) -> None:
    import sqlite3

    serve(site)
    with sqlite3.connect(tmp_path / "inventory.db") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    done = crawl(tmp_path, "-a", f"origin={site.url}")
    assert done.returncode == 3
    assert "schema version 99" in done.stderr
    assert site.requests == []


def test_a_signal_ends_the_run_with_4_and_keeps_what_was_read(site: Site, tmp_path: Path) -> None:
    site.add("/robots.txt", b"Sitemap: /s.xml\nSitemap: /slow.xml")
    site.add("/s.xml", f"<urlset {NS}><url><loc>{site.url}/a</loc></url></urlset>".encode())
    site.add("/slow.xml", b"", delay=20)
    process = subprocess.Popen(
        command("crawl", "sitemaps", "-O", "urls.jsonl", *SETTINGS, "-a", f"origin={site.url}"),
        cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(300):
        if "/slow.xml" in site.paths:
            break
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    site.closing.set()
    _, log = process.communicate(timeout=40)
    assert process.returncode == 4
    assert "Traceback" not in log
    assert '"loc"' in (tmp_path / "urls.jsonl").read_text()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["sitemap"], "scrapy crawl: spider='sitemap': there is none of that name; there are"),
        (["sitemaps", "origin=a.example"], "scrapy crawl: origin='a.example': write -a before it"),
        (["sitemaps", "b"], "scrapy crawl: spider='b': one spider a run"),
        ([], "scrapy crawl: spider='': name one; there are"),
        (["sitemaps", "-a", "origin"], "scrapy crawl: Invalid -a value"),
        (["sitemaps", "--bogus"], "scrapy crawl: there is no option --bogus"),
        (["sitemaps", "-o", "a.json", "-O", "b.json"], "scrapy crawl: Please use only one of"),
        (
            ["sitemaps", "-a", "origin=a.example", "-s", "SITEMAP_MAX_FILES=many"],
            "scrapy crawl: SITEMAP_MAX_FILES='many': give a whole number from 1",
        ),
    ],
)
def test_a_mistyped_call_is_one_line_too(tmp_path: Path, arguments: list[str], line: str) -> None:
    done = subprocess.run(
        command("crawl", *arguments), cwd=tmp_path, env=environment(),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 5
    assert done.stderr.startswith(line)
    assert len(done.stderr.splitlines()) == 1


SPOILER = """
import sqlite3

from scrapy import signals
from sitemap_discovery.spiders.sitemaps import SitemapsSpider


class Spoiler(SitemapsSpider):
    name = "spoiler"
    extra_arguments = frozenset({"table"})

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.spoil, signals.spider_idle)
        return spider

    def spoil(self):
        with sqlite3.connect("inventory.db") as database:
            database.execute(f"ALTER TABLE {self.table} RENAME TO elsewhere")
        database.close()
"""


@pytest.mark.parametrize("table", ["run", "listing"])
def test_a_store_that_fails_at_the_very_end_is_exit_3(
    site: Site, tmp_path: Path, table: str
) -> None:
    serve(site)
    (tmp_path / "spoiling.py").write_text(SPOILER)
    done = subprocess.run(
        command("crawl", "spoiler", *SETTINGS, "-a", f"origin={site.url}", "-a", f"table={table}",
                "-s", "SPIDER_MODULES=spoiling"),
        cwd=tmp_path, env={**environment(), "PYTHONPATH": f"{PROJECT}{os.pathsep}{tmp_path}"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "] ERROR: " in line]
    assert "no such table" in line
    assert "Run partial (cut short by storage-error)" in done.stderr
    assert "Traceback" not in done.stderr
