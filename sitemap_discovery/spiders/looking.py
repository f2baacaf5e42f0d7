"""Spiders that look at pages: each fetch is compared with the one before and becomes evidence."""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider, DownloadCancelledError
from scrapy.http import TextResponse

from sitemap_discovery.inventory.store import StoreError
from sitemap_discovery.pipelines.inventory import InventoryPipeline
from sitemap_discovery.protocol.urls import address_of
from sitemap_discovery.spiders.arguments import (
    ArgumentError,
    PageArguments,
    check_settings,
    parse_page_arguments,
    refuse_unknown,
)
from sitemap_discovery.spiders.failures import reason_of, status_of
from sitemap_discovery.spiders.reading import header_of
from sitemap_discovery.trust.fingerprint import Fingerprint, fingerprint
from sitemap_discovery.trust.keeper import PageLook, TrustKeeper
from sitemap_discovery.trust.pagedates import page_dates
from sitemap_discovery.trust.parts import SITE
from sitemap_discovery.trust.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure
    from typing_extensions import Self

    from sitemap_discovery.inventory.evidence import StoredPage
    from sitemap_discovery.trust.verdict import PartState

logger = logging.getLogger(__name__)

NOT_MODIFIED: Final = 304
MAX_PAGE: Final = 4_194_304
"""Bytes of a page that is fetched only to be compared."""


class LookingSpider(Spider):
    """Fetches pages that the inventory lists, and records what each fetch shows.

    A page that looks changed is fetched once more at once: if the two fetches differ from each
    other, it is noisy and tells nothing from then on. With ``conditional``, servers are asked for
    pages only if they changed.
    """

    argument_names: ClassVar[tuple[str, ...]] = ("origin", "seed")
    conditional = True
    confirm = True

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        check_settings(crawler.settings)
        spider.limits = Thresholds.from_settings(crawler.settings.get)
        return spider

    @classmethod
    def check_arguments(cls, given: Mapping[str, Any]) -> PageArguments:
        """The checked arguments; raises :class:`ArgumentError`, one line, at a wrong one."""
        refuse_unknown(given, frozenset(cls.argument_names), only=True)
        return parse_page_arguments(given)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.arguments = self.check_arguments(kwargs)
        super().__init__(*args, **kwargs)
        self.given = {name: str(value) for name, value in kwargs.items()}
        self.limits = Thresholds()
        self.looks: dict[int, PageLook] = {}
        self.judged: list[PartState] = []
        self.refusal = ""

    @property
    def origin_addresses(self) -> list[tuple[str, int]]:
        """Host and port of the origin, for the address guard."""
        return [address_of(self.arguments.origin.root)]

    # -- a run -------------------------------------------------------------------------------------

    async def start(self) -> AsyncIterator[Any]:
        """Ask for the pages that are chosen."""
        try:
            origin_id = self._origin_id()
            pages = self.choose(self._keeper(), origin_id) if origin_id is not None else []
        except StoreError as error:
            logger.error("%(error)s", {"error": error})
            raise CloseSpider("storage-error") from None
        if origin_id is None:
            self.refusal = f"nothing is stored of {self.arguments.origin.root}: run sitemaps first"
        elif not pages:
            self.refusal = f"there is nothing to look at on {self.arguments.origin.root} now"
        if self.refusal:
            logger.warning("%(refusal)s", {"refusal": self.refusal})
        for page in pages:
            yield self._page_request(page)

    def choose(self, keeper: TrustKeeper, origin_id: int) -> Iterable[StoredPage]:
        """The pages to fetch in this run."""
        raise NotImplementedError

    def closed(self, reason: str) -> None:
        """Book what was seen, and judge the site anew."""
        inventory = self._inventory()
        origin_id = self._origin_id() if inventory.store is not None else None
        if origin_id is None or not self.looks:
            return
        try:
            self.judged = self._keeper().note_looks(
                origin_id, inventory.run_id, list(self.looks.values()), int(time.time())
            )
        except StoreError as error:
            inventory.give_up(error)
            return
        for part in self.judged:
            if part.name != SITE:
                self.crawler.stats.inc_value(f"lastmod/verdict_count/{part.verdict}")

    def _inventory(self) -> InventoryPipeline:
        found = self.crawler.get_item_pipeline(InventoryPipeline)
        if not isinstance(found, InventoryPipeline):
            raise ArgumentError("INVENTORY_ENABLED", "0", "pages are known from the inventory only")
        return found

    def _keeper(self) -> TrustKeeper:
        store = self._inventory().store
        assert store is not None
        return TrustKeeper(store, self.limits)

    def _origin_id(self) -> int | None:
        store = self._inventory().store
        assert store is not None
        found = store.rows("SELECT id FROM origin WHERE root = ?", (self.arguments.origin.root,))
        return int(found[0][0]) if found else None

    # -- a page ------------------------------------------------------------------------------------

    def _page_request(self, page: StoredPage) -> Request:
        headers = {}
        if self.conditional and page.fetched_at is not None and page.fingerprint:
            validators = {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified}
            headers = {name: value for name, value in validators.items() if value}
        return Request(
            page.loc,
            partial(self._page_fetched),
            errback=self._page_failed,
            headers=headers,
            dont_filter=True,
            meta={"page": page, **self.page_meta, "handle_httpstatus_list": [NOT_MODIFIED]},
        )

    page_meta: ClassVar[dict[str, Any]] = {"dont_redirect": True, "download_maxsize": MAX_PAGE}

    async def _page_fetched(self, response: Response) -> AsyncIterator[Any]:
        page: StoredPage = response.meta["page"]
        look = look_of(page, response)
        if look.outcome == "changed" and self.confirm:
            look = await self._confirmed(look, response)
        yield self._note(look)
        async for output in self.outputs(response):
            yield output

    async def outputs(self, response: Response) -> AsyncIterator[Any]:
        """What else comes of a page."""
        outputs: tuple[Any, ...] = ()
        for output in outputs:
            yield output

    async def _confirmed(self, look: PageLook, response: Response) -> PageLook:
        """Fetch a page that looks changed once more: does it differ from itself?"""
        request = response.request.replace(headers={})  # type: ignore[union-attr]
        try:
            again = await self.crawler.engine.download_async(request)
        except Exception as error:  # whatever it is, the change is not confirmed
            logger.debug(
                "%(url)s: no second fetch: %(error)r", {"url": request.url, "error": error}
            )
            return look._replace(outcome="not-confirmed")
        found = print_of(again) if again.status == response.status else None
        if found is None:
            return look._replace(outcome="not-confirmed")
        return look if found.digest == look.fingerprint else look._replace(outcome="noisy")

    def _page_failed(self, failure: Failure) -> Any:
        request = failure.request  # type: ignore[attr-defined]
        reason = reason_of(failure)
        if isinstance(failure.value, DownloadCancelledError):
            reason = "too-large"
        elif (status_of(reason) or 0) // 100 == 3:
            reason = "redirect"
        response = getattr(failure.value, "response", None)
        status = response.status if response is not None else status_of(reason)
        return [self._note(PageLook(request.meta["page"], int(time.time()), reason, status))]

    def _note(self, look: PageLook) -> dict[str, Any]:
        """Keep a look, and give it as an item."""
        self.looks[look.page.url_id] = look
        self.crawler.stats.inc_value(f"lastmod/look_count/{look.outcome}")
        page = look.page
        known = None not in (page.stamp, page.stamp_then) and page.fetched_at is not None
        return {
            "loc": page.loc,
            "outcome": look.outcome,
            "status": look.status,
            "moved": page.stamp != page.stamp_then if known else None,
            "date_modified": look.modified,
            "date_published": look.published,
        }

    def summary_lines(self) -> list[str]:
        """The run in a few lines to read."""
        root = self.arguments.origin.root
        if self.refusal:
            return [self.refusal]
        counts: dict[str, int] = {}
        for look in self.looks.values():
            counts[look.outcome] = counts.get(look.outcome, 0) + 1
        shown = ", ".join(
            f"{n:,} {name}" for name, n in sorted(counts.items(), key=lambda x: -x[1])
        )
        lines = [f"Looked at {len(self.looks):,} pages of {root}: {shown or 'none answered'}"]
        return lines + [f"  {line}" for line in verdict_lines(self.judged, self.limits)]


