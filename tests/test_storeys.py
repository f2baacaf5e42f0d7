"""The house: imports go down only, and the lower storeys know neither Scrapy nor the network."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[1] / "sitemap_discovery"
STOREYS = {
    "protocol": 1,
    "inventory": 2,
    "items": 3,
    "sample": 4,
    "spiders": 4,
    "pipelines": 4,
    "feeds": 4,
    "extensions": 4,
    "middlewares": 4,
    "settings": 4,
    "commands": 5,
}
FORBIDDEN = {
    1: {"scrapy", "twisted", "sqlite3", "logging", "socket", "urllib.request", "time", "asyncio"},
    2: {"scrapy", "twisted", "socket", "urllib.request", "asyncio"},
    3: {"scrapy", "twisted", "sqlite3", "socket"},
}


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(module: str) -> str | None:
    names = module.split(".")
    return names[1] if names[0] == "sitemap_discovery" and len(names) > 1 else None


def violations(package: Path) -> list[str]:
    found = []
    for path in sorted(package.rglob("*.py")):
        own = path.relative_to(package).parts[0].removesuffix(".py")
        storey = STOREYS.get(own)
        if storey is None:
            continue
        for name in imports(ast.parse(path.read_text(encoding="utf-8"))):
            part = part_of(name)
            if part in STOREYS and STOREYS[part] > storey:
                found.append(f"{path.relative_to(package)} imports {name} from a storey above")
            if any(name == bad or name.startswith(bad + ".") for bad in FORBIDDEN.get(storey, ())):
                found.append(f"{path.relative_to(package)} imports {name}")
    return found


def test_imports_go_down_only() -> None:
    assert violations(PACKAGE) == []


def test_every_part_has_a_storey() -> None:
    parts = {
        path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.suffix in ("", ".py")
    }
    assert parts - {"__init__", "__pycache__"} == set(STOREYS)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("protocol/x.py", "import scrapy.http"),
        ("protocol/x.py", "from sitemap_discovery.items import UrlBatch"),
        ("inventory/x.py", "from twisted.internet import reactor"),
        ("items.py", "from sitemap_discovery.spiders import DiscoverySpider"),
        ("pipelines/x.py", "import sitemap_discovery.commands.crawl"),
    ],
)
def test_a_violation_is_caught(tmp_path: Path, path: str, code: str) -> None:
    module = tmp_path / path
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(code, encoding="utf-8")
    assert len(violations(tmp_path)) >= 1
