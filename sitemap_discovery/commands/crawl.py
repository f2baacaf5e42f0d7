"""``scrapy crawl`` with an exit status that tells how the run went."""

from __future__ import annotations

import gc
import logging
import sys
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from sitemap_discovery.extensions.summary import report, summarize
from sitemap_discovery.inventory.store import DEFAULT_URL, BadStoreUrl, check_url
from sitemap_discovery.spiders.arguments import ArgumentError, Arguments, check_settings
from sitemap_discovery.spiders.coverage import CoverageSpider
from sitemap_discovery.spiders.discovery import DiscoverySpider
from sitemap_discovery.spiders.looking import LookingSpider
from sitemap_discovery.trust.thresholds import Thresholds

if TYPE_CHECKING:
    import argparse

    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

COMPLETE, WRONG, PARTIAL, STORAGE_FAULT, STOPPED, BAD_USAGE = range(6)

GC_THRESHOLDS: Final = (10_000, 10, 10)
"""A batch is some ten thousand small tuples that die by themselves: looking through them for
cycles at Python's pace would take a tenth of a run's CPU."""

STATUS_OF_REASON: Final = {
    "storage-error": STORAGE_FAULT,
    "feed-error": STORAGE_FAULT,
    "shutdown": STOPPED,
}


class Command(CrawlCommand):
    """Exit status: 0 every origin was read completely, 2 something is partial or failed, 3 the
    store or a feed failed, 4 stopped by a signal, 5 bad usage, 1 anything else."""

    _run: Crawler | None = None

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.error = _refuse  # type: ignore[method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Bad usage ends here, before Scrapy has said a word."""
        try:
            super().process_options(args, opts)
            self._check_arguments(args, opts.spargs)
        except (ArgumentError, BadStoreUrl, UsageError) as error:
            _refuse(str(error))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        gc.set_threshold(*GC_THRESHOLDS)
        gc.freeze()
        super().run(args, opts)
        self.exitcode = self.exitcode or self._status()
        self._print_summary()

    def _check_arguments(self, args: list[str], given: dict[str, str]) -> None:
        loader = get_spider_loader(cast("Settings", self.settings))
        names = ", ".join(sorted(loader.list()))
        options = [argument for argument in args if argument.startswith("-")]
        if options:
            raise UsageError(f"there is no option {options[0]}; see scrapy crawl --help")
        if len(args) > 1:
            name, equals, value = args[1].partition("=")
            if equals:
                raise ArgumentError(name, value, "write -a before it")
            raise ArgumentError(
                "spider", args[1], "one spider a run; a site is given by -a origin="
            )
        if not args:
            raise ArgumentError("spider", "", f"name one; there are {names}")
        if args[0] not in loader.list():
            raise ArgumentError("spider", args[0], f"there is none of that name; there are {names}")
        spider = loader.load(args[0])
        settings = cast("Settings", self.settings)
        if issubclass(spider, (DiscoverySpider, LookingSpider, CoverageSpider)):
            asked = spider.check_arguments(given)
            check_settings(settings, asked if isinstance(asked, Arguments) else None)
            _check_thresholds(settings)
            check_url(settings.get("INVENTORY_URL", DEFAULT_URL))

    def _create_crawler(self, spidercls: Any) -> Crawler:
        self._run = super()._create_crawler(spidercls)
        return self._run

    def _print_summary(self) -> None:
        """On a terminal the summary comes last, unless the log has just told it there."""
        text = report(self._run) if self._run is not None else None
        told = logging.getLogger("sitemap_discovery").isEnabledFor(logging.INFO)
        assert self.settings is not None
        told = told and self.settings.getbool("LOG_ENABLED") and not self.settings["LOG_FILE"]
        if text is not None and sys.stderr.isatty() and not told:
            print(text, file=sys.stderr)

    def _status(self) -> int:
        crawler = self._run
        if crawler is None or crawler.spider is None:
            return WRONG
        reason = crawler.stats.get_value("finish_reason")
        if reason is None:  # a second signal did not wait for the end
            return STOPPED
        if reason in STATUS_OF_REASON:
            return STATUS_OF_REASON[reason]
        if isinstance(crawler.spider, (LookingSpider, CoverageSpider)):
            return WRONG if crawler.spider.refusal else COMPLETE
        if not isinstance(crawler.spider, DiscoverySpider):
            return COMPLETE
        return COMPLETE if summarize(crawler, reason).state == "complete" else PARTIAL


def _check_thresholds(settings: Settings) -> None:
    try:
        Thresholds.from_settings(settings.get)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _refuse(message: str) -> NoReturn:
    print(f"scrapy crawl: {message}", file=sys.stderr)
    sys.exit(BAD_USAGE)
