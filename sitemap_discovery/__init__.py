"""Find every URL a site publishes without crawling the site, and say whether its lastmod can be trusted."""

__version__ = "0.1.0"
