"""Addresses: page URLs made valid or dropped, origins, scopes, and which hosts are public."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from hashlib import blake2b
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

import idna

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MAX_LOC: Final = 2_048
"""Characters of a loc: "less than 2,048" (sitemaps.org protocol); longer ones are reported."""

MAX_WRITTEN: Final = 8_192
"""Characters beyond which a loc is dropped."""

_PLAIN: Final = r"[A-Za-z0-9._~:/?@!$&'()*+,;=-]*"
_PATH: Final = _PLAIN + "(?:%[0-9A-Fa-f]{2}" + _PLAIN + ")*"
_ROOT: Final = re.compile(
    r"https?://[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?/"
)
_CLEAN: Final = re.compile(f"{_ROOT.pattern}{_PATH}(?:#{_PATH})?")
_PLAIN_BYTES: Final = (ascii_letters + digits + "._~:/?@!$&'()*+,;=-\n").encode()
_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")

_OUTER: Final = (
    " \t\r\n\f\v\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
"""Blanks trimmed around a loc: every kind Unicode has, the zero-width ones too."""

_ASCII_BLANKS: Final = " \t\r\n"
_FORBIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufeff\ufffd-\uffff]"
)
"""Controls, bidirectional marks, lone surrogates and what stands for an unreadable byte."""

_TEMPLATE: Final = re.compile(r"\{\{|\}\}|<%|%>|\$\{|\{%")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_QUERY: Final = re.compile(r"[?#]")
_HTTP: Final = re.compile(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?")
_PORT: Final = re.compile(r":([0-9]{0,5})\Z")
_TO_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~:/?@!$&'()*+,;=%\[\]-]")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

Judged = tuple[str | None, str | None]
"""A URL or ``None``, and the code of a finding or ``None``."""


def url_key(loc: str) -> bytes:
    """The 16-byte key of a URL: BLAKE2b, so that nobody can make two URLs of one key."""
    return blake2b(loc.encode(), digest_size=16).digest()


def section_of(loc: str) -> str:
    """The first folder of a URL's path; empty for a page in the root.

    >>> section_of("https://a.example/blog/x"), section_of("https://a.example/x.html")
    ('blog', '')
    """
    start = loc.find("/", 8) + 1
    end = loc.find("/", start)
    if end < 0 or not start:
        return ""
    section = loc[start:end]
    before = loc[8:end]  # a slash in a query or fragment ends no folder
    return "" if "?" in before or "#" in before else section


def is_clean(loc: str) -> bool:
    """Whether a loc is an http(s) URI as it is: scheme and host in lower case (RFC 3986)."""
    return len(loc) <= MAX_LOC and _CLEAN.fullmatch(loc) is not None


def are_clean(locs: Sequence[str]) -> bool:
    """Whether all locs are clean and of one origin, at a fraction of the cost of asking each.

    False says nothing: some may be clean.
    """
    root = _ROOT.match(locs[0])
    joined = "\n".join(locs)
    if root is None or not joined.isascii() or max(map(len, locs)) > MAX_LOC:
        return False
    left = joined.encode().translate(None, _PLAIN_BYTES)
    return (
        joined.count("\n") == len(locs) - 1
        and joined.count("\n" + root[0]) == len(locs) - 1
        and not left.strip(b"%")
        and not (left and _BAD_ESCAPE.search(joined))
    )


def clean_ones(locs: Sequence[str]) -> list[bool]:
    """Which of the locs are clean, at half the cost of asking each."""
    if max(map(len, locs)) > MAX_LOC:
        return list(map(is_clean, locs))
    return [match is not None for match in map(_CLEAN.fullmatch, locs)]


def judge_loc(text: str, base: str) -> Judged:
    """Make one loc an absolute, valid http(s) URI, or say why it cannot be one.

    Returns the URL and ``None``, the URL and the code of what was odd about it, or ``None`` and
    the reason it is dropped. Path, query and fragment stay as the site wrote them, but for
    characters that a URI cannot hold. ``base`` is the file's own address.

    >>> judge_loc("/a b", "https://a.example/sitemap.xml")
    ('https://a.example/a%20b', 'loc-relative')
    """
    loc = text.strip(_OUTER)
    if not loc:
        return None, "loc-empty"
    if len(loc) > MAX_WRITTEN:
        return None, "loc-too-long"
    if _FORBIDDEN.search(loc):
        return None, "loc-control"
    if _TEMPLATE.search(loc):
        return None, "loc-template"
    absolute, code = _absolute(loc, base)
    match = _HTTP.fullmatch(absolute or "")
    if match is None:
        return None, code if absolute is None else "loc-host"
    authority, reason = _authority(match[2])
    if authority is None:
        return None, reason
    rest, escaped = _escaped(match[3])
    url = f"{match[1].lower()}://{authority}{rest}"
    unusual = text.strip(_ASCII_BLANKS) != text.strip(_OUTER)
    code = code or reason or escaped or ("loc-blank" if unusual else None)
    return url, "loc-too-long" if len(url) > MAX_LOC else code


def _absolute(loc: str, base: str) -> Judged:
    scheme = _SCHEME.match(loc)
    if scheme:
        return (loc, None) if scheme[1].lower() in _DEFAULT_PORTS else (None, "loc-scheme")
    host = urlsplit(base).hostname or ""
    path = _QUERY.split(loc.lower(), maxsplit=1)[0]
    first = path.partition("/")[0]
    if (
        not host
        or loc[0] in "?#"
        or ":" in first
        or first.startswith(("www.", "\\"))
        or f".{first}".endswith(f".{host}")
        or f"//{host}" in path[1:]
    ):
        return None, "loc-scheme"  # which scheme is left out or broken is not ours to guess
    return _joined(loc, base), "loc-relative"


def _joined(loc: str, base: str) -> str:
    """A relative reference resolved (RFC 3986, 5.2); unlike ``urljoin`` it keeps empty segments."""
    scheme, authority, folder, *_ = urlsplit(base)
    if loc.startswith("//"):
        return f"{scheme}:{loc}"
    path = _QUERY.split(loc, maxsplit=1)[0]
    rest = loc[len(path) :]
    if not path.startswith("/"):
        path = folder[: folder.rfind("/") + 1].removeprefix("/") + path
    else:
        path = path[1:]
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    if path.endswith(("/.", "/..")) or path in (".", ".."):
        segments.append("")
    return f"{scheme}://{authority}/{'/'.join(segments)}{rest}"


def _authority(authority: str) -> Judged:
    """Host in lower-case ASCII with the port as written; the reason when there is none."""
    if "@" in authority:
        return None, "loc-userinfo"
    port = _PORT.search(authority)
    host = authority[: port.start()] if port else authority
    suffix = f":{port[1]}" if port and port[1] else ""
    if suffix and not 0 < int(suffix[1:]) < 65_536:
        return None, "loc-host"
    if host.startswith("["):
        return _ipv6(host, suffix)
    if host.lower() in _DEFAULT_PORTS:  # "https://https://…"
        return None, "loc-host"
    if host.isascii():
        return (
            (host.lower() + suffix, None) if _HOST.fullmatch(host.lower()) else (None, "loc-host")
        )
    try:
        return idna.encode(host, uts46=True).decode() + suffix, "loc-not-ascii"
    except (idna.IDNAError, UnicodeError):
        return None, "loc-host"


def _ipv6(host: str, suffix: str) -> Judged:
    inner = host[1:-1] if host.endswith("]") and "%" not in host else ""  # no zone (RFC 3986)
    try:
        address = ipaddress.IPv6Address(inner)
    except ValueError:
        return None, "loc-host"
    return f"[{address}]{suffix}", None


def _escaped(rest: str) -> tuple[str, str | None]:
    path, mark, fragment = rest.partition("#")
    fixed = _TO_ESCAPE.sub(_percent, path) + mark + _TO_ESCAPE.sub(_percent, fragment)
    if fixed == rest:
        return rest, None
    if not rest.isascii():
        return fixed, "loc-not-ascii"
    return fixed, "loc-blank" if fixed == rest.replace(" ", "%20") else "loc-escape"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


# -- origins -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Origin:
    """A site to look at: ``root`` is ``scheme://host[:port]``; ``sitemap`` is set when the address
    names one file that alone is to be read."""

    root: str
    sitemap: str | None = None

    @property
    def robots(self) -> str:
        """Where its robots.txt is."""
        return self.root + "/robots.txt"


def parse_origin(text: str) -> Origin:
    """An origin as people write it: a URL, a host, a robots.txt or a sitemap address.

    Raises :class:`ValueError` with what is allowed when it is none of them.

    >>> parse_origin("example.com").root, parse_origin("http://example.com:8080/").root
    ('https://example.com', 'http://example.com:8080')
    """
    written = text.strip()
    scheme = written.partition("://")[0].lower() if "://" in written else ""
    if scheme and scheme not in _DEFAULT_PORTS:
        raise ValueError("only http and https can be read; give https://example.com")
    url, code = judge_loc(written if scheme else f"https://{written.lstrip('/')}", "")
    if url is None or not written:
        detail = "without user and password" if code == "loc-userinfo" else "or a host name"
        raise ValueError(f"not an address; give https://example.com {detail}")
    root = origin_of(url)
    rest = url[len(root) :].partition("#")[0]
    root = _without_default_port(root)
    return Origin(root, None if rest in ("", "/", "/robots.txt") else url.partition("#")[0])


def origin_of(url: str) -> str:
    """``scheme://host[:port]`` of an absolute URL, as it is written there.

    >>> origin_of("https://example.com/x")
    'https://example.com'
    """
    end = len(url)
    start = url.find("//") + 2
    for mark in "/?#":
        found = url.find(mark, start)
        end = found if 0 <= found < end else end
    return url[:end]


def address_of(url: str) -> tuple[str, int]:
    """Host and port of a URL.

    >>> address_of("https://a.example/x")
    ('a.example', 443)
    """
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)


def is_robots(url: str) -> bool:
    """Whether an address is that of a robots.txt.

    >>> is_robots("https://a.example/robots.txt?x")
    True
    """
    return urlsplit(url).path == "/robots.txt"


def file_key(url: str) -> str:
    """What makes two addresses the same file: case, default port, dot segments, doubled slashes,
    needless escapes and the fragment do not count.

    >>> file_key("HTTP://A.example:80/x/..//%73.xml#top")
    'http://a.example/s.xml'
    """
    match = _HTTP.match(url)
    if match is None:
        return url
    scheme, port = match[1].lower(), f":{_DEFAULT_PORTS[match[1].lower()]}"
    path, mark, query = match[3].partition("#")[0].partition("?")
    path = _ESCAPE.sub(_needed, re.sub("/{2,}", "/", path or "/"))
    return f"{scheme}://{match[2].lower().removesuffix(port)}{_without_dots(path)}{mark}{query}"


def _needed(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _without_dots(path: str) -> str:
    kept: list[str] = []
    parts = path.split("/")
    for part in parts[1:]:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if parts[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


# -- scopes ------------------------------------------------------------------------------------

Scope = Literal["in-path", "same-host", "cross-submitted", "foreign"]


class ScopeJudge:
    """Says where a page lies as seen from the file that lists it (sitemaps.org, "location").

    ``in-path``: in the file's own folder or below; ``same-host``: elsewhere on its scheme, host and
    port; ``cross-submitted``: on another host, with proof: that host is the origin whose robots.txt
    names the file's host (``named_hosts``); ``foreign``: anything else.
    """

    def __init__(self, sitemap: str, origin: str, named_hosts: Collection[str] = ()) -> None:
        written = origin_of(sitemap)
        path = sitemap[len(written) :].partition("#")[0].partition("?")[0]
        self._own = _without_default_port(written.lower())
        self._folder = f"{self._own}{path.rpartition('/')[0]}/"
        proven = _without_default_port(origin)
        named = (urlsplit(sitemap).hostname or "") in named_hosts
        self._proven = proven if named and proven != self._own else None

    def judge(self, locs: Sequence[str]) -> list[str]:
        """The scope of each loc."""
        folder = self._folder
        return ["in-path" if loc.startswith(folder) else self._elsewhere(loc) for loc in locs]

    def _elsewhere(self, loc: str) -> Scope:
        written = origin_of(loc)
        own = _without_default_port(written)
        if own == self._own:
            rest = loc[len(written) :]
            return "in-path" if f"{own}{rest}".startswith(self._folder) else "same-host"
        return "foreign" if own != self._proven else "cross-submitted"


def normal_origin(origin: str) -> str:
    """An origin in lower case and without its scheme's own port; other addresses as they are.

    >>> normal_origin("HTTPS://A.example:443")
    'https://a.example'
    """
    return _without_default_port(origin.lower()) if _HTTP.fullmatch(origin) else origin


def _without_default_port(origin: str) -> str:
    return origin.removesuffix(f":{_DEFAULT_PORTS.get(origin.partition(':')[0], 0)}")


# -- addresses ---------------------------------------------------------------------------------

_NEVER_PUBLIC: Final = tuple(
    map(ipaddress.ip_network, ("168.63.129.16/32", "192.0.0.0/24", "100.64.0.0/10"))
)
"""Cloud metadata and carrier addresses that ``is_global`` lets through on some Pythons."""

_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")


def is_public_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is on the public internet, also when it is wrapped in an IPv6 one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public_address(inner)
    if address.version == 4 and any(address in network for network in _NEVER_PUBLIC):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)
