"""What a page says, without what changes by itself: navigation, ads, counters, tokens, dates."""

from __future__ import annotations

import json
import re
import unicodedata
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from parsel import Selector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_PAGE: Final = 4_194_304
"""Bytes of a page that are read."""

MAX_JSON: Final = 262_144
"""Characters of one JSON-LD block that are read, and how deep."""
MAX_NESTING: Final = 32

_DROPPED: Final = (
    "script", "style", "noscript", "template", "svg", "iframe", "form", "nav", "header", "footer",
    "aside", "time", "button", "dialog", "select", "object", "embed", "audio", "video", "canvas",
)  # fmt: skip
_ROLES: Final = (
    "navigation",
    "banner",
    "contentinfo",
    "complementary",
    "search",
    "dialog",
    "alert",
)
_ASIDE: Final = re.compile(
    r"(?:^|[\s_-])(?:ads?|advert\w*|banner|breadcrumbs?|comments?|consent|cookies?|counters?|"
    r"menu|modal|nav|newsletter|pagination|popular|popup|promo\w*|recent|recommend\w*|related|"
    r"share|sharing|sidebar|social|sponsor\w*|timestamp|toolbar|trending|views?|visitors?|widgets?)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_DATES: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
    r"|\b\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]m)?\b"
    r"|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"
    r"|\b(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
    r"\s+(?:\d{1,2}(?:st|nd|rd|th)?,?\s+)?\d{4}\b"
    r"|\b(?:\d+|an?)\s+(?:second|minute|hour|day|week|month|year)s?\s+ago\b",
    re.IGNORECASE,
)
_DATE_KEYS: Final = re.compile(
    r"date|time|modified|published|created|updated|uploaded", re.IGNORECASE
)
_BLANKS: Final = re.compile(r"\s+")
_MAIN: Final = ("//main", "//*[@role='main']", "//article", "//body", "/*")


class Fingerprint(NamedTuple):
    """``digest`` is equal where two pages say the same; ``simhash``, 64 bits, is near where they
    nearly do."""

    digest: bytes
    simhash: bytes


def fingerprint(body: str) -> Fingerprint | None:
    """The fingerprint of an HTML page, ``None`` when it holds nothing to compare.

    Hashed are the title, the first heading, the text and links of the main content, the canonical
    address and the JSON-LD without its dates. Dates are left out everywhere: a page that only bumps
    its date has not changed.
    """
    document = Selector(text=body[:MAX_PAGE] or " ", type="html")
    heading = _text_of(document.xpath("//h1"))
    title = _clean(document.xpath("string(//title)").get(""))
    canonical = document.xpath("//link[@rel='canonical']/@href").get("")
    data = json.dumps(list(_without_dates(linked_data(document))), sort_keys=True)
    _drop(document)
    main = next((found for path in _MAIN if (found := document.xpath(path))), document)
    words = _text_of(main).split()
    links = sorted(set(main.xpath(".//a/@href").getall()))
    if not words and not title:
        return None
    parts = [title, heading, " ".join(words), canonical, "\n".join(map(_link, links)), data]
    return Fingerprint(sha256("\0".join(parts).encode()).digest(), simhash(words))


def linked_data(document: Selector) -> list[Any]:
    """The JSON-LD blocks of a page that can be read."""
    found = []
    for text in document.xpath("//script[@type='application/ld+json']/text()").getall():
        try:
            found.append(json.loads(text[:MAX_JSON], strict=False))
        except (ValueError, RecursionError):
            continue
    return found


def simhash(words: Sequence[str]) -> bytes:
    """64 bits of three-word shingles (Charikar 2002; Manku et al. 2007)."""
    counts = [0] * 64
    for i in range(max(1, len(words) - 2)):
        shingle = " ".join(words[i : i + 3]).encode()
        bits = int.from_bytes(blake2b(shingle, digest_size=8).digest(), "big")
        for bit in range(64):
            counts[bit] += 1 if bits >> bit & 1 else -1
    return sum(1 << bit for bit in range(64) if counts[bit] > 0).to_bytes(8, "big")


def distance(one: bytes, other: bytes) -> int:
    """How many bits of two simhashes differ; up to 3 is a trivial change."""
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def _drop(document: Selector) -> None:
    """Take out what is not content."""
    for node in list(document.root.iter()):
        if node.getparent() is None:
            continue
        if not isinstance(node.tag, str) or node.tag in _DROPPED or _is_aside(node):
            _remove(node)


def _is_aside(node: Any) -> bool:
    get = node.get
    if node.tag in ("html", "body", "main", "article"):
        return False
    names = f"{get('class') or ''} {get('id') or ''}".strip()
    return bool(
        (names and _ASIDE.search(names))
        or get("role") in _ROLES
        or get("hidden") is not None
        or get("aria-hidden") == "true"
        or ((style := get("style")) and _HIDDEN.search(style))
    )


def _remove(node: Any) -> None:
    """Remove a node but not the text behind it."""
    parent, before, tail = node.getparent(), node.getprevious(), node.tail or ""
    if before is not None:
        before.tail = (before.tail or "") + " " + tail
    else:
        parent.text = (parent.text or "") + " " + tail
    parent.remove(node)


def _text_of(found: Any) -> str:
    return _clean(" ".join(found.xpath(".//text()").getall()))


def _clean(text: str) -> str:
    text = unicodedata.normalize("NFC", _DATES.sub(" ", text))
    return _BLANKS.sub(" ", text).strip()


def _link(href: str) -> str:
    """A link without its query, where sessions and tokens stand."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return href
    return f"{parts.netloc}{parts.path}"


def _without_dates(value: Any, depth: int = 0) -> Iterator[Any]:
    """JSON without what is a date by name or by look."""
    if depth > MAX_NESTING:
        return
    if isinstance(value, dict):
        yield {
            name: kept
            for name, each in value.items()
            if not _DATE_KEYS.search(name)
            for kept in _without_dates(each, depth + 1)
        }
    elif isinstance(value, list):
        yield [kept for each in value for kept in _without_dates(each, depth + 1)]
    elif not (isinstance(value, str) and _DATES.fullmatch(value.strip())):
        yield value
