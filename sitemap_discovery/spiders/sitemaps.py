"""The main job: every URL an origin publishes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar

from sitemap_discovery.spiders.arguments import NAMES, ArgumentError, Arguments, refuse_unknown
from sitemap_discovery.spiders.discovery import DiscoverySpider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)


class SitemapsSpider(DiscoverySpider):
    """Finds and reads every sitemap of the origins it is given and emits every URL."""

    name = "sitemaps"
    sitemap_items = True
    sitemap_rules = ()
    argument_names: ClassVar[tuple[str, ...]] = NAMES

    extra_arguments: ClassVar[frozenset[str]] = frozenset()
    """Names of further arguments that a subclass reads."""

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Do without ``JOBDIR``: what is left to read is in the inventory, and Scrapy's queue on
        disk does not outlive a kill."""
        super().update_settings(settings)
        if settings.get("JOBDIR") and not cls.sitemap_rules:
            logger.info("JOBDIR is not needed: the inventory knows what is left to read")
            given = settings.getpriority("JOBDIR") or 0
            settings.set("JOBDIR", None, priority=given + 1)  # the command gives its own again

    @classmethod
    def check_arguments(cls, given: Mapping[str, Any]) -> Arguments:
        """As the base class; a name nobody reads and a run without a start are wrong too."""
        refuse_unknown(given, cls.extra_arguments)
        arguments = super().check_arguments(given)
        if not (arguments.origins or arguments.sitemap or cls.sitemap_urls):
            raise ArgumentError(
                "origin", "", "give origin=https://example.com, origins_file= or sitemap="
            )
        return arguments
