"""What the sample site publishes, path by path."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

POSTS, PRODUCTS, LISTED = 600, 400, 200

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NS: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_NEWS: Final = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
_IMAGE: Final = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
_VIDEO: Final = 'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
_XHTML: Final = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'

_ROBOTS: Final = """\
User-agent: *
Disallow: /cart/

User-agent: ExampleBot
Disallow: /

SiteMap : {host}/sitemap_index.xml
Sitemap: {host}/pages.txt
Sitemap: /news-sitemap.xml  # the last two days
"""

_PAGE: Final = """\
<!DOCTYPE html>
<html lang="en"><head><title>{path}</title></head>
<body><main><h1>{path}</h1><p>A page of the sample site.</p></main></body></html>
"""


def pages(host: str) -> dict[str, bytes]:
    """Path to body of every file of the site at ``host`` (``http://127.0.0.1:8000``).

    Other paths below ``/blog/``, ``/shop/``, ``/video/`` and ``/page-`` are small web pages, the
    rest is not there.
    """
    files = {
        "/robots.txt": _ROBOTS.format(host=host),
        "/sitemap_index.xml": _index(host),
        "/pages.txt": "".join(f"{host}/page-{n}.html\r\n" for n in range(LISTED)),
        "/news-sitemap.xml": _urlset(_NEWS, (_news(host, n) for n in range(20))),
        "/products.xml": _urlset(_IMAGE, (_product(host, n) for n in range(PRODUCTS))),
        "/languages.xml": _urlset(_XHTML, (_language(host, n) for n in range(60))),
        "/videos.xml": _urlset(_VIDEO, (_video(host, n) for n in range(30))),
        "/archive/index.xml": _sitemapindex(
            (f"{host}/archive/2025.xml", "2025-12-31"),
        ),
        "/archive/2025.xml": _urlset("", (_post(host, n) for n in range(POSTS, POSTS + 150))),
        "/search.xml": _urlset("", (_result(host, n) for n in range(40))),
        "/cut.xml": _urlset("", (_post(host, n) for n in range(800, 850)))[:-700],
        "/login.xml": _PAGE.format(path="Please log in"),
        "/entity.xml": _HEAD + '<!DOCTYPE urlset [<!ENTITY x "y">]>' + f"<urlset {_NS}></urlset>",
    }
    bodies = {path: text.encode() for path, text in files.items()}
    posts = _urlset("", (_post(host, n) for n in range(POSTS)))
    bodies["/posts.xml.gz"] = gzip.compress(posts.encode(), mtime=0)
    return bodies


def page(path: str) -> bytes | None:
    """The web page at a path, ``None`` when there is none."""
    if path.startswith(("/blog/", "/shop/", "/video/", "/page-", "/search", "/de/")):
        return _PAGE.format(path=path.partition("?")[0].strip("/")).encode()
    return None


def _index(host: str) -> str:
    """Children of every kind, the last five with a fault each."""
    return _sitemapindex(
        (f"{host}/posts.xml.gz", "2026-09-30T08:00:00+00:00"),
        (f"{host}/products.xml", "2026-09-28"),
        (f"{host}/languages.xml", ""),
        (f"{host}/videos.xml", ""),
        (f"{host}/archive/index.xml", "2025-12-31"),
        (f"{host}/search.xml", ""),
        (f"{host}/cut.xml", ""),
        (f"{host}/missing.xml", ""),
        (f"{host}/login.xml", ""),
        (f"{host}/entity.xml", ""),
        ("file:///etc/passwd", ""),
    )


def _sitemapindex(*children: tuple[str, str]) -> str:
    rows = (
        f"  <sitemap>\n    <loc>{loc}</loc>\n"
        + (f"    <lastmod>{date}</lastmod>\n" if date else "")
        + "  </sitemap>\n"
        for loc, date in children
    )
    return f"{_HEAD}<sitemapindex {_NS}>\n{''.join(rows)}</sitemapindex>\n"


def _urlset(namespace: str, entries: Iterable[str]) -> str:
    return f"{_HEAD}<urlset {_NS} {namespace}>\n{''.join(entries)}</urlset>\n"


def _entry(loc: str, lastmod: str = "", more: str = "") -> str:
    date = f"    <lastmod>{lastmod}</lastmod>\n" if lastmod else ""
    return f"  <url>\n    <loc>{loc}</loc>\n{date}{more}  </url>\n"


def _post(host: str, number: int) -> str:
    date = f"2026-{1 + number % 9:02d}-{1 + number % 28:02d}T{number % 24:02d}:15:00+00:00"
    return _entry(f"{host}/blog/post-{number}", date)


def _product(host: str, number: int) -> str:
    image = f"    <image:image><image:loc>{host}/img/{number}.jpg</image:loc></image:image>\n"
    return _entry(f"{host}/shop/product-{number}", f"2026-09-{1 + number % 28:02d}", image)


def _language(host: str, number: int) -> str:
    link = '    <xhtml:link rel="alternate" hreflang="{0}" href="{1}"/>\n'
    loc = f"{host}/blog/guide-{number}"
    german = f"{host}/de/guide-{number}"
    return _entry(loc, "", link.format("en", loc) + link.format("de", german))


def _video(host: str, number: int) -> str:
    more = (
        f"    <video:video><video:title>Video {number}</video:title>"
        f"<video:thumbnail_loc>{host}/img/v{number}.jpg</video:thumbnail_loc></video:video>\n"
    )
    return _entry(f"{host}/video/{number}", "", more)


def _news(host: str, number: int) -> str:
    more = (
        "    <news:news><news:publication><news:name>Sample</news:name><news:language>en"
        "</news:language></news:publication><news:publication_date>2026-09-30</news:publication_date>"
        f"<news:title>Story {number}</news:title></news:news>\n"
    )
    return _entry(f"{host}/blog/story-{number}", "2026-09-30T09:00:00+00:00", more)


def _result(host: str, number: int) -> str:
    return _entry(f"{host}/search?q=shoes&page={number}")  # a bare ampersand, as many sites write
