"""The vocabulary is whole: every code that the package can give has its row and its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitemap_discovery.protocol.problems import PROBLEMS, as_markdown, problem

PACKAGE = Path(__file__).parents[2] / "sitemap_discovery"
CALLS = re.compile(
    r"(?:findings\.add|add_dropped|XmlFault|UnpackFault|RequestRefused|\.cut)\(\s*\"([a-z0-9-]+)\""
    r"|(?:finding=|reason = |None, )\"((?:loc|robots|lastmod|budget|redirect|http)?-?[a-z]+-[a-z-]+)\""
)


def codes_in_source() -> set[str]:
    found = set()
    for part in ("protocol", "spiders", "middlewares"):
        for path in (PACKAGE / part).glob("*.py"):
            for groups in CALLS.findall(path.read_text(encoding="utf-8")):
                found |= set(filter(None, groups))
    return found


def test_every_code_that_is_given_is_documented() -> None:
    codes = codes_in_source()
    assert len(codes) > 40
    assert codes - PROBLEMS.keys() == set()


def test_the_page_is_written_from_the_code() -> None:
    page = PACKAGE.parent / "docs" / "problem-codes.md"
    assert page.read_text(encoding="utf-8") == as_markdown()


@pytest.mark.parametrize(
    ("code", "row"), [("http-404", "http-4xx"), ("http-503", "http-5xx"), ("ok", "ok")]
)
def test_statuses_share_a_row_a_family(code: str, row: str) -> None:
    assert problem(code).code == row


def test_meanings_and_remedies_are_sentences() -> None:
    for each in PROBLEMS.values():
        assert each.meaning.endswith(".")
        assert each.remedy.endswith(".")
