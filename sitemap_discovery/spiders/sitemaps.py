"""The main job: every URL an origin publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sitemap_discovery.spiders.arguments import NAMES, ArgumentError, Arguments, refuse_unknown
from sitemap_discovery.spiders.discovery import DiscoverySpider

if TYPE_CHECKING:
    from collections.abc import Mapping


class SitemapsSpider(DiscoverySpider):
    """Finds and reads every sitemap of the origins it is given and emits every URL."""

    name = "sitemaps"
    sitemap_items = True
    sitemap_rules = ()
    argument_names: ClassVar[tuple[str, ...]] = NAMES

    extra_arguments: ClassVar[frozenset[str]] = frozenset()
    """Names of further arguments that a subclass reads."""

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
