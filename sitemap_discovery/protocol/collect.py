"""Entries on their way out: locs judged, fields read, oddities counted, columns filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.protocol.dates import AMBIGUOUS, LastmodCache
from sitemap_discovery.protocol.details import read_details, read_images
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.feeds import FEED_ENTRIES
from sitemap_discovery.protocol.fields import FieldCache, parse_changefreq, parse_priority
from sitemap_discovery.protocol.guards import MAX_TEXT
from sitemap_discovery.protocol.repair import UNREADABLE
from sitemap_discovery.protocol.urls import are_clean, clean_ones, is_clean, judge_loc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.entries import Details
    from sitemap_discovery.protocol.lane import Lane
    from sitemap_discovery.protocol.node import Node

FIELDS: Final = frozenset({"loc", "lastmod", "changefreq", "priority"})


class Collector:
    """Gather the entries of one file; :meth:`take` hands them over.

    ``seen`` counts closed entries, ``kept`` those that gave a URL, ``dropped`` the locs that gave
    none. ``row`` is the number of the plain row that is looked at. ``base`` is the file's own
    address, ``now`` (UTC epoch seconds) what is the future.
    """

    def __init__(self, base: str, findings: Findings, now: int | None = None) -> None:
        self.seen = self.kept = self.dropped = self.row = 0
        self._base = base
        self._findings = findings
        self._urls = Entries("url")
        self._sitemaps = Entries("sitemap")
        self._lastmods = LastmodCache(now)
        self._ambiguous = False  # whether a date waits for others to tell day from month
        self._ambiguous_line: int | None = None
        self._changefreqs = FieldCache(parse_changefreq, "changefreq-invalid")
        self._priorities = FieldCache(parse_priority, "priority-invalid")

    def take(self, *, final: bool = False) -> list[Entries]:
        """What was gathered since the last call, pages and files apart; empty ones left out.

        Entries are held back to the ``final`` call once a date could be read in two ways.
        """
        if self._ambiguous:
            if not final:
                return []
            self._settle_dates()
        taken = [entries for entries in (self._urls, self._sitemaps) if entries.locs]
        self._urls, self._sitemaps = Entries("url"), Entries("sitemap")
        for cache in (self._lastmods, self._changefreqs, self._priorities):
            cache.trim()
        return taken

    def _settle_dates(self) -> None:
        for entries in (self._urls, self._sitemaps):
            for i, lastmod in enumerate(entries.lastmods):
                if lastmod is not None and lastmod.code == AMBIGUOUS:
                    settled = entries.lastmods[i] = self._lastmods.settled(lastmod)
                    code = settled.code or AMBIGUOUS
                    self._findings.add(code, line=self._ambiguous_line, example=settled.raw)

    def add_plain(self, lane: Lane) -> None:
        """Take the rows of the fast lane."""
        rows = lane.rows
        columns = list(zip(*rows))
        if lane.escaped:
            columns = [_replaced(column, "&amp;", "&") for column in columns]
        texts, lastmods, changefreqs, priorities, images, *_ = columns
        if lane.unreadable:
            lastmods, changefreqs, priorities = (
                _replaced(column, UNREADABLE, "") for column in (lastmods, changefreqs, priorities)
            )
        locs: list[str | None] = list(texts)
        if not are_clean(texts):
            for self.row, clean in enumerate(clean_ones(texts)):
                if not clean:
                    locs[self.row] = self._judged(texts[self.row])
        entries = Entries(
            "url",
            locs,  # type: ignore[arg-type]  # those that are None are dropped below
            self._lastmods.column(lastmods),
            self._changefreqs.column(changefreqs),
            self._priorities.column(priorities),
            self._images(images),
        )
        self._count_oddities(lastmods, changefreqs, priorities)
        if None in locs:
            entries.keep(locs)
        self.seen += len(rows)
        self.kept += len(entries)
        self._urls.extend(entries)

    def _images(self, texts: Sequence[str]) -> list[Details | None]:
        details: list[Details | None] = [None] * len(texts)
        for self.row, text in enumerate(texts if any(texts) else ()):
            if text:
                details[self.row] = read_images(text, self._base, self._findings)
        return details

    def add_clean(self, locs: list[str]) -> None:
        """Take locs that are clean and have nothing beside them."""
        none: list[Any] = [None] * len(locs)
        self.kept += len(locs)
        self._urls.extend(Entries("url", locs, none, none, none, none))

    def add_entry(self, node: Node) -> None:
        """Take an entry of the strict parser: every usable loc of it gives a row."""
        self.seen += 1
        name = node.name.folded
        if name in FEED_ENTRIES:
            link, dates = FEED_ENTRIES[name](node)
            if link is None:
                self.add_dropped("loc-missing")
            else:
                self.add("url", (link,), {}, {"extra": dates} if dates else None)
        else:
            self._add_sitemap_entry(node)

    def _add_sitemap_entry(self, node: Node) -> None:
        texts: dict[str, str] = {}
        locs: list[str] = []
        extensions: list[Node] = []
        missing = True
        for child in node.children:
            name = child.name.folded if child.name.family == "" else ""
            if name == "loc":
                missing = False
                self._add_loc(locs, child)
            elif name in FIELDS:
                if child.length > MAX_TEXT:
                    self._findings.add("field-too-long", example="".join(child.text))
                texts.setdefault(name, child.value().replace(UNREADABLE, ""))
            else:
                extensions.append(child)
        if missing:
            self.add_dropped("loc-missing")
        details = read_details(extensions, self._base, self._findings) if extensions else None
        self.add(node.name.folded, locs, texts, details)

    def _add_loc(self, locs: list[str], node: Node) -> None:
        if node.length > MAX_TEXT:
            self.add_dropped("loc-too-long", example="".join(node.text))
        elif len(node.children) == 1 and not node.value():
            self._add_loc(locs, node.children[0])
        elif node.broken or node.children:
            self.add_dropped("loc-broken", example="".join(node.text))
        else:
            locs.append(node.value())

    def add(
        self, element: str, locs: Iterable[str], texts: dict[str, str], details: Details | None
    ) -> None:
        """Take one entry as texts."""
        lastmod = texts.get("lastmod", "")
        changefreq, priority = texts.get("changefreq", ""), texts.get("priority", "")
        values = (
            self._lastmods[lastmod], self._changefreqs[changefreq], self._priorities[priority]
        )  # fmt: skip
        self._count_oddities((lastmod,), (changefreq,), (priority,))
        entries = self._sitemaps if element == "sitemap" else self._urls
        for text in locs:
            loc = self._url(text)
            if loc is None:
                continue
            self.kept += 1
            entries.locs.append(loc)
            entries.lastmods.append(values[0])
            entries.changefreqs.append(values[1])
            entries.priorities.append(values[2])
            entries.details.append(details)

    def add_dropped(self, code: str, example: str | None = None) -> None:
        """Count an entry that gives no URL."""
        self.dropped += 1
        self._findings.add(code, example=example)

    def _url(self, text: str) -> str | None:
        """The loc as a URL; ``None``, counted, when it gives none."""
        return text if is_clean(text) else self._judged(text)

    def _judged(self, text: str) -> str | None:
        loc, code = judge_loc(text, self._base)
        if loc is None:
            self.add_dropped(code or "loc-empty", example=text)
        elif code:
            self._findings.add(code, example=text)
        return loc

    def _count_oddities(
        self, lastmods: Sequence[str], changefreqs: Sequence[str], priorities: Sequence[str]
    ) -> None:
        """Count odd values; next to nothing when the file has none."""
        for cache, texts in (
            (self._lastmods, lastmods),
            (self._changefreqs, changefreqs),
            (self._priorities, priorities),
        ):
            for self.row, text in enumerate(texts if cache.odd else ()):
                code = cache.odd.get(text)
                if code == AMBIGUOUS:
                    self._note_ambiguous()
                elif code:
                    self._findings.add(code, example=text)

    def _note_ambiguous(self) -> None:
        if not self._ambiguous and self._findings.where is not None:
            self._ambiguous_line = self._findings.where()
        self._ambiguous = True


def _replaced(texts: Sequence[str], old: str, new: str) -> tuple[str, ...]:
    return tuple(text.replace(old, new) for text in texts)
