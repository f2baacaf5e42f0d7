"""The sample site answers over HTTP, and its command tells bad usage from the faults it expects."""

from __future__ import annotations

import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from sitemap_discovery.sample.__main__ import Server
from sitemap_discovery.sample.site import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server: Server, path: str) -> tuple[int, str | None, bytes]:
    connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=5)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.getheader("Content-Type"), body


def sample(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sitemap_discovery.sample", *arguments],
        cwd=cwd, env={"PYTHONPATH": str(PROJECT)}, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("path", pages(""))
def test_each_file_is_served_byte_for_byte(server: Server, path: str) -> None:
    assert get(server, path) == (200, "application/xml", pages(server.url)[path])


def test_pages_are_small_html(server: Server) -> None:
    status, kind, body = get(server, "/blog/post-1")
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert b"<h1>blog/post-1</h1>" in body


def test_what_is_not_there_is_a_404(server: Server) -> None:
    assert get(server, "/missing.xml")[0] == 404


def test_the_faults_of_the_sample_are_no_failure(tmp_path: Path) -> None:
    done = sample("crawl", "-s", "AUTOTHROTTLE_ENABLED=0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "its faults are meant to be there" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nonsense"], "no option --nonsense"),
        (["crawl", "one-word-too-many"], "one spider a run"),
        (["-a", "since=tomorrowish"], "since='tomorrowish'"),
        (["serve", "--port", "eighty"], "--port"),
        (["serve", "--port", "99999"], "port 99999"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_a_failure(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = sample(*arguments, cwd=tmp_path)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "meant to be there" not in done.stdout


def test_a_port_in_use_is_told_in_a_line(server: Server, tmp_path: Path) -> None:
    port = str(server.server_address[1])
    done = sample("serve", "--port", port, cwd=tmp_path)
    assert done.returncode == 2
    assert f"port {port}: " in done.stderr
