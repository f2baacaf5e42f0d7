"""What travels from spiders through pipelines to feeds: a batch of URLs, one URL, one file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_discovery.protocol.codes import Findings, State
from sitemap_discovery.protocol.entries import Details, Entries
from sitemap_discovery.protocol.urls import section_of, url_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class FoundFile(NamedTuple):
    """A file that another one names: how it was found, in which file, how deep, its date there."""

    url: str
    found_by: str
    parent: str | None = None
    depth: int = 0
    index_lastmod: int | None = None


@dataclass
class OriginRead:
    """All files of an origin were read.

    With ``orphans`` the inventory has those files asked for that nothing names any more; with
    ``gone``, if there are none, it makes of this the rows of what is gone.
    """

    origin: str
    orphans: bool = False
    gone: bool = False


def _hex(digest: bytes | None) -> str | None:
    return digest.hex() if digest is not None else None


def _as_dicts(findings: Findings) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in asdict(finding).items() if value is not None}
        for finding in findings
    ]


def _urls_of(children: list[FoundFile]) -> list[str]:
    return [child.url for child in children]


@dataclass
class SitemapFile:
    """One sitemap file and how its read went. Times are UTC epoch seconds, sizes are bytes.

    ``served_at`` is the server's own time of it. In feeds ``digest`` is hexadecimal, ``findings`` a
    list of objects, ``children`` one of URLs.
    """

    url: str
    origin: str
    found_by: str = "robots"
    parent: str | None = None
    depth: int = 0
    index_lastmod: int | None = None
    final_url: str | None = None
    kind: str | None = None
    state: State | None = None
    reason: str | None = None
    status: int | None = None
    fetched_at: int | None = None
    served_at: int | None = None
    bytes_wire: int = 0
    bytes_unpacked: int = 0
    entries_kept: int = 0
    entries_lost: int = 0
    error_line: int | None = None
    error_byte: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    digest: bytes | None = field(default=None, metadata={"serializer": _hex})
    findings: Findings = field(default_factory=Findings, metadata={"serializer": _as_dicts})
    children: list[FoundFile] = field(
        default_factory=list, repr=False, metadata={"serializer": _urls_of}
    )


@dataclass
class SitemapUrl:
    """One URL as a feed row. The order of the fields is the order of the columns.

    ``lastmod``, ``first_seen`` and ``last_seen`` are ISO 8601 in UTC; empty values are ``None``.
    """

    loc: str
    lastmod: str | None = None
    lastmod_precision: str | None = None
    lastmod_raw: str | None = None
    lastmod_trust: str | None = None
    change: str | None = None
    sitemap: str | None = None
    section: str | None = None
    scope: str | None = None
    changefreq: str | None = None
    priority: float | None = None
    news: dict[str, Any] | None = None
    images: list[dict[str, Any]] | None = None
    videos: list[dict[str, Any]] | None = None
    alternates: list[dict[str, Any]] | None = None
    extra: dict[str, Any] | None = None
    first_seen: str | None = None
    last_seen: str | None = None

    def __post_init__(self) -> None:
        self.batch: UrlBatch | None = None  # where the row comes from: no field, no column


DETAIL_FIELDS = ("news", "images", "videos", "alternates", "extra")
"""The columns of :class:`SitemapUrl` that come from protocol extensions."""


@dataclass(repr=False)
class UrlBatch:
    """Many URLs of one file, as columns; at every edge a person sees one URL a row.

    ``scopes`` runs parallel to the entries. ``keys`` are 16-byte digests of the locs.
    ``changes`` and ``first_seen`` (epoch seconds) are filled by the inventory, ``None`` before.
    ``trust`` is the verdict on the lastmod of all rows, unless ``trusts`` has one for each.
    ``repeats`` are keys of URLs that this run has already seen in another file. ``stored`` says
    that the rows come out of the inventory.
    """

    file: SitemapFile
    entries: Entries
    scopes: list[str]
    trust: str = "unproven"
    keys: list[bytes] = field(default_factory=list)
    repeats: list[bytes] = field(default_factory=list)
    changes: list[str] | None = None
    first_seen: list[int] | None = None
    stored: bool = False
    trusts: list[str] | None = None

    def __post_init__(self) -> None:
        if not self.keys:
            self.keys = [url_key(loc) for loc in self.entries.locs]

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"<UrlBatch {len(self):,} URLs of {self.file.url}>"

    def keep(self, flags: Sequence[object]) -> None:
        """Drop every row whose flag is false, in place."""
        self.entries.keep(flags)
        self.scopes = list(compress(self.scopes, flags))
        self.keys = list(compress(self.keys, flags))
        if self.changes is not None:
            self.changes = list(compress(self.changes, flags))
        if self.first_seen is not None:
            self.first_seen = list(compress(self.first_seen, flags))
        if self.trusts is not None:
            self.trusts = list(compress(self.trusts, flags))

    def singles(self) -> Iterator[SitemapUrl]:
        """Each URL as an item of its own that knows its batch of one, for the pipelines."""
        for i, row in enumerate(self.rows()):
            row.batch = UrlBatch(
                self.file,
                self.entries.slice(i, i + 1),
                self.scopes[i : i + 1],
                self.trust,
                self.keys[i : i + 1],
                changes=self.changes and self.changes[i : i + 1],
                first_seen=self.first_seen and self.first_seen[i : i + 1],
                stored=self.stored,
                trusts=self.trusts and self.trusts[i : i + 1],
            )
            yield row

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[SitemapUrl]:
        """Each URL from ``start`` up to ``stop`` as a feed row."""
        file = self.file
        seen = iso_time(file.fetched_at)
        columns = self.entries
        for i, loc in enumerate(columns.locs[start:stop], start):
            lastmod = columns.lastmods[i]
            details: Details = columns.details[i] or {}
            yield SitemapUrl(
                loc,
                lastmod.iso if lastmod else None,
                lastmod.precision if lastmod else None,
                lastmod.raw if lastmod else None,
                self.trusts[i] if self.trusts else self.trust,
                self.changes[i] if self.changes else None,
                file.url,
                section_of(loc),
                self.scopes[i],
                columns.changefreqs[i],
                columns.priorities[i],
                details.get("news"),
                details.get("images"),
                details.get("videos"),
                details.get("alternates"),
                details.get("extra"),
                iso_time(self.first_seen[i]) if self.first_seen else seen,
                seen,
            )


def iso_time(seconds: int | None) -> str | None:
    """UTC epoch seconds as ISO 8601.

    >>> iso_time(0)
    '1970-01-01T00:00:00+00:00'
    """
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()
