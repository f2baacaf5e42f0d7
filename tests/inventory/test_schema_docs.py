"""The schema's page is the schema's."""

from __future__ import annotations

import re
from pathlib import Path

from sitemap_discovery.inventory.migrate import schema
from sitemap_discovery.inventory.schema_docs import schema_page

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == schema_page(schema())


def test_every_table_and_column_is_explained() -> None:
    page = schema_page(schema())
    tables = re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", schema(), re.DOTALL)
    for name, body in tables:
        section = page.partition(f"## Table `{name}`")[2].partition("\n## ")[0]
        for column in re.findall(r"^  ([a-z]\w*)\s+[A-Z]+", body, re.MULTILINE):
            assert f"| `{column}` |" in section, (name, column)
