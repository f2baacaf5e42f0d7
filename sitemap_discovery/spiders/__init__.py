"""Spiders. :class:`DiscoverySpider` is the base class for people's own."""

from sitemap_discovery.spiders.discovery import DiscoverySpider

__all__ = ["DiscoverySpider"]
