"""Checks of a whole file beyond reading it: what a search engine would refuse or ignore."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sitemap_discovery.protocol.codes import Findings, Severity
from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.problems import problem
from sitemap_discovery.protocol.reader import SitemapReader
from sitemap_discovery.protocol.robots import read_robots
from sitemap_discovery.protocol.unpack import Unpacker, UnpackFault
from sitemap_discovery.protocol.urls import ScopeJudge, file_key, is_robots, origin_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sitemap_discovery.protocol.entries import Details, Entries

MAX_NEWS: Final = 1_000
"""News entries of a file (Google, "news sitemap")."""

NEWS_AGE: Final = 2 * 86_400
"""Seconds that an article may be old in a news sitemap (Google, "news sitemap")."""

MAX_IMAGES: Final = 1_000
"""Images of one page (Google, "image sitemaps")."""

MAX_TAGS, MAX_TITLE, MAX_DESCRIPTION = 32, 100, 2_048
"""Tags of a video, characters of its title and description (Google, "video sitemaps")."""

NEWS_FIELDS: Final = ("publication", "publication_date", "title")
VIDEO_FIELDS: Final = ("thumbnail_loc", "title", "description")
SEVERITIES: Final = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Row:
    """One problem of a file: its code, how often and where first it was met, what to do."""

    code: str
    severity: str
    count: int
    line: int | None
    example: str | None
    meaning: str
    remedy: str


@dataclass(slots=True)
class Report:
    """What was found in one file; ``children`` are the files that an index or robots.txt names."""

    address: str
    kind: str | None = None
    state: str = "failed"
    reason: str = ""
    entries: int = 0
    problems: list[Row] = field(default_factory=list)
    children: list[str] = field(default_factory=list)

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to mend; notes are no faults."""
        return all(row.severity == Severity.NOTE for row in self.problems)

    def add(self, code: str, example: str | None = None) -> None:
        """Note a problem; the most severe ones stand first."""
        self.problems.append(_row(code, example=example))
        self.problems.sort(key=_severity)


def failed(address: str, reason: str) -> Report:
    """The report on a file that could not be had."""
    return Report(address, reason=reason, problems=[_row(reason)])


def no_robots(address: str) -> Report:
    """The report on a robots.txt that is not there, which leaves everything allowed."""
    problems = [_row("robots-missing")]
    return Report(address, "robots", "complete", "robots-missing", problems=problems)


def validate(
    address: str,
    body: bytes,
    *,
    url: str,
    now: int,
    codings: Sequence[str] = (),
    cut: str | None = None,
    origin: str | None = None,
    named_hosts: Collection[str] = (),
) -> Report:
    """Read a file that lives at ``url`` and check all of it; nothing in the bytes raises.

    ``now`` is UTC epoch seconds; ``cut`` says why the bytes are known to end too early. ``origin``
    is the site it was found for, ``named_hosts`` those that its robots.txt names. An ``address``
    of a robots.txt is read as one, wherever redirects led.

    >>> report = validate("s.xml", b"<urlset/>", url="https://a.example/s.xml", now=0)
    >>> sorted(problem.code for problem in report.problems)
    ['no-entries', 'no-namespace']
    """
    if is_robots(address) or is_robots(url):
        return _robots_report(address, body, url)
    reader = SitemapReader(url, codings=codings, now=now)
    judge = ScopeJudge(url, origin or origin_of(url), named_hosts)
    checks = Checks(url, judge, reader.outcome.findings, now)
    for entries in (*reader.feed(body), *reader.close(cut)):
        checks.take(entries)
    outcome = reader.outcome
    checks.finish(outcome.kind, outcome.entries_kept)
    report = Report(address, outcome.kind, str(outcome.state), outcome.reason, outcome.entries_kept)
    report.children = list(checks.children)
    if outcome.reason not in ("ok", *outcome.findings.by_code):
        report.problems.append(_row(outcome.reason, line=outcome.error_line))
    report.problems += _rows(outcome.findings, body, codings)
    report.problems.sort(key=_severity)
    return report


def note_child(report: Report, child: Report) -> None:
    """Note on a file what one of those it names turned out to be."""
    if child.kind == "index" and report.kind == "index":
        report.add("nested-index", child.address)
    elif child.state == "failed":
        report.add("child-failed", f"{child.address} {child.reason}")


def _severity(row: Row) -> int:
    return SEVERITIES.index(Severity(row.severity))


