"""robots.txt: the sitemaps it names, in every odd form, and the one group of rules that is ours."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from sitemap_discovery.protocol.codes import Findings
from sitemap_discovery.protocol.urls import judge_loc

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_RULES: Final = 512_000
"""Bytes whose rules are obeyed: "at least 500 kibibytes" (RFC 9309 2.5)."""

MAX_BYTES: Final = 5_242_880
"""Bytes searched for sitemap lines."""

MAX_LINE: Final = 16_664
"""Bytes of a line; eight of the longest URLs, as Google's parser reads."""

MAX_SITEMAPS: Final = 1_000
"""Sitemap lines that are read; more are counted."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_SITEMAP: Final = re.compile(
    r"[\s\ufeff*>\"'-]*site[\s_-]?maps?(?:[\s_-]?(?:index|url))?(?:\s*[:=])?(.*)", re.IGNORECASE
)
_TYPO: Final = re.compile(r"[\s\ufeff]*sitemap[ \t]*:", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"https?:\\?/\\?/[^\s\"'<>,;]+", re.IGNORECASE)
_FILE_NAME: Final = re.compile(r"\.(?:xml|txt|gz|php)$", re.IGNORECASE)
_BLANK: Final = re.compile(r"\s")
_COMMENT: Final = re.compile(r"\s#.*|^#.*")
_DIRECTIVE: Final = re.compile(
    r"^[ \t\ufeff]*(user-?\s?agent|(?:dis)?allow|sitemap|crawl-delay|host|clean-param)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
_HTML: Final = re.compile(r"\s*<(!doctype html|html|head|body)\b", re.IGNORECASE)
_AROUND: Final = " \t\f\v\u00a0\ufeff"
_AGENT_NAMES: Final = frozenset({"user-agent", "useragent", "user agent"})
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class SitemapLine(NamedTuple):
    """One sitemap a robots.txt names: its URL, the 1-based line and the text as written."""

    url: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A robots.txt as read. ``text`` is the part whose rules are obeyed, cut at a line's end."""

    sitemaps: tuple[SitemapLine, ...]
    text: str
    findings: Findings


def read_robots(body: bytes, base_url: str) -> RobotsFile:
    """Read the body of a successful answer; anything in it is safe.

    >>> read_robots(b"SITEMAP : /s.xml # main", "https://a.example/robots.txt").sitemaps[0].url
    'https://a.example/s.xml'
    """
    findings = Findings()
    text = _decoded(body[:MAX_BYTES], findings)
    truncated = len(body) > MAX_RULES
    obeyed = _cut(_decoded(body[:MAX_RULES], Findings())) if truncated else text
    if not text.strip():
        findings.add("robots-empty")
    if truncated:
        findings.add("robots-truncated")
    if _HTML.match(text):
        findings.add("robots-html")
        if not _DIRECTIVE.search(text):
            return RobotsFile((), "", findings)
    found: dict[str, SitemapLine] = {}
    for line in _sitemaps(text, base_url, findings):
        found.setdefault(line.url, line)
    return RobotsFile(tuple(found.values()), obeyed, findings)


def _decoded(body: bytes, findings: Findings) -> str:
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            if encoding != "utf-8":
                findings.add("robots-encoding", example=encoding)
            return body[len(mark) :].decode(encoding, "replace")
    return body.decode("utf-8", "replace")


def _cut(text: str) -> str:
    """Text up to the end of its last whole line."""
    return text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def _sitemaps(text: str, base_url: str, findings: Findings) -> Iterator[SitemapLine]:
    if "site" not in text.lower():
        return
    count = 0
    for number, line in enumerate(_LINE_END.split(text), 1):
        if len(line) > MAX_LINE:
            findings.add("robots-long-line", line=number)
            continue
        match = _SITEMAP.match(line) if "ite" in line.lower() else None
        if not match:
            continue
        if count < MAX_SITEMAPS:
            count += 1
            yield from _addresses(line, match[1], number, base_url, findings)
        else:
            findings.add("robots-too-many-sitemaps", line=number)


def _addresses(
    line: str, value: str, number: int, base_url: str, findings: Findings
) -> Iterator[SitemapLine]:
    """The addresses a sitemap line gives, resolved; what is odd about it becomes a finding."""
    value = _COMMENT.sub("", value).strip(" \t:=\"'<>`\u00a0")
    if not _TYPO.match(line):
        if not (_ADDRESS.search(value) or value.startswith("/")):
            return  # prose that begins with the word, or a rule's path
        findings.add("robots-odd-line", line=number, example=line)
    texts = _ADDRESS.findall(value)
    if len(texts) > 1:
        findings.add("robots-several-on-a-line", line=number, example=line)
    elif not texts or (value.lower().startswith("http") and _is_whole(value)):
        texts = [value] if value else []  # the whole: a comma may be part of it
    for text in texts:
        url, code = judge_loc(text.replace("\\/", "/"), base_url)
        if code:
            findings.add(code, line=number, example=text)
        if url is not None:
            yield SitemapLine(url, number, text)


def _is_whole(value: str) -> bool:
    """Whether a value is one address to its end, though there may be blanks in it."""
    return not _BLANK.search(value) or _FILE_NAME.search(value) is not None


def own_group(text: str, agent: str) -> str:
    """The rules for our product token as one small robots.txt; the ``*`` rules when there are none.

    Groups are chosen as RFC 9309 2.2.1 says: those whose product token is ours, several merged.
    A parser then sees one group, however many agents and rules the file multiplies.
    """
    token = _TOKEN.match(agent)
    own = token[0].lower() if token else "*"
    rules: dict[str, list[str]] = {own: [], "*": []}
    named: set[str] = set()
    agents: set[str] = set()
    in_agents = False
    for line in _LINE_END.split(text):
        name, value = _rule(line) if len(line) <= MAX_LINE else ("", "")
        if name in _AGENT_NAMES:
            if not in_agents:
                agents = set()
            in_agents = True
            agents.add(_product(value))
            named |= agents & rules.keys()
        elif name in ("allow", "disallow", "crawl-delay"):
            in_agents = False
            for group in agents & rules.keys():
                rules[group].append(f"{name}: {value}")
    chosen = own if own in named else "*"
    return "\n".join(["user-agent: *", *dict.fromkeys(rules[chosen])])


def _rule(line: str) -> tuple[str, str]:
    """A line's name, folded, and its value without a comment."""
    name, _, value = line.partition("#")[0].partition(":")
    return name.strip(_AROUND).lower(), value.strip()


def _product(value: str) -> str:
    token = _TOKEN.match(value)
    return value.strip() if value.strip() == "*" else (token[0].lower() if token else "")
