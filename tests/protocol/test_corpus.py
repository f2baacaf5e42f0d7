"""Other people's awkward files, read in place, against the right answer for each."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from sitemapdata import read

from sitemap_discovery.protocol.dates import LastmodCache
from sitemap_discovery.protocol.robots import read_robots

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")


def manifest(*kinds: str) -> list[Any]:
    if not CORPUS.is_dir():
        return []
    rows = map(json.loads, (CORPUS / "manifest.jsonl").read_text(encoding="utf-8").splitlines())
    return [pytest.param(row, id=row["path"]) for row in rows if row["kind"] in kinds]


@pytest.mark.parametrize("row", manifest("urlset", "text", "rss", "atom", "html", "junk", "empty"))
def test_every_url_that_is_stated_and_none_that_is_not(row: dict[str, Any]) -> None:
    expected = row["expect"]
    pages, _, _ = read((CORPUS / row["path"]).read_bytes(), url=row["url"])
    right = {expected["count"], *expected.get("also_ok", ()), expected.get("salvage_count")}
    assert len(pages) in right, row["why"]
    if len(pages) == expected["count"] and expected.get("first"):
        assert _plain(pages.locs[0]) == _plain(expected["first"])
        assert _plain(pages.locs[-1]) == _plain(expected["last"])


@pytest.mark.parametrize("row", manifest("index"))
def test_every_file_that_an_index_names(row: dict[str, Any]) -> None:
    expected = row["expect"]
    pages, files, _ = read((CORPUS / row["path"]).read_bytes(), url=row["url"])
    right = {expected["count"], *expected.get("also_ok", ()), expected.get("salvage_count")}
    assert len(files) + len(pages) in right, row["why"]


@pytest.mark.parametrize("row", manifest("robots"))
def test_every_sitemap_line_of_a_robots_txt(row: dict[str, Any]) -> None:
    expected = row["expect"]
    found = {
        line.url for line in read_robots((CORPUS / row["path"]).read_bytes(), row["url"]).sitemaps
    }
    must = {_folded(url) for url in expected["sitemaps"]}
    may = {_folded(url) for url in expected.get("may", ())}
    assert must <= found, row["why"]
    assert found <= must | may, row["why"]
    assert found.isdisjoint(expected.get("must_not", ()))


def dates() -> list[Any]:
    if not CORPUS.is_dir():
        return []
    lines = (CORPUS / "lastmod_values.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [(line.split("\t") + [""] * 6)[:6] for line in lines]
    return [pytest.param(*row, id=f"{number}-{row[4]}") for number, row in enumerate(rows)]


@pytest.mark.parametrize(("value", "field", "source", "utc", "verdict", "note"), dates())
def test_every_date_form(
    value: str, field: str, source: str, utc: str, verdict: str, note: str
) -> None:
    text = value.encode().decode("unicode_escape") if "\\" in value else value
    if text.startswith("<![CDATA[") or "&#" in text:
        pytest.skip("the XML parser resolves this before a date is read")
    lastmod = LastmodCache()[text]
    iso = lastmod.iso if lastmod else None
    if utc == "invalid" or iso is None:
        assert (utc, iso) == ("invalid", None), note
    elif len(utc) > 10:
        moment = utc.replace("Z", "+00:00")
        assert datetime.fromisoformat(iso) == datetime.fromisoformat(moment), note
    else:
        assert iso.startswith(utc), note


def _plain(url: str) -> str:
    """A URL without escapes: ours are valid URIs, the manifest has them as written."""
    return unquote(url).lower()


def _folded(url: str) -> str:
    scheme, colon, rest = url.partition(":")
    return scheme.lower() + colon + rest