def verdict_lines(judged: Iterable[PartState], limits: Thresholds) -> list[str]:
    """Each part's verdict and why, the site first."""
    from sitemap_discovery.trust.sentences import sentence_of

    return [
        f"{part.name or 'site':<24} {part.verdict:<16} {sentence_of(part, limits)}"
        for part in judged
    ]


def look_of(page: StoredPage, response: Response) -> PageLook:
    """What a page's answer shows beside what it was."""
    look = PageLook(page, int(time.time()), "not-html", response.status)
    if response.status == NOT_MODIFIED:
        return look._replace(outcome="same" if page.fetched_at is not None else "first")
    if response.url != page.loc:
        return look._replace(outcome="redirect")
    if not isinstance(response, TextResponse):
        return look
    found = print_of(response)
    if found is None:
        return look._replace(outcome="empty-body")
    modified, published = page_dates(response.text, response.url)
    if page.fetched_at is None or page.fingerprint is None:
        outcome = "first"
    else:
        outcome = "same" if found.digest == page.fingerprint else "changed"
    return look._replace(
        outcome=outcome,
        fingerprint=found.digest,
        simhash=found.simhash,
        modified=modified,
        published=published,
        etag=header_of(response, "ETag"),
        last_modified=header_of(response, "Last-Modified"),
    )


def print_of(response: Response) -> Fingerprint | None:
    """The fingerprint of an answer, ``None`` when it is no page."""
    return fingerprint(response.text) if isinstance(response, TextResponse) else None
