"""A spider that finds sitemap files: in robots.txt, or where they usually are."""

from __future__ import annotations

import logging
import time
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrapy import Request

from sitemap_discovery.items import FoundFile, SitemapFile
from sitemap_discovery.pipelines.inventory import InventoryPipeline
from sitemap_discovery.protocol.codes import State
from sitemap_discovery.protocol.robots import MAX_SITEMAPS, read_robots
from sitemap_discovery.spiders.failures import is_missing, reason_of, status_of
from sitemap_discovery.spiders.guesses import (
    GUESSED,
    MAX_PAGE,
    NO_ANSWER,
    QUIET,
    Guesses,
    header_sitemaps,
    linked_sitemaps,
)
from sitemap_discovery.spiders.walking import FILE_PRIORITY, WalkingSpider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from sitemap_discovery.spiders.walk import Walk

logger = logging.getLogger(__name__)

ROBOTS_PRIORITY: Final = 200


class FindingSpider(WalkingSpider):
    """Asks each origin's robots.txt for sitemaps, and guesses where it names none."""

    # -- robots.txt ----------------------------------------------------------------------------

    def _robots_request(self, walk: Walk, url: str) -> Request:
        walk.frontier.note(url)
        return Request(
            url,
            partial(self._parse_robots),
            errback=self._robots_failed,
            priority=ROBOTS_PRIORITY,
            dont_filter=True,
            meta={"robots_origin": walk.root, "robots_url": url, "dont_obey_robotstxt": True},
        )

    def _parse_robots(self, response: Response) -> Iterator[Any]:
        walk = self._walk(response.meta["robots_origin"])
        robots = read_robots(response.body, response.url)
        file = _robots_file(walk, response.meta["robots_url"], State.COMPLETE, "ok")
        file.status, file.findings = response.status, robots.findings
        file.bytes_wire = file.bytes_unpacked = len(response.body)
        file.entries_kept = len(robots.sitemaps)
        _note_variant(walk, file)
        walk.named_hosts.update(urlsplit(line.url).hostname or "" for line in robots.sitemaps)
        for line in robots.sitemaps:
            self.add_file(walk, file, FoundFile(line.url, "robots", file.url))
        if not robots.sitemaps:
            self._look_further(walk)
        yield from self._tell(walk, file)
        yield from self._release(walk)

    def _robots_failed(self, failure: Failure) -> Iterator[Any]:
        """No robots.txt leaves everything allowed; one that cannot be asked for, nothing."""
        request = failure.request  # type: ignore[attr-defined]
        walk = self._walk(request.meta["robots_origin"])
        reason = reason_of(failure)
        if reason in NO_ANSWER and walk.variants:
            walk.unanswered.append(f"{request.meta['robots_url']} {reason}")
            walk.base = walk.variants.pop(0)
            yield self._robots_request(walk, walk.base + "/robots.txt")
            return
        file = _robots_file(walk, request.meta["robots_url"], State.FAILED, reason)
        if is_missing(failure, request.url):
            file.state = State.COMPLETE
            file.findings.add("robots-missing")
            _note_variant(walk, file)
            self._look_further(walk)
        else:
            file.findings.add("robots-unreachable")
            logger.warning(
                "%(url)s cannot be read (%(reason)s): nothing of this origin is fetched",
                {"url": request.url, "reason": reason},
            )
        yield from self._tell(walk, file)
        yield from self._release(walk)

    # -- where robots.txt names nothing --------------------------------------------------------

    def _look_further(self, walk: Walk) -> None:
        """Begin to guess: what worked before, known paths, a link on the home page."""
        pipeline = self.crawler.get_item_pipeline(InventoryPipeline)
        proven = pipeline.proven_files(walk.root) if pipeline else []
        walk.guesses = Guesses(walk.base, proven)

    def _guess(self, walk: Walk) -> Iterator[Request]:
        """Take the next guess, unless one was right."""
        guess = walk.guesses.next() if walk.guesses and not walk.found else None
        if guess is None:
            walk.guesses = None
        elif guess.kind == "home":
            walk.frontier.in_flight += 1
            yield self._page_request(walk, guess.url, self._parse_home)
        elif guess.kind == "made-up":
            walk.frontier.in_flight += 1
            yield self._page_request(walk, guess.url, self._parse_made_up)
        elif self.refusal(walk, guess.file) or walk.frontier.add(guess.file):
            yield from self._guess(walk)

    def _page_request(self, walk: Walk, url: str, callback: Callable[..., Any]) -> Request:
        return Request(
            url,
            partial(callback),
            errback=self._page_failed,
            priority=FILE_PRIORITY,
            dont_filter=True,
            meta={"page_origin": walk.root, "dont_retry": True, "download_maxsize": MAX_PAGE},
        )

    def _parse_home(self, response: Response) -> Iterator[Any]:
        """Look for sitemaps that the home page links to."""
        walk = self._walk(response.meta["page_origin"])
        headers = [value.decode("latin-1") for value in response.headers.getlist("Link")]
        page = response.body.decode("utf-8", "replace")
        linked = {
            "html-link": linked_sitemaps(page, response.url),
            "link-header": header_sitemaps(headers, response.url),
        }
        for found_by, urls in linked.items():
            for url in urls[:MAX_SITEMAPS]:
                found = FoundFile(url, found_by, response.url)
                if not self.refusal(walk, found):
                    walk.frontier.add(found)
        walk.frontier.in_flight -= 1
        yield from self._release(walk)

    def _parse_made_up(self, response: Response) -> Iterator[Any]:
        """Remember what the site answers to a name that cannot exist."""
        walk = self._walk(response.meta["page_origin"])
        if walk.guesses is not None:
            walk.guesses.made_up = sha256(response.body).digest()
        walk.frontier.in_flight -= 1
        yield from self._release(walk)

    def _page_failed(self, failure: Failure) -> Iterator[Any]:
        """A page that is not there tells nothing; the guessing goes on."""
        walk = self._walk(failure.request.meta["page_origin"])  # type: ignore[attr-defined]
        walk.frontier.in_flight -= 1
        yield from self._release(walk)

    def _is_wrong_guess(self, walk: Walk, file: SitemapFile) -> bool:
        """Whether a guess was simply wrong, which is noted and no more; a site in trouble is not
        asked for others."""
        if walk.guesses is None or file.found_by not in GUESSED:
            return False
        if file.state not in (State.FAILED, State.SKIPPED):
            return False
        if not QUIET.fullmatch(file.reason or ""):
            walk.guesses = None
            return False
        walk.guessed.append(f"{file.url} {file.reason}")
        walk.frontier.give_back()
        self.crawler.stats.inc_value("sitemap/guess_count")
        logger.debug("No sitemap at %(url)s (%(reason)s)", {"url": file.url, "reason": file.reason})
        return True


def _robots_file(walk: Walk, url: str, state: State, reason: str) -> SitemapFile:
    return SitemapFile(
        url,
        walk.root,
        found_by="origin",
        kind="robots",
        state=state,
        reason=reason,
        status=status_of(reason),
        fetched_at=int(time.time()),
    )


def _note_variant(walk: Walk, file: SitemapFile) -> None:
    if walk.unanswered:
        file.findings.add("origin-variant", example="; ".join(walk.unanswered))
