"""Docs and code hold together: settings, arguments, columns, stats, commands, statuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitemap_discovery import settings
from sitemap_discovery.commands.crawl import STATUS_OF_REASON
from sitemap_discovery.items import SitemapUrl
from sitemap_discovery.spiders.arguments import NAMES
from sitemap_discovery.trust.sentences import sentence_of
from sitemap_discovery.trust.thresholds import as_markdown
from sitemap_discovery.trust.verdict import VERDICTS, PartState

PROJECT = Path(__file__).parents[1]
SOURCES = "\n".join(
    path.read_text(encoding="utf-8") for path in (PROJECT / "sitemap_discovery").rglob("*.py")
)
STATS = sorted({key.split("{")[0] for key in re.findall(r'inc_value\(\s*f?"([a-z_/{]+)', SOURCES)})


def page(name: str) -> str:
    return (PROJECT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", [name for name in dir(settings) if name.startswith(("SITEMAP_", "INVENTORY_"))]
)
def test_each_setting_is_documented_with_its_default(name: str) -> None:
    (row,) = [line for line in page("settings.md").splitlines() if line.startswith(f"| `{name}` |")]
    value = getattr(settings, name)
    written = row.split("|")[2].strip().strip("`").replace("_", "")
    assert written == str(value).replace("_", "")


@pytest.mark.parametrize("name", NAMES)
def test_each_argument_is_documented(name: str) -> None:
    assert f"`{name}`" in page("commands.md")


def test_the_columns_are_documented_in_their_order() -> None:
    table = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", page("feeds.md"), re.MULTILINE)
    columns = [name for cell in table for name in re.findall(r"`([a-z_]+)`", cell)]
    assert columns == list(SitemapUrl.__dataclass_fields__)


@pytest.mark.parametrize(
    "key", [key for key in STATS if not key.startswith(("feedexport", "robots"))]
)
def test_each_stat_is_documented(key: str) -> None:
    assert f"`{key}" in page("stats.md")


@pytest.mark.parametrize(
    "name",
    [
        p.stem
        for p in (PROJECT / "sitemap_discovery/commands").glob("*.py")
        if not p.stem.startswith("_")
    ],
)
def test_each_command_is_documented(name: str) -> None:
    assert f"## `scrapy {name}" in page("commands.md")


def test_each_exit_status_is_documented() -> None:
    assert all(f"\n| {status} | " in page("commands.md") for status in range(6))
    assert set(STATUS_OF_REASON) == {"storage-error", "feed-error", "shutdown"}


def test_every_page_that_is_linked_is_there() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([a-zA-Z/._-]+)\)", readme)
    assert len(links) > 8
    assert all((PROJECT / link).is_file() for link in links)


def test_the_page_of_thresholds_is_up_to_date() -> None:
    assert page("lastmod-settings.md") == as_markdown()


def test_every_reason_of_a_verdict_has_a_sentence() -> None:
    source = (PROJECT / "sitemap_discovery/trust/verdict.py").read_text()
    codes = {c for c in re.findall(r'"([a-z]+(?:-[a-z]+)+)"', source) if c not in VERDICTS}
    for code in codes - {"generation-time"}:
        state = PartState("part", why=[code])
        assert sentence_of(state) != code, code
