"""``scrapy validate``: every problem of sitemaps, indexes and robots.txt files, and what to do."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.settings import SETTINGS_PRIORITIES

from sitemap_discovery.commands._printing import print_text, printable
from sitemap_discovery.items import FoundFile
from sitemap_discovery.protocol.urls import (
    address_of,
    is_robots,
    judge_loc,
    normal_origin,
    origin_of,
)
from sitemap_discovery.protocol.validate import (
    Report,
    failed,
    no_robots,
    note_child,
    validate,
)
from sitemap_discovery.spiders.arguments import Arguments, check_settings
from sitemap_discovery.spiders.failures import is_missing, reason_of
from sitemap_discovery.spiders.frontier import Budget, Frontier
from sitemap_discovery.spiders.reading import codings_of, cut_of
from sitemap_discovery.spiders.walk import Walk

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure
    from typing_extensions import Self

FINE, WRONG, BAD_USAGE = range(3)

MAX_LOCAL: Final = 67_108_864
"""Bytes of a local file that are looked at."""

NOWHERE: Final = "https://localhost/"
"""Where a local file is taken to live when nothing tells."""


class ValidateSpider(Spider):
    """Fetches the files that are asked for, as politely and as guarded as any crawl.

    ``named`` are the addresses the operator gave, ``first`` those asked for first; ``reports`` is
    filled as answers come in. With ``follow`` what they name is asked for too, within the bounds of
    a crawl.
    """

    name = "validate"
    named: list[str]
    first: list[str]
    reports: dict[str, Report]
    follow: bool

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings = crawler.settings
        spider.budget = Budget(
            settings.getint("SITEMAP_MAX_FILES", 50_000), settings.getint("SITEMAP_MAX_DEPTH", 5)
        )
        return spider

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.budget = Budget()
        self._walks: dict[str, Walk] = {}

    @property
    def origin_addresses(self) -> list[tuple[str, int]]:
        """Host and port of every address the operator named, for the address guard."""
        return list(map(address_of, self.named))

    async def start(self) -> AsyncIterator[Any]:
        for url in self.first:
            for request in self._ask(url, FoundFile(url, "argument")):
                yield request

    def _ask(self, first: str, found: FoundFile) -> Iterator[Request]:
        """Ask for a file, unless it was asked for; ``first`` is the address that led to it."""
        root = normal_origin(origin_of(first))
        walk = self._walks.setdefault(root, Walk(root, Frontier(root, self.budget), base=root))
        walk.frontier.add(found)
        file = walk.frontier.release()
        if file is not None:
            self.reports.setdefault(file.url, failed(file.url, "stopped"))
            meta = {
                "found": found,
                "first": first,
                "sitemap_body": True,
                "dont_obey_robotstxt": is_robots(file.url),
                "download_maxsize": 0,
                "download_warnsize": 0,
                "download_fail_on_dataloss": False,
            }
            yield Request(file.url, self.parse, errback=self.failed, dont_filter=True, meta=meta)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """Check a file, and ask for what it names when that is asked for."""
        found, first = response.meta["found"], response.meta["first"]
        walk = self._walks[normal_origin(origin_of(first))]
        report = validate(
            found.url,
            response.body,
            url=response.url,
            now=int(time.time()),
            codings=codings_of(response),
            cut=cut_of(response),
            origin=walk.root,
            named_hosts=walk.named_hosts,
        )
        self.reports[found.url] = report
        if report.kind == "robots":
            walk.named_hosts.update(urlsplit(url).hostname or "" for url in report.children)
        repeated = walk.first_of(response.body, found.url) != found.url
        for url in report.children if self.follow and not repeated else ():
            child = FoundFile(url, "index", found.url, found.depth + (report.kind == "index"))
            if walk.admits(url):
                yield from self._ask(first, child)
            else:
                report.add("off-site", url)

    def failed(self, failure: Failure) -> None:
        """Report a file that could not be had."""
        url, reason = failure.request.meta["found"].url, reason_of(failure)  # type: ignore[attr-defined]
        missing = is_robots(url) and is_missing(failure, url)
        self.reports[url] = no_robots(url) if missing else failed(url, reason)


class Command(ScrapyCommand):
    """Exit status: 0 nothing to mend, 1 errors or warnings, 2 bad usage."""

    requires_project = True

    def syntax(self) -> str:
        return "[options] FILE_OR_URL…"

    def short_desc(self) -> str:
        return "Check sitemaps, indexes and robots.txt files, and say what to do"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--follow", action="store_true", help="check the files named as well")
        parser.add_argument("--url", help="where a local file is published, for its scope")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        self.settings.set("INVENTORY_ENABLED", False, priority="cmdline")
        if self.settings.getpriority("LOG_LEVEL") != SETTINGS_PRIORITIES["cmdline"]:
            self.settings.set("LOG_LEVEL", "ERROR", priority="cmdline")
        try:
            check_settings(self.settings, Arguments())
            self._found, self._urls = _targets(args, opts.url)
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None)
            text = f"{getattr(error, 'filename', '')}: {cause}" if cause else str(error)
            print(f"scrapy validate: {printable(text)}", file=sys.stderr)
            sys.exit(BAD_USAGE)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        found, first = self._found, list(self._urls)
        if opts.follow:
            first += [url for report in found.values() for url in report.children]
        if first:
            assert self.crawler_process is not None
            options = {"named": self._urls, "first": first, "reports": found}
            self.crawler_process.crawl(ValidateSpider, follow=opts.follow, **options)
            self.crawler_process.start()
        for report in found.values():
            for url in report.children:
                if url in found:
                    note_child(report, found[url])
        reports = list(found.values())
        print_text(as_json(reports) if opts.json else "\n\n".join(map(as_text, reports)))
        self.exitcode = FINE if all(report.is_fine for report in reports) else WRONG


def _targets(args: list[str], url: str | None) -> tuple[dict[str, Report], list[str]]:
    """Reports on the local files and the addresses that are to be asked for.

    Raises :class:`ValueError` or :class:`OSError` with one line for wrong arguments.
    """
    options = [argument for argument in args if argument.startswith("-")]
    if options:
        raise ValueError(f"there is no option {options[0]}; see scrapy validate --help")
    if not args:
        raise ValueError("give a file or an address, such as https://example.com/sitemap.xml")
    urls = [_address(text) for text in args if "://" in text]
    return {text: _read(Path(text), url) for text in args if "://" not in text}, urls


def _address(text: str) -> str:
    url, _ = judge_loc(text, "")
    if url is None:
        raise ValueError(f"{text!r} is no http(s) address")
    return url.partition("#")[0]


def _read(path: Path, url: str | None) -> Report:
    with path.open("rb") as stream:
        body = stream.read(MAX_LOCAL)
    place = _address(url) if url else NOWHERE + path.name
    report = validate(str(path), body, url=place, now=int(time.time()))
    if url is None:  # nothing tells where it lives, so nothing tells what is off its site
        kept = [row for row in report.problems if not row.code.startswith(_PLACES)]
        report.problems = kept
    return report


_PLACES: Final = (
    "url-other-",
    "url-www-",
    "url-above-",
    "child-other-",
    "child-www-",
    "child-above-",
)


def as_json(reports: list[Report]) -> str:
    """One object with a list of ``files``."""
    return json.dumps({"files": [asdict(report) for report in reports]}, indent=2)


def as_text(report: Report) -> str:
    """A line for the file and three for each problem at most."""
    kind = report.kind or "no sitemap"
    reason = "" if report.reason in ("ok", "") else f" ({printable(report.reason)})"
    noun = "entry" if report.entries == 1 else "entries"
    head = f"{printable(report.address)}: {kind}, {report.entries:,} {noun}, {report.state}{reason}"
    lines = [head]
    for row in report.problems:
        times = f" × {row.count:,}" if row.count > 1 else ""
        line = f", line {row.line:,}" if row.line else ""
        lines.append(f"  {row.severity:<8}{row.code}{times}{line}")
        lines.append(f"          {row.meaning} {row.remedy}")
        if row.example:
            lines.append(f"          e.g. {printable(row.example)}")
    if not report.problems:
        lines.append("  fine")
    return "\n".join(lines)
