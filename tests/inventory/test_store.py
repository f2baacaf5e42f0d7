"""Opening a store, and the errors that an operator sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_discovery.inventory import store as module
from sitemap_discovery.inventory.store import (
    BadStoreUrl,
    SchemaTooNew,
    StoreError,
    StoreUnavailable,
    open_store,
)


@pytest.mark.parametrize(
    "url",
    ["", "inventory.db", "sqlite:", "sqlite:///", "sqlite://inventory.db", "mysql://host/db",
     "file:///etc/passwd", "sqlite:///a\0b"],
)  # fmt: skip
def test_a_url_that_names_no_store_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(BadStoreUrl, match="names no store: give sqlite:///inventory") as caught:
        open_store(url)
    assert "\n" not in str(caught.value)


def test_a_relative_url_is_relative_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///inventory.db").close()
    assert (tmp_path / "inventory.db").is_file()


def test_a_store_that_must_exist_is_not_created(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    with pytest.raises(StoreUnavailable, match=r"no inventory at .*none\.db: run scrapy crawl"):
        open_store(f"sqlite:///{path}", create=False)
    assert not path.exists()


def test_every_error_is_a_store_error() -> None:
    errors = {
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert errors == {StoreError, BadStoreUrl, SchemaTooNew, StoreUnavailable}
    assert all(issubclass(error, StoreError) for error in errors)
