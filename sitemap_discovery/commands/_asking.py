"""What commands that ask the inventory have in common."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NoReturn

from sitemap_discovery.commands._printing import printable
from sitemap_discovery.inventory.queries import origins
from sitemap_discovery.inventory.store import DEFAULT_URL, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from sitemap_discovery.inventory.store import Store

FINE, WRONG, BAD_USAGE = range(3)
"""Exit statuses of commands."""

MOST: Final = 20
"""Known origins that are listed."""


@contextmanager
def opened(settings: BaseSettings) -> Iterator[Store]:
    """The inventory of the settings; :class:`StoreError` when there is none."""
    store = open_store(settings.get("INVENTORY_URL", DEFAULT_URL), create=False)
    try:
        yield store
    finally:
        store.close()


def refuse_options(args: list[str], command: str) -> None:
    """Raise :class:`ValueError` for an argument that was meant as an option."""
    for argument in args:
        if argument.startswith("-"):
            raise ValueError(f"there is no option {argument}; see scrapy {command} --help")


def refuse_origin(store: Store, origin: str | None) -> NoReturn:
    """Raise :class:`ValueError` with one line that tells which origins there are."""
    known = origins(store)
    if not known:
        raise ValueError("the inventory is empty: run scrapy crawl sitemaps first")
    more = f" and {len(known) - MOST:,} more" if len(known) > MOST else ""
    names = ", ".join(map(printable, known[:MOST]))
    raise ValueError(f"nothing is stored of {printable(origin or '')}; known: {names}{more}")
