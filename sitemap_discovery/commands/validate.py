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

from sitemap_discovery.commands.inventory import print_text, printable
from sitemap_discovery.protocol.urls import judge_loc
from sitemap_discovery.protocol.validate import Report, failed, nested, validate
from sitemap_discovery.spiders.failures import reason_of
from sitemap_discovery.spiders.reading import codings_of, cut_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

FINE, WRONG, BAD_USAGE = range(3)

MAX_LOCAL: Final = 67_108_864
"""Bytes of a local file that are looked at."""

MAX_CHILDREN: Final = 50_000
NOWHERE: Final = "https://localhost/"
"""Where a local file is taken to live when nothing tells."""


class ValidateSpider(Spider):
    """Fetches the files that are asked for, as politely and as guarded as any crawl."""

    name = "validate"
    reports: dict[str, Report]
    urls: list[str]
    follow: bool

    @property
    def origin_addresses(self) -> list[tuple[str, int]]:
        """Host and port of every address the operator named, for the address guard."""
        parts = [urlsplit(url) for url in self.urls]
        return [(p.hostname or "", p.port or (443 if p.scheme == "https" else 80)) for p in parts]

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield self._request(url)

    def _request(self, url: str, parent: str | None = None) -> Request:
        is_robots = urlsplit(url).path == "/robots.txt"
        return Request(
            url,
            self.parse,
            errback=self.failed,
            dont_filter=True,
            meta={
                "address": url,
                "parent": parent,
                "sitemap_body": True,
                "dont_obey_robotstxt": is_robots,
                "download_maxsize": 0,
                "download_fail_on_dataloss": False,
            },
        )

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """Check a file, and ask for what it names when that is asked for."""
        report = validate(
            response.meta["address"],
            response.body,
            url=response.url,
            now=int(time.time()),
            codings=codings_of(response),
        )
        cut = cut_of(response)
        if cut:
            report.problems += failed(report.address, cut).problems
        yield from self._note(report, response.meta["parent"])

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Report a file that could not be had."""
        meta = failure.request.meta  # type: ignore[attr-defined]
        yield from self._note(failed(meta["address"], reason_of(failure)), meta["parent"])

    def _note(self, report: Report, parent: str | None) -> Iterator[Any]:
        self.reports[report.address] = report
        if parent is not None:
            nested(self.reports[parent], report)
        for url in report.children[:MAX_CHILDREN] if self.follow else ():
            if url not in self.reports:
                self.reports[url] = Report(url)
                yield self._request(url, report.address)


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
        if not (opts.loglevel or opts.logfile):
            self.settings.set("LOG_LEVEL", "ERROR", priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            reports = self._reports(args, opts)
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None)
            text = f"{getattr(error, 'filename', '')}: {cause}" if cause else str(error)
            print(f"scrapy validate: {printable(text)}", file=sys.stderr)
            self.exitcode = BAD_USAGE
            return
        print_text(as_json(reports) if opts.json else "\n\n".join(map(as_text, reports)))
        self.exitcode = FINE if all(report.is_fine for report in reports) else WRONG

    def _reports(self, args: list[str], opts: argparse.Namespace) -> list[Report]:
        """Raises :class:`ValueError` or :class:`OSError` with one line for wrong arguments."""
        options = [argument for argument in args if argument.startswith("-")]
        if options:
            raise ValueError(f"there is no option {options[0]}; see scrapy validate --help")
        if not args:
            raise ValueError("give a file or an address, such as https://example.com/sitemap.xml")
        found: dict[str, Report] = {}
        urls = []
        for text in args:
            if "://" in text:
                urls.append(_address(text))
            else:
                found[text] = _read(Path(text), opts.url)
        if opts.follow:
            urls += [url for report in found.values() for url in report.children]
        self._fetch(urls, found, follow=opts.follow)
        return list(found.values())

    def _fetch(self, urls: list[str], found: dict[str, Report], *, follow: bool) -> None:
        if not urls:
            return
        assert self.crawler_process is not None
        found.update({url: Report(url) for url in urls})
        self.crawler_process.crawl(ValidateSpider, urls=urls, reports=found, follow=follow)
        self.crawler_process.start()


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
