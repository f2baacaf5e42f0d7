"""Fixtures shared by all tests: real loopback sites and real crawls."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from httpserver import Site
from httpserver import crawl as run_crawl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from httpserver import CrawlResult


@pytest.fixture
def make_site() -> Iterator[Callable[[], Site]]:
    """A function that starts one more site; all are stopped after the test."""
    sites: list[Site] = []

    def make() -> Site:
        sites.append(Site())
        return sites[-1]

    yield make
    for site in sites:
        site.close()


@pytest.fixture
def site(make_site: Callable[[], Site]) -> Site:
    """One running site without pages."""
    return make_site()


@pytest.fixture
def crawl(tmp_path: Path) -> Callable[..., CrawlResult]:
    """``crawl(spider, settings, **spider_args)``, see :func:`httpserver.crawl`."""
    return partial(run_crawl, cwd=tmp_path)
