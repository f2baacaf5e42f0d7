"""The dates that pages give of themselves: they may speak against lastmod, never for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.trust.stamps import DAY, Stamp, stamp_of
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_discovery.trust.verdict import PageDates

HOUR: Final = 3_600
DAYS_KEPT: Final = 32
MAX_PAGE: Final = 2_097_152
MAX_NESTING: Final = 32

_SYNTAXES: Final = ("json-ld", "microdata", "opengraph", "rdfa")
_MODIFIED: Final = ("dateModified", "https://schema.org/dateModified", "http://schema.org/dateModified",
                    "article:modified_time", "og:updated_time")  # fmt: skip
_PUBLISHED: Final = ("datePublished", "https://schema.org/datePublished",
                     "http://schema.org/datePublished", "article:published_time")  # fmt: skip
_NOT_THE_PAGE: Final = {"WebSite", "Organization", "Person", "ImageObject", "Comment", "Review"}


def page_dates(page: str, url: str) -> tuple[str | None, str | None]:
    """When a page says that it was modified and published: JSON-LD first, then microdata, meta
    elements and RDFa; the newest date of the first of these that has one."""
    import extruct  # a third of a second: only where pages are looked at

    found = extruct.extract(
        page[:MAX_PAGE], base_url=url, syntaxes=list(_SYNTAXES), uniform=False, errors="ignore"
    )
    nodes = [list(_nodes(found.get(syntax, []))) for syntax in _SYNTAXES]
    return _first(nodes, _MODIFIED), _first(nodes, _PUBLISHED)


def _first(nodes: list[list[dict[str, Any]]], names: tuple[str, ...]) -> str | None:
    for each in nodes:
        dates = [text for node in each for name in names for text in _texts(node.get(name)) if text]
        usable = [(stamp.time, text) for text in dates if not isinstance(stamp := _read(text), str)]
        if usable:
            return max(usable)[1][:64]
    return None


def _read(text: str) -> Stamp | str:
    return stamp_of(parse_lastmod(text))


def _texts(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        text = each.get("@value") if isinstance(each, dict) else each
        if isinstance(text, str):
            yield text


def _nodes(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Every object in what was extracted that may be the page itself."""
    if depth > MAX_NESTING:
        return
    if isinstance(value, list):
        for each in value:
            if isinstance(each, (list, tuple)) and len(each) == 2 and isinstance(each[0], str):
                yield {each[0]: each[1]}  # the property and the content of a meta element
            else:
                yield from _nodes(each, depth + 1)
    elif isinstance(value, dict):
        kind = value.get("@type", value.get("type", ""))
        kinds = kind if isinstance(kind, list) else [kind]
        if not any(isinstance(k, str) and k.rpartition("/")[2] in _NOT_THE_PAGE for k in kinds):
            yield value
        for name in ("@graph", "mainEntity", "properties"):
            if name in value:
                yield from _nodes(value[name], depth + 1)


def compare(lastmod: Stamp, modified: Stamp, limits: Thresholds = DEFAULT) -> str:
    """Whether a page's own date agrees with lastmod, or lastmod is ``behind`` or ``ahead`` of it.

    >>> compare(Stamp(1772323200, "day", False), Stamp(1772395200))
    'agree'
    """
    slack = limits.page_date_slack_seconds
    if modified.time > lastmod.time + lastmod.width + slack:
        return "behind"
    if modified.time + modified.width + slack < lastmod.time:
        return "ahead"
    return "agree"


def compare_dates(
    counts: PageDates,
    lastmod: Stamp,
    modified: str,
    published: str | None,
    now: int,
    *,
    in_bulk: bool = False,
) -> None:
    """Count how a page's ``dateModified`` compares, and whether it can be believed at all. A date
    that many share, ``in_bulk``, may be that of an import: it is never counted as ahead."""
    stamp = stamp_of(parse_lastmod(modified))
    if isinstance(stamp, str):
        return
    counts.tested += 1
    counts.rendered += abs(now - stamp.time) <= HOUR
    day = str(stamp.time // DAY)
    if day in counts.days or len(counts.days) < DAYS_KEPT:
        counts.days[day] = counts.days.get(day, 0) + 1
    first = stamp_of(parse_lastmod(published)) if published else "absent"
    counts.created += not isinstance(first, str) and abs(first.time - stamp.time) <= 60
    found = compare(lastmod, stamp)
    if found == "ahead" and in_bulk:
        return
    setattr(counts, found, getattr(counts, found) + 1)
