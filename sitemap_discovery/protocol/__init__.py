"""robots.txt and sitemaps as a library: bytes in, values out; no network, no clock, no framework.

``reader.SitemapReader`` reads a file, ``robots.read_robots`` a robots.txt; ``urls``, ``dates`` and
``fields`` judge single values, ``codes`` and ``problems`` name what can be wrong with them.
"""