class Checks:
    """Looks at the entries of one file."""

    def __init__(self, url: str, judge: ScopeJudge, findings: Findings, now: int) -> None:
        self.children: dict[str, None] = {}
        self._url = url
        self._findings = findings
        self._now = now
        self._judge = judge
        self._place = urlsplit(url)
        self._seen: set[str] = set()
        self._pages = self._news = 0
        self._first_page: str | None = None
        self._fields = 0

    def take(self, entries: Entries) -> None:
        """Check some entries."""
        is_page = entries.element == "url"
        for loc, scope in zip(entries.locs, self._judge.judge(entries.locs)):
            self._check_place(loc, scope, is_page=is_page)
            if loc in self._seen:
                self._findings.add("duplicate-url" if is_page else "duplicate-child", example=loc)
            self._seen.add(loc)
        if is_page:
            self._pages += len(entries)
            self._first_page = self._first_page or next(iter(entries.locs), None)
            for loc, details in zip(entries.locs, entries.details):
                self._check_details(loc, details or {})
        else:
            self.children.update(dict.fromkeys(entries.locs))
            self._fields += sum(map(_is_set, entries.changefreqs, entries.priorities))

    def finish(self, kind: str | None, kept: int) -> None:
        """Check what only the whole file tells."""
        if kind is not None and not kept:
            self._findings.add("no-entries")
        if kind == "index" and self._pages:
            self._findings.add("url-in-index", self._pages, example=self._first_page)
        if kind == "urlset" and self.children:
            count, first = len(self.children), next(iter(self.children))
            self._findings.add("child-in-urlset", count, example=first)
        if self._fields:
            self._findings.add("field-in-index", self._fields)
        if self._news > MAX_NEWS:
            self._findings.add("too-many-news", self._news - MAX_NEWS)
        if file_key(self._url) in map(file_key, self.children):
            self._findings.add("index-loop", example=self._url)

    def _check_place(self, loc: str, scope: str, *, is_page: bool) -> None:
        if scope in ("in-path", "cross-submitted"):
            return
        noun = "url" if is_page else "child"
        own, parts = self._place, urlsplit(loc)
        bare = [(p.hostname or "").removeprefix("www.") for p in (own, parts)]
        if scope == "same-host":
            code = f"{noun}-above-folder"
        elif bare[0] != bare[1] or parts.port != own.port:
            code = f"{noun}-other-host"
        else:
            code = (
                f"{noun}-other-scheme" if parts.hostname == own.hostname else f"{noun}-www-mismatch"
            )
        self._findings.add(code, example=loc)

    def _check_details(self, loc: str, details: Details) -> None:
        if "news" in details:
            self._check_news(loc, details["news"])
        for video in details.get("videos", ()):
            self._check_video(loc, video)
        images = details.get("images", ())
        if len(images) > MAX_IMAGES:
            self._findings.add("too-many-images", len(images) - MAX_IMAGES, example=loc)
        if not all(image.get("loc") for image in images):
            self._findings.add("image-incomplete", example=loc)
        if not all(link.get("hreflang") for link in details.get("alternates", ())):
            self._findings.add("alternate-incomplete", example=loc)

    def _check_news(self, loc: str, news: dict[str, Any]) -> None:
        self._news += 1
        publication = news.get("publication")
        whole = isinstance(publication, dict) and publication.get("name")
        if not whole or not all(news.get(name) for name in NEWS_FIELDS):
            self._findings.add("news-incomplete", example=loc)
        date = _time(news.get("publication_date"))
        if date is not None and date < self._now - NEWS_AGE:
            self._findings.add("news-old", example=loc)

    def _check_video(self, loc: str, video: dict[str, Any]) -> None:
        content, player = _value(video.get("content_loc")), _value(video.get("player_loc"))
        if not all(video.get(name) for name in VIDEO_FIELDS) or not (content or player):
            self._findings.add("video-incomplete", example=loc)
        if content and content == player:
            self._findings.add("video-same-location", example=content)
        if loc in (content, player):
            self._findings.add("video-is-page", example=loc)
        tags = video.get("tag", ())
        title, description = _value(video.get("title")), _value(video.get("description"))
        long_text = len(title or "") > MAX_TITLE or len(description or "") > MAX_DESCRIPTION
        if long_text or (isinstance(tags, list) and len(tags) > MAX_TAGS):
            self._findings.add("video-too-long", example=loc)


def _robots_report(address: str, body: bytes, url: str) -> Report:
    robots = read_robots(body, url)
    report = Report(address, "robots", "complete", "ok", len(robots.sitemaps))
    if not robots.sitemaps:
        robots.findings.add("no-entries")
    report.children = [line.url for line in robots.sitemaps]
    report.problems += _rows(robots.findings, b"")
    report.problems.sort(key=_severity)
    return report


def _rows(findings: Findings, body: bytes, codings: Sequence[str] = ()) -> Iterator[Row]:
    text = b""
    for found in findings:
        line = found.line
        if line is None and found.example:
            text = text or _text_of(body, codings)
            line = _line_of(text, found.example, 2 if found.code.startswith("duplicate-") else 1)
        yield _row(found.code, found.count, line, found.example)


def _row(code: str, count: int = 1, line: int | None = None, example: str | None = None) -> Row:
    known = problem(code)
    return Row(code, str(known.severity), count, line, example, known.meaning, known.remedy)


def _text_of(body: bytes, codings: Sequence[str]) -> bytes:
    """The unpacked bytes, to look for an example in."""
    pieces: list[bytes] = []
    try:
        unpacker = Unpacker(Findings(), codings)
        pieces.extend(unpacker.feed(body))
        pieces.extend(unpacker.close())
    except UnpackFault:  # said already; what came out before it is enough here
        pass
    return b"".join(pieces)


def _line_of(text: bytes, value: str, nth: int) -> int | None:
    """The line where an element, or a line, holds a value for the n-th time, escaped or not."""
    for written in dict.fromkeys((value, value.replace("&", "&amp;"))):
        place = re.compile(
            rb"(?:>|^)\s*(" + re.escape(written.encode()) + rb")\s*(?:<|$)", re.MULTILINE
        )
        for found in islice(place.finditer(text), nth - 1, nth):
            return text.count(b"\n", 0, found.start(1)) + 1
    return None


def _value(field: Any) -> str | None:
    value = field.get("value") if isinstance(field, dict) else field
    return value if isinstance(value, str) else None


def _time(text: Any) -> int | None:
    lastmod = parse_lastmod(text) if isinstance(text, str) else None
    return lastmod.time if lastmod else None


def _is_set(*fields: object) -> bool:
    return any(value is not None for value in fields)
