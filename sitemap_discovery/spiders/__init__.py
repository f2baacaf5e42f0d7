"""Spiders. :class:`DiscoverySpider` is the base class for people's own that read sitemaps,
:class:`InventorySpider` for those that fetch the pages which are due."""

from sitemap_discovery.spiders.discovery import DiscoverySpider
from sitemap_discovery.spiders.inventory import InventorySpider

__all__ = ["DiscoverySpider", "InventorySpider"]
