"""Fixtures of the store's tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from stores import STORES, Crawler, opened

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=STORES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, of each kind in turn."""
    return str(request.param(tmp_path))


@pytest.fixture
def crawler(store_url: str) -> Iterator[Crawler]:
    """A writer with an empty store."""
    with opened(store_url) as writer:
        yield writer
