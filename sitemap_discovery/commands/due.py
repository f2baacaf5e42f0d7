"""``scrapy due``: which pages to fetch next and why, by what lastmod is worth here."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand

from sitemap_discovery.commands._asking import (
    BAD_USAGE,
    FINE,
    opened,
    refuse_options,
    refuse_origin,
)
from sitemap_discovery.commands._printing import print_text, printable
from sitemap_discovery.inventory.queries import find_origin
from sitemap_discovery.inventory.store import StoreError
from sitemap_discovery.protocol.urls import parse_origin
from sitemap_discovery.spiders.arguments import ArgumentError, parse_page_arguments
from sitemap_discovery.trust.keeper import TrustKeeper
from sitemap_discovery.trust.thresholds import Thresholds

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sitemap_discovery.trust.plan import Plan


class Command(ScrapyCommand):
    """Exit status: 0 fine, 2 bad usage."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] ORIGIN"

    def short_desc(self) -> str:
        return "Show which pages to fetch next, best first, and why"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--limit", metavar="N", help="at most so many pages")
        parser.add_argument("--json", action="store_true", help="print one JSON object a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            plan = self._plan(args, opts.limit)
        except ArgumentError as error:
            print(f"scrapy due: {str(error).replace('limit=', '--limit ')}", file=sys.stderr)
            self.exitcode = BAD_USAGE
            return
        except (StoreError, ValueError) as error:
            print(f"scrapy due: {error}", file=sys.stderr)
            self.exitcode = BAD_USAGE
            return
        print_text("\n".join(as_json(plan) if opts.json else as_text(plan)))
        self.exitcode = FINE

    def _plan(self, args: list[str], limit: str | None) -> Plan:
        """Raises :class:`ValueError` with one line for wrong arguments."""
        assert self.settings is not None
        refuse_options(args, "due")
        if len(args) != 1:
            raise ValueError(f"give one ORIGIN, not {len(args)}")
        given = {"origin": args[0]} | ({"limit": limit} if limit is not None else {})
        asked = parse_page_arguments(given)
        origin = parse_origin(args[0]).root
        limits = Thresholds.from_settings(self.settings.get)
        with opened(self.settings) as store:
            found = find_origin(store, origin) or refuse_origin(store, origin)
            keeper = TrustKeeper(store, limits)
            return keeper.plan(found[0], now=int(time.time()), limit=asked.limit)


def as_json(plan: Plan) -> Iterator[str]:
    """A line a page, and one for the plan."""
    for due in plan.due:
        yield json.dumps(due._asdict(), ensure_ascii=False)
    summary = {name: value for name, value in asdict(plan).items() if name != "due"}
    yield json.dumps({"plan": summary | {"fetch": len(plan.due)}})


def as_text(plan: Plan) -> Iterator[str]:
    """A line a page: the chance that it has changed, why, its address; then what it comes to."""
    for due in plan.due:
        yield f"{due.chance:>4.0%}  {due.reason:<42}  {printable(due.loc)}"
    share = f" ({plan.saved / plan.pages:.1%})" if plan.pages else ""
    yield (
        f"fetch {len(plan.due):,} of {plan.pages:,} pages, {plan.saved:,} saved{share}; "
        f"changes expected: {plan.caught:,.1f} among them, {plan.missed:,.1f} missed "
        f"(at most {plan.missed_most:,.1f})"
    )
