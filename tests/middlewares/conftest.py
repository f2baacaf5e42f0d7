"""``fetch``: a crawl that makes given requests through our middlewares and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_discovery.middlewares import DOWNLOADER_MIDDLEWARES

sys.path.insert(0, str(Path(__file__).parent))

from fetching import Fetch

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpserver import CrawlResult, Site

SETTINGS: dict[str, Any] = {
    "DOWNLOADER_MIDDLEWARES": dict(DOWNLOADER_MIDDLEWARES),
    "USER_AGENT": "ourbot/1.0 (+https://example.com/bot)",
    "ROBOTSTXT_PARSER": "sitemap_discovery.middlewares.robots.SlicedRobotParser",
    "ROBOTSTXT_OBEY": False,
    "DOWNLOAD_HANDLERS": {"file": None, "data": None, "ftp": None, "s3": None},
    "DOWNLOAD_WARNSIZE": 0,
    "RETRY_TIMES": 1,
    "REDIRECT_MAX_TIMES": 5,
    "COOKIES_ENABLED": False,
    "REFERER_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}


@pytest.fixture
def fetch(crawl: Callable[..., CrawlResult]) -> Callable[..., CrawlResult]:
    """``fetch([url or (url, meta), …], origins=[site, …], settings={…}, together=False)``."""

    def run(
        plan: list[Any],
        *,
        origins: list[Site | tuple[str, int]],
        settings: dict[str, Any] | None = None,
        together: bool = False,
    ) -> CrawlResult:
        pairs = [(step, {}) if isinstance(step, str) else step for step in plan]
        addresses = tuple(o if isinstance(o, tuple) else ("127.0.0.1", o.port) for o in origins)
        return crawl(
            Fetch,
            {**SETTINGS, **(settings or {})},
            project=False,
            plan=pairs,
            origins=addresses,
            together=together,
        )

    return run
