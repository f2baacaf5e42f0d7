"""The egg that Scrapyd runs holds the whole package and works from the zip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

PROJECT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def egg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package zipped as setup.py would: its packages and package data only."""
    from setuptools import find_packages

    path = tmp_path_factory.mktemp("egg") / "sitemap_discovery.egg"
    packages = find_packages(str(PROJECT), include=["sitemap_discovery", "sitemap_discovery.*"])
    with ZipFile(path, "w") as archive:
        for package in packages:
            folder = PROJECT / package.replace(".", "/")
            for file in sorted([*folder.glob("*.py"), *folder.glob("*.sql")]):
                archive.write(file, file.relative_to(PROJECT))
    return path


def test_a_crawl_runs_from_the_zip(egg: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(egg),
        "SCRAPY_SETTINGS_MODULE": "sitemap_discovery.settings",
    }
    done = subprocess.run(
        [sys.executable, "-m", "sitemap_discovery.sample", "-s", "AUTOTHROTTLE_ENABLED=0"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "urls.jsonl").read_text().splitlines()) == 1_544
    assert "1,544 new" in done.stderr


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in (PROJECT / "sitemap_discovery").rglob("*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)
