"""The house: imports go down only, and the lower storeys know neither Scrapy nor the network."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "sitemap_discovery"
PACKAGE = Path(__file__).parents[1] / NAME
STOREYS = {
    "protocol": 1,
    "inventory": 2,
    "trust": 2,
    "items": 3,
    "sample": 4,
    "spiders": 4,
    "pipelines": 4,
    "feeds": 4,
    "extensions": 4,
    "middlewares": 4,
    "settings": 4,
    "commands": 5,  # nothing imports a command
}
NETWORK = {"scrapy", "twisted", "socket", "ssl", "http", "urllib.request", "asyncio", "subprocess"}
FORBIDDEN = {1: NETWORK | {"sqlite3", "logging", "time"}, 2: NETWORK, 3: NETWORK | {"sqlite3"}}
CLOCK_AND_FILES = {"open", "now", "utcnow", "today"}  # calls that storey 1 never makes


def imports(tree: ast.AST, package: list[str]) -> Iterator[tuple[int, str]]:
    """Line and full name of each import; ``package`` is the one that a leading dot means."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and last name of each call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            function = node.func
            yield node.lineno, function.id if isinstance(function, ast.Name) else function.attr


def is_inside(name: str, modules: set[str]) -> bool:
    return any(name == module or name.startswith(module + ".") for module in modules)


def faults_of(path: Path, package: Path) -> Iterator[str]:
    """``path:line what is wrong`` for each breach of the storey rule in one module."""
    place = path.relative_to(package)
    storey = STOREYS.get(place.parts[0].removesuffix(".py"), max(STOREYS.values()))
    above = {f"{NAME}.{part}" for part, height in STOREYS.items() if height > storey}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for line, name in imports(tree, [NAME, *place.parts[:-1]]):
        if is_inside(name, above):
            yield f"{place}:{line} imports {name} from a storey above"
        if is_inside(name, FORBIDDEN.get(storey, set())):
            yield f"{place}:{line} imports {name}, which storey {storey} must not know"
    for line, name in calls(tree) if storey == 1 else ():
        if name in CLOCK_AND_FILES:
            yield f"{place}:{line} calls {name}(), which is for the caller to do"


def violations(package: Path) -> list[str]:
    return [fault for path in sorted(package.rglob("*.py")) for fault in faults_of(path, package)]


def test_imports_go_down_only() -> None:
    assert violations(PACKAGE) == []


def test_every_part_has_a_storey() -> None:
    parts = {
        path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.suffix in ("", ".py")
    }
    assert parts - {"__init__", "__pycache__"} == set(STOREYS)


@pytest.mark.parametrize(
    ("path", "code", "fault"),
    [
        ("protocol/x.py", "import scrapy.http", "imports scrapy.http"),
        ("protocol/x.py", "from urllib import request", "imports urllib.request"),
        ("protocol/x.py", "def f():\n    import http.client", "imports http.client"),
        ("protocol/x.py", "from sitemap_discovery.items import UrlBatch", "from a storey above"),
        ("protocol/x.py", "from sitemap_discovery import spiders", "from a storey above"),
        ("protocol/x.py", "from ..items import UrlBatch", "from a storey above"),
        ("protocol/x.py", "from .. import settings", "from a storey above"),
        ("protocol/deep/x.py", "from ...items import UrlBatch", "from a storey above"),
        ("protocol/x.py", "datetime.now(timezone.utc)", "calls now()"),
        ("protocol/x.py", "open('/etc/hosts')", "calls open()"),
        ("inventory/x.py", "from twisted.internet import reactor", "imports twisted.internet"),
        ("items.py", "from sitemap_discovery.spiders import DiscoverySpider", "a storey above"),
        ("items.py", "from .spiders import DiscoverySpider", "from a storey above"),
        ("pipelines/x.py", "import sitemap_discovery.commands.crawl", "from a storey above"),
    ],
)
def test_a_violation_is_caught(tmp_path: Path, path: str, code: str, fault: str) -> None:
    module = tmp_path / path
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(code, encoding="utf-8")
    (found, *_) = violations(tmp_path)
    assert found.startswith(f"{path}:")
    assert fault in found


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("protocol/x.py", "from urllib.parse import urlsplit\nfrom . import codes"),
        ("protocol/x.py", "from .codes import State"),
        ("inventory/x.py", "import sqlite3\nfrom ..protocol import codes"),
        ("commands/x.py", "import scrapy\nfrom sitemap_discovery.spiders import DiscoverySpider"),
        ("pipelines/x.py", "from httplib_like import Client"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, path: str, code: str) -> None:
    module = tmp_path / path
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(code, encoding="utf-8")
    assert violations(tmp_path) == []
