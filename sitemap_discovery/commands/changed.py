"""``scrapy changed``: what is new, changed, returned or gone, from what is stored."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, ClassVar, Final

from scrapy.commands import ScrapyCommand
from scrapy.utils.serialize import ScrapyJSONEncoder

from sitemap_discovery.commands._asking import (
    BAD_USAGE,
    FINE,
    opened,
    refuse_options,
    refuse_origin,
)
from sitemap_discovery.commands._printing import print_text, printable
from sitemap_discovery.inventory.queries import changed_urls, find_origin
from sitemap_discovery.inventory.rows import GONE, NEW
from sitemap_discovery.inventory.store import StoreError
from sitemap_discovery.items import SitemapFile, SitemapUrl, UrlBatch, iso_time
from sitemap_discovery.protocol.urls import parse_origin
from sitemap_discovery.spiders.arguments import parse_arguments
from sitemap_discovery.trust.keeper import TrustKeeper
from sitemap_discovery.trust.thresholds import Thresholds

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sitemap_discovery.inventory.queries import ChangedUrls
    from sitemap_discovery.spiders.arguments import Arguments
    from sitemap_discovery.trust.keeper import Verdicts

SHORTEST, MOST_MOVES = 6, 200_000
"""Characters of a last path segment that tells a page, and how many of them are remembered."""

TOGETHER: Final = 1_000
"""Lines printed at a time."""


class Command(ScrapyCommand):
    """Exit status: 0 fine, 2 bad usage."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] ORIGIN"

    def short_desc(self) -> str:
        return "Show what is new, changed, returned or gone"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--since",
            metavar="WHEN",
            help="a date, a W3C datetime or an age (7d, 36h); without it, since the last run began",
        )
        parser.add_argument("--undated", metavar="keep|drop", help="URLs without a usable date")
        parser.add_argument(
            "--json", action="store_true", help="one JSON object a line, as in feeds"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            lines = self._lines(args, opts)
            while together := [line for _, line in zip(range(TOGETHER), lines)]:
                print_text("\n".join(together))
        except (StoreError, ValueError) as error:
            print(f"scrapy changed: {error}", file=sys.stderr)
            self.exitcode = BAD_USAGE
            return
        self.exitcode = FINE

    def _lines(self, args: list[str], opts: argparse.Namespace) -> Iterator[str]:
        """Raises :class:`ValueError` with one line for wrong arguments."""
        assert self.settings is not None
        refuse_options(args, "changed")
        if len(args) != 1:
            raise ValueError(f"give one ORIGIN, not {len(args)}")
        given = {"since": opts.since, "undated": opts.undated}
        asked = parse_arguments({k: v for k, v in given.items() if v is not None}, int(time.time()))
        origin = parse_origin(args[0]).root
        encode = ScrapyJSONEncoder(ensure_ascii=False).encode
        with opened(self.settings) as store:
            found = find_origin(store, origin) or refuse_origin(store, origin)
            since = found[1] or 0 if asked.since is None else asked.since
            moves = Moves()
            verdicts = TrustKeeper(store, Thresholds.from_settings(self.settings.get)).verdicts(
                found[0]
            )
            for changed in changed_urls(store, found[0], since):
                for row in rows(changed, origin, asked, verdicts):
                    yield encode(row) if opts.json else as_text(row, moves.of(row))


def rows(
    changed: ChangedUrls, origin: str, asked: Arguments, verdicts: Verdicts
) -> Iterator[SitemapUrl]:
    """Stored URLs as feed rows, with the verdicts that hold now."""
    urls = changed.urls
    batch = UrlBatch(
        SitemapFile("", origin),
        urls.entries,
        urls.scopes,
        keys=urls.keys,
        changes=[changed.change] * len(urls.keys),
        first_seen=urls.first_seen,
    )
    for row, file, last_seen in zip(batch.rows(), changed.files, changed.last_seen):
        row.sitemap, row.last_seen = file, iso_time(last_seen)
        row.lastmod_trust = verdicts.of_one(file, row.loc)
        if asked.undated == "keep" or row.lastmod is not None:
            yield row


class Moves:
    """Where pages that are gone seem to have moved to: a new one has the same last path segment,
    and no other new one has."""

    def __init__(self) -> None:
        self._new: dict[str, str | None] = {}

    def of(self, row: SitemapUrl) -> str | None:
        """The new address of a row that is gone; rows that are new are to come before."""
        slug = row.loc.partition("?")[0].rstrip("/").rpartition("/")[2]
        if row.change == GONE:
            return self._new.get(slug)
        if row.change == NEW and len(slug) >= SHORTEST and len(self._new) < MOST_MOVES:
            self._new[slug] = None if slug in self._new else row.loc
        return None


def as_text(row: SitemapUrl, moved_to: str | None) -> str:
    """One aligned line."""
    hint = f"  perhaps now {printable(moved_to)}" if moved_to else ""
    return f"{row.change:<9}{row.lastmod or '-':<26}{printable(row.loc)}{hint}"
