"""A fuzz target for the readers; run by hand, as it is not deterministic.

``pip install atheris``, then ``python -m benchmarks.fuzz -max_total_time=600``. A finding is kept as a
test in ``tests/protocol``.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["sitemap_discovery"]):
    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector
    from sitemap_discovery.protocol.dates import parse_lastmod
    from sitemap_discovery.protocol.guards import XmlFault
    from sitemap_discovery.protocol.reader import SitemapReader
    from sitemap_discovery.protocol.robots import own_group, read_robots
    from sitemap_discovery.protocol.xml import XmlReader

BASE = "https://www.example.com/sitemap.xml"
SEEDS = [
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>',
    b"https://a.example/</loc><lastmod>2026-10-02</lastmod></url>",
    b"<!-- <url><loc>https://fake.example/</loc></url> -->",
    b"<![CDATA[<url><loc>https://fake.example/</loc></url>]]>",
    b"<rss><channel><item><link>",
    b"<x y='<url>'/>",
    b"&nbsp;&#1;&amp;&",
    b"</urlset>",
]


def read_xml(data: bytes, cut: int) -> tuple[object, ...]:
    findings = Findings()
    collector = Collector(BASE, findings)
    reader, reason = XmlReader(collector, findings), "ok"
    try:
        reader.feed(data[:cut])
        reader.feed(data[cut:])
        reader.close()
    except XmlFault as fault:
        reason = fault.code
    locs = [loc for entries in collector.take(final=True) for loc in entries.locs]
    return locs, reason, reader.lost, reader.error_line


def test_one(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    kind = provider.ConsumeIntInRange(0, 4)
    cut = provider.ConsumeIntInRange(0, 600)
    parts = [
        SEEDS[provider.ConsumeIntInRange(0, len(SEEDS) - 1)]
        if provider.ConsumeBool()
        else provider.ConsumeBytes(provider.ConsumeIntInRange(0, 24))
        for _ in range(provider.ConsumeIntInRange(0, 12))
    ]
    body = b"".join(parts) + provider.ConsumeBytes(4_000)
    if kind == 0:
        read_robots(body, BASE)
        own_group(body.decode("utf-8", "replace"), "us")
    elif kind == 1:
        parse_lastmod(body.decode("utf-8", "replace"))
    elif kind == 2:
        reader = SitemapReader(BASE)
        kept = sum(map(len, [*reader.feed(body), *reader.close()]))
        assert kept == reader.outcome.entries_kept
    else:
        whole, split = read_xml(body, len(body)), read_xml(body, min(cut, len(body)))
        assert whole == split, (body, cut, whole, split)


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one)
    atheris.Fuzz()
