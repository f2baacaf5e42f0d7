"""Extension elements of an entry as plain values: news, images, videos, alternates, the rest."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.protocol.guards import MAX_TEXT
from sitemap_discovery.protocol.urls import is_clean, judge_loc

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.entries import Details
    from sitemap_discovery.protocol.node import Node

MAX_EXTRA: Final = 16_384
"""Characters of one entry's unknown tags, as JSON; what is beyond is dropped and counted."""

_IMAGE_FIELD: Final = re.compile(r"<image:([a-z_]+)>([^<]*)<")

URL_FIELDS: Final = {
    ("image", "loc"),
    ("image", "license"),
    ("video", "thumbnail_loc"),
    ("video", "content_loc"),
    ("video", "player_loc"),
}
"""Extension fields that hold a URL (Google's image and video sitemap references)."""


def read_details(extensions: list[Node], base: str, findings: Findings) -> Details | None:
    """The extension fields of one entry, ``None`` when nothing of them is left.

    All repeats are kept, absent fields stay absent, names are the protocol's. URLs are resolved
    against ``base``; one that cannot be a URL is left out and counted.
    """
    details: Details = {}
    for node in extensions:
        reader = _READERS.get((node.name.family, node.name.folded), _read_extra)
        reader(details, node, base, findings)
    _bound_extra(details, findings)
    return details or None


def read_images(text: str, base: str, findings: Findings) -> Details:
    """The images of an entry of the fast lane, from their elements as text.

    ``text`` holds whole ``image:image`` elements with bare text fields and nothing else; the
    result is what :func:`read_details` gives for the same elements.
    """
    images = []
    if "\r" in text:  # XML 1.0 2.11
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("</image:image>")[:-1]:
        fields: dict[str, Any] = {}
        for name, value in _IMAGE_FIELD.findall(block.partition("<image:image>")[2]):
            kept = value.strip()
            if ("image", name) in URL_FIELDS:
                kept = _url(kept, base, findings)
            if kept is not None:
                _put(fields, name, kept)
        images.append(fields)
    return {"images": images}


def _read_news(details: Details, node: Node, base: str, findings: Findings) -> None:
    if "news" in details:  # an entry has one by the protocol; more are kept, but apart
        _read_extra(details, node, base, findings)
    else:
        details["news"] = _fields(node, base, findings)


def _read_image(details: Details, node: Node, base: str, findings: Findings) -> None:
    details.setdefault("images", []).append(_fields(node, base, findings))


def _read_video(details: Details, node: Node, base: str, findings: Findings) -> None:
    details.setdefault("videos", []).append(_fields(node, base, findings))


def _read_link(details: Details, node: Node, base: str, findings: Findings) -> None:
    link = _attributes(node)
    if link.pop("rel", "") != "alternate" or "href" not in link:
        _read_extra(details, node, base, findings)
        return
    href, _ = judge_loc(link["href"], base)
    if href is None:
        findings.add("alternate-invalid", example=link["href"])
        return
    link["href"] = href
    details.setdefault("alternates", []).append(link)


def _read_extra(details: Details, node: Node, base: str, findings: Findings) -> None:
    value = _plain(node, base, findings)
    if value is not None:
        _put(details.setdefault("extra", {}), node.name.written, value)


_READERS: Final[dict[tuple[str, str], Callable[[Details, Node, str, Findings], None]]] = {
    ("news", "news"): _read_news,
    ("image", "image"): _read_image,
    ("video", "video"): _read_video,
    ("xhtml", "link"): _read_link,
    ("", "link"): _read_link,
}


def _fields(node: Node, base: str, findings: Findings) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for child in node.children:
        value = _plain(child, base, findings)
        if value is not None:
            known = child.name.family in ("image", "news", "video")
            _put(fields, child.name.folded if known else child.name.local, value)
    return fields


def _plain(node: Node, base: str, findings: Findings) -> Any:
    """A string for bare text, a dict for children or attributes; the text then is ``value``."""
    if node.length > MAX_TEXT:
        findings.add("field-too-long", example="".join(node.text))
    if (node.name.family, node.name.folded) in URL_FIELDS:
        return _url(node.value(), base, findings)
    fields: dict[str, Any] = _fields(node, base, findings) if node.children else {}
    fields.update(_attributes(node))
    text = node.value()
    if not fields:
        return text
    if text:
        fields["value"] = text
    return fields


def _url(text: str, base: str, findings: Findings) -> str | None:
    if is_clean(text):
        return text
    url, _ = judge_loc(text, base)
    if url is None:
        findings.add("extension-url-invalid", example=text)
    return url


def _attributes(node: Node) -> dict[str, str]:
    pairs = iter(node.attributes)
    return {name.split("}")[1] if "}" in name else name: text for name, text in zip(pairs, pairs)}


def _put(fields: dict[str, Any], name: str, value: Any) -> None:
    """Set a field; a repeat makes it a list."""
    if name not in fields:
        fields[name] = value
    elif isinstance(fields[name], list):
        fields[name].append(value)
    else:
        fields[name] = [fields[name], value]


def _bound_extra(details: Details, findings: Findings) -> None:
    extra = details.get("extra")
    if extra and len(json.dumps(extra)) > MAX_EXTRA:
        del details["extra"]
        findings.add("extra-too-large")
