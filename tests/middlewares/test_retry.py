"""Retry-After: heeded, bounded, and nobody else waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import Response

from sitemap_discovery.middlewares.retry import retry_after

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from httpserver import CrawlResult, Seen, Site

    Fetch = Callable[..., CrawlResult]

NOW = 1_790_000_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0), (" 7 ", 7.0), ("0", 0.0), ("121", 120.0), ("9" * 5_000, 120.0),
        ("-5", 0.0), ("soon", 0.0), ("", 0.0), ("1.5", 0.0), ("²", 0.0), (None, 0.0),
        (formatdate(NOW + 30, usegmt=True), 30.0),
        (formatdate(NOW - 30, usegmt=True), 0.0),
        (formatdate(NOW + 86_400, usegmt=True), 120.0),
        ("Mon, 32 Foo 99999 99:99:99 GMT", 0.0),
    ],
)  # fmt: skip
def test_retry_after_is_read_and_bounded(value: str | None, seconds: float) -> None:
    headers = {} if value is None else {"Retry-After": value}
    assert retry_after(Response("http://a.example/", headers=headers), NOW, 120.0) == seconds


def busy(times: int, status: int = 429, wait: str = "1") -> Callable[[Seen], Any]:
    """An answer that is busy for so many requests and fine after them."""
    left = [times]

    def answer(seen: Seen) -> tuple[int, dict[str, str], bytes]:
        left[0] -= 1
        if left[0] >= 0:
            return status, {"Retry-After": wait}, b"busy"
        return 200, {}, b"fine"

    return answer


@pytest.mark.parametrize("status", [429, 503])
def test_retry_waits_as_asked(fetch: Fetch, site: Site, status: int) -> None:
    result = fetch([site.add("/", busy(1, status))], origins=[site])
    assert result.items[0]["body"] == b"fine"
    first, second = (seen.at for seen in site.requests)
    assert 0.9 < second - first < 4
    assert result.stats["retry/pause_count"] == 1


def test_wait_is_bounded_by_the_setting(fetch: Fetch, site: Site) -> None:
    url = site.add("/", busy(1, wait="86400"))
    fetch([url], origins=[site], settings={"SITEMAP_RETRY_AFTER_MAX": 1})
    assert site.requests[1].at - site.requests[0].at < 4


def test_there_is_one_retry(fetch: Fetch, site: Site) -> None:
    result = fetch([site.add("/", busy(9))], origins=[site])
    assert result.items[0]["status"] == 429
    assert len(site.requests) == 2


def test_other_requests_of_the_host_wait_too_and_other_hosts_do_not(
    fetch: Fetch, site: Site, make_site: Callable[[], Site]
) -> None:
    other = make_site()
    slow = [site.add("/busy", busy(1, wait="3")), *(site.add(f"/{i}", b"s") for i in range(6))]
    fast = [other.add(f"/{i}", b"f", delay=0.1) for i in range(12)]
    settings = {"CONCURRENT_REQUESTS": 2, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    result = fetch(slow + fast, origins=[site, other], settings=settings, together=True)
    assert sorted(item["status"] for item in result.items) == [200] * 19
    paused_at = site.requests[[s.path for s in site.requests].index("/busy")].at
    during = [seen for seen in site.requests if paused_at < seen.at < paused_at + 2.9]
    assert len(during) <= 1  # the one that was already queued inside the downloader
    assert max(seen.at for seen in other.requests) < paused_at + 2.9


def test_host_that_only_asks_to_wait_is_left_alone(fetch: Fetch, site: Site) -> None:
    plan = [site.add(f"/{i}", busy(99)) for i in range(8)]
    settings = {"SITEMAP_RETRY_AFTER_MAX": 0.2}
    result = fetch(plan, origins=[site], settings=settings)
    codes = [item.get("code") for item in result.items]
    assert codes[-1] == "rate-limited"
    assert len(result.items) == 8
    assert len(site.requests) <= 4


def test_robots_txt_waits_in_place(fetch: Fetch, site: Site) -> None:
    site.add("/robots.txt", busy(1, 503))
    site.add("/x", b"x")
    result = fetch([site.url + "/x"], origins=[site], settings={"ROBOTSTXT_OBEY": True})
    assert result.items[0]["status"] == 200
    assert site.requests[1].at - site.requests[0].at > 0.9


@pytest.mark.parametrize("obey", [False, True], ids=["scheduled", "robots.txt"])
def test_shutdown_does_not_wait_for_a_pause(site: Site, tmp_path: Path, obey: bool) -> None:
    site.add("/robots.txt" if obey else "/", busy(9, wait="60"))
    script = tmp_path / "run.py"
    script.write_text(
        textwrap.dedent(f"""
        from conftest import SETTINGS
        from fetching import Fetch
        from scrapy.crawler import CrawlerProcess
        process = CrawlerProcess({{**SETTINGS, "ROBOTSTXT_OBEY": {obey}}})
        process.crawl(Fetch, plan=[("{site.url}/", {{}})], origins=(("127.0.0.1", {site.port}),))
        process.start()
    """)
    )
    child = subprocess.Popen(
        [sys.executable, script], stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    try:
        limit = time.monotonic() + 20
        while not site.requests and time.monotonic() < limit:
            time.sleep(0.05)
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        child.wait(20)
        assert time.monotonic() - began < 10
    finally:
        child.kill()
        child.wait()
