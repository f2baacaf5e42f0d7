"""``scrapy inventory``: what is stored of each origin, and what went wrong."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from scrapy.commands import ScrapyCommand

from sitemap_discovery.commands._asking import (
    BAD_USAGE,
    FINE,
    WRONG,
    opened,
    refuse_options,
    refuse_origin,
)
from sitemap_discovery.commands._printing import print_text, printable
from sitemap_discovery.inventory.coverage import compare, keyed
from sitemap_discovery.inventory.queries import find_origin, overview, sections
from sitemap_discovery.inventory.store import StoreError
from sitemap_discovery.items import iso_time
from sitemap_discovery.protocol.urls import judge_loc, origin_of, parse_origin
from sitemap_discovery.spiders.arguments import parse_age

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from sitemap_discovery.inventory.queries import (
        FaultyFile,
        FileCount,
        Overview,
        Run,
        Section,
        Trust,
        UrlCounts,
    )

MOST: Final = 20
"""Faulty files that are listed."""

MOST_SECTIONS: Final = 50
"""Sections that are listed."""


class Command(ScrapyCommand):
    """Exit status: 0 fine, 1 a file is failed or partial, 2 bad usage."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] [ORIGIN]"

    def short_desc(self) -> str:
        return "Show what the inventory holds: URLs, sitemaps by state, runs"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--sections", action="store_true", help="URLs by the first folder of their path"
        )
        parser.add_argument(
            "--compare", metavar="FILE", help="compare with URLs, one a line, or a JSON lines feed"
        )
        parser.add_argument(
            "--prune", metavar="AGE", help="forget URLs gone, and runs begun, longer ago (180d)"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            if opts.sections or opts.compare:
                print_text("\n".join(self._by_section(args, opts)))
                self.exitcode = FINE
                return
            found = self._overviews(args, opts.prune)
        except (StoreError, ValueError) as error:
            print(f"scrapy inventory: {error}", file=sys.stderr)
            self.exitcode = BAD_USAGE
            return
        print_text(as_json(found) if opts.json else "\n\n".join(map(as_text, found)))
        self.exitcode = WRONG if any(each.faulty for each in found) else FINE

    def _by_section(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        """Raises :class:`ValueError` with one line for wrong arguments."""
        assert self.settings is not None
        refuse_options(args, "inventory")
        if len(args) != 1:
            raise ValueError(f"--sections and --compare need one ORIGIN, not {len(args)}")
        origin = parse_origin(args[0]).root
        urls = read_urls(opts.compare, origin) if opts.compare else []
        with opened(self.settings) as store:
            origin_id, _ = find_origin(store, origin) or refuse_origin(store, origin)
            if not opts.compare:
                found = sections(store, origin_id)
                return (
                    [json.dumps(_with_iso_times([asdict(each) for each in found]), indent=2)]
                    if (opts.json)
                    else sections_as_text(found)
                )
            coverage = compare(store, origin_id, keyed(urls))
        if opts.json:
            return [json.dumps(asdict(coverage) | {"total": asdict(coverage.total)}, indent=2)]
        return [
            *coverage.lines("in the list"),
            *(f"only in the list: {printable(url)}" for url in coverage.only_found),
            *(f"only in sitemaps: {printable(url)}" for url in coverage.only_listed),
        ]

    def _overviews(self, args: list[str], prune: str | None) -> list[Overview]:
        """Raises :class:`ValueError` with one line for wrong arguments."""
        assert self.settings is not None
        refuse_options(args, "inventory")
        if len(args) > 1:
            raise ValueError(f"one ORIGIN at most, not {len(args)}")
        origin = parse_origin(args[0]).root if args else None
        now = int(time.time())
        before = parse_age("--prune", prune, now) if prune is not None else None
        with opened(self.settings) as store:
            if before is not None:
                urls, runs = store.prune(before, origin)
                print(f"forgot {urls:,} URLs that are gone and {runs:,} runs", file=sys.stderr)
            return overview(store, origin, now=now) or refuse_origin(store, origin)


def read_urls(path: str, origin: str) -> list[str]:
    """The URLs of a text file, one a line, or of a feed in JSON lines; others than the origin's are
    left out. Raises :class:`ValueError` with one line."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ValueError(f"--compare {path!r}: cannot be read: {cause}") from None
    urls = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("{"):
            try:
                text = str(json.loads(text)["loc"])
            except (ValueError, KeyError, RecursionError):
                raise ValueError(f"--compare {path!r}: line {number} has no loc") from None
        url, _ = judge_loc(text, f"{origin}/") if text and not text.startswith("#") else (None, "")
        if url is not None and origin_of(url) == origin:
            urls.append(url)
    if not urls:
        raise ValueError(f"--compare {path!r}: holds no URL of {origin}")
    return urls


def sections_as_text(found: list[Section]) -> list[str]:
    """A line a section."""
    lines = [f"{'section':<32}{'URLs':>12}{'dated':>12}{'gone':>10}  newest"]
    for each in found[:MOST_SECTIONS]:
        name = printable(f"/{each.section}/" if each.section else "/")
        newest = iso_time(each.newest_at) or "-"
        lines.append(f"{name:<32.32}{each.urls:>12,}{each.dated:>12,}{each.gone:>10,}  {newest}")
    if len(found) > MOST_SECTIONS:
        rest = found[MOST_SECTIONS:]
        lines.append(f"and {len(rest):,} sections more with {sum(s.urls for s in rest):,} URLs")
    return lines


def as_json(found: list[Overview]) -> str:
    """One object with a list of ``origins``; times are ISO 8601 in UTC."""
    return json.dumps({"origins": [_with_iso_times(asdict(each)) for each in found]}, indent=2)


def _with_iso_times(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_iso_times(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: iso_time(each) if name.endswith("_at") else _with_iso_times(each)
        for name, each in value.items()
    }


def as_text(found: Overview) -> str:
    """Some aligned lines to read."""
    lines = [printable(found.origin)]
    lines += _labelled("URLs", [_urls(found.urls)])
    lines += _labelled("last run", [_moves(found.urls)] if found.runs else [])
    lines += _labelled("files", map(_file_count, found.files))
    lines += _labelled("next read", _next_read(found))
    lines += _labelled("lastmod", map(_trust, found.lastmod))
    lines += _labelled("looks", [_looks(found.looks)] if found.looks else [])
    lines += _labelled("not read", _faults(found.faulty))
    lines += _labelled("runs", map(_run, found.runs))
    return "\n".join(lines)


def _labelled(label: str, texts: Iterable[str]) -> Iterator[str]:
    for i, text in enumerate(texts):
        yield f"  {'' if i else label:<10}{text}"


def _urls(urls: UrlCounts) -> str:
    share = f" ({100 * urls.dated / urls.present:.0f} %)" if urls.present else ""
    return f"{urls.present:,} listed, {urls.dated:,} dated{share}, {urls.gone:,} gone"


def _moves(urls: UrlCounts) -> str:
    return (
        f"{urls.new:,} new, {urls.changed:,} changed, {urls.returned:,} returned, "
        f"{urls.gone_in_run:,} gone"
    )


def _file_count(count: FileCount) -> str:
    reason = "" if count.reason in (None, "ok") else f" ({printable(count.reason or '')})"
    return f"{count.files:>7,} {count.state or 'not read yet'}{reason}"


def _next_read(found: Overview) -> list[str]:
    """When files are due, as -a due_files=1 has it."""
    following = iso_time(found.next_read_at)
    if not found.due_files:
        return [following] if following else []
    are = "file is" if found.due_files == 1 else "files are"
    return [f"{found.due_files:,} {are} due" + (f", the next at {following}" if following else "")]


def _trust(trust: Trust) -> str:
    part = printable(trust.part) or "site"
    return f"{trust.verdict}, {part} ({trust.urls:,} URLs): {printable(trust.sentence)}"


def _looks(looks: dict[str, int]) -> str:
    return "the last time " + ", ".join(f"{n:,} {printable(name)}" for name, n in looks.items())


def _faults(files: list[FaultyFile]) -> Iterator[str]:
    for file in files[:MOST]:
        line = f", line {file.error_line:,}" if file.error_line else ""
        last = iso_time(file.complete_at) or "never"
        reason = printable(file.reason or file.state)
        yield f"{printable(file.url)} {file.state}: {reason}{line}; last complete {last}"
    if len(files) > MOST:
        yield f"and {len(files) - MOST:,} more"


def _run(run: Run) -> str:
    reason = f" ({printable(run.reason)})" if run.reason else ""
    files = run.files or 0
    of_files = f"{files:,} file{'' if files == 1 else 's'}"
    counts = "" if run.urls is None else f", {run.urls:,} URLs of {of_files}"
    return f"{iso_time(run.started_at)} {run.spider} {run.state or 'unfinished'}{reason}{counts}"
