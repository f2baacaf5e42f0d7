"""Sitemaps in XML: strict parsing, a fast lane beside it, and recovery from local faults."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.parsers.expat import ExpatError, errors

from defusedxml.common import EntitiesForbidden, ExternalReferenceForbidden

from sitemap_discovery.protocol.guards import FEED, GUARD_CODES, MAX_TOKEN, XmlFault, guarded_parser
from sitemap_discovery.protocol.lane import END as LANE_END
from sitemap_discovery.protocol.lane import IMAGES_DECLARED, read_lane
from sitemap_discovery.protocol.repair import repaired
from sitemap_discovery.protocol.tree import NOT_CLOSED, EntryBuilder
from sitemap_discovery.protocol.vocabulary import PREFIX_NAMESPACES

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector

LANE_WINDOW: Final = 131_072
MAX_FAULTS: Final = 1_000
"""Entries given up in one file before the rest of it is."""

MAX_MENDED: Final = 50_000
"""Entries mended in one file: each takes a parser of its own."""

MAX_ENTRY: Final = 4_194_304
"""Bytes of an entry that are held back to mend it; a larger one is read, but not mended."""

LOCAL_CODES: Final = {"too-deep", "too-many-attributes", NOT_CLOSED}
"""Bounds whose breach costs one entry, not the rest of the file."""

_UNBOUND_PREFIX: Final = errors.codes[errors.XML_ERROR_UNBOUND_PREFIX]
_ROOT_TAG: Final = re.compile(
    rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|feed)\b[^<>]*>", re.IGNORECASE
)
_ENTRY_TAG: Final = re.compile(rb"<(?:[\w.-]+:)?(?:url|sitemap|item|entry)[\s>]")
_PREFIX: Final = re.compile(rb"</?([A-Za-z_][\w.-]*):")


class XmlReader:
    """Read one XML sitemap from UTF-8 bytes; entries go to ``collector`` as they complete.

    The strict parser sees the prolog, the root and every entry that is not plain; between entries
    the lane takes over. ``feed`` and ``close`` raise :class:`XmlFault` when a guard or bound fires
    or the file was cut; entries complete before it are kept. ``lost`` counts entries that could
    not be repaired.
    """

    def __init__(self, collector: Collector, findings: Findings) -> None:
        self.lost = 0
        self.error_line: int | None = None
        self.error_byte: int | None = None
        self._collector = collector
        self._findings = findings
        self._builder = EntryBuilder(collector, findings)
        self._buffer = b""
        self._at = 0  # end of what is consumed: the parser stood between entries there
        self._fed = 0  # end of what the strict parser was given
        self._lines = self._bytes = 0  # what was consumed, for the place of a fault
        self._span = 0  # bytes the strict parser gets before the lane is tried again
        self._root_tag = b""
        self._images = False  # whether the root declares image: as the protocol does
        self._faults = self._mended = 0
        self._broken_at: int | None = None  # a fault whose entry has not come in whole
        self._broken_code = ""
        self._open_parser()

    @property
    def kind(self) -> str | None:
        """``urlset`` or ``index`` once the root was read."""
        return self._builder.kind

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the file."""
        if self._at:
            self._buffer = self._buffer[self._at :]
            self._fed -= self._at
            if self._broken_at is not None:
                self._broken_at -= self._at
            self._at = 0
        self._buffer += data
        self._advance(final=False)

    def close(self) -> None:
        """The file ended: read what is held back and check that the document is whole."""
        self._advance(final=True)
        if self._builder.root_closed:
            return
        if self._broken_at is None and not self._strict(b"", final=True):
            self._advance(final=True)
        if not self._builder.root_closed:
            self._mark_fault(len(self._buffer))
            raise XmlFault("truncated" if self.kind else "not-a-sitemap")

    # -- two lanes -----------------------------------------------------------------------------

    def _advance(self, *, final: bool) -> None:
        """Read on until more bytes are needed."""
        progress = True
        while progress and self._at < len(self._buffer):
            if self._broken_at is not None:
                progress = self._mend(final=final)
            elif self._builder.root_closed:
                progress = self._after_root()
            elif self._lane_is_open() and self._lane():
                progress = True
            else:
                progress = self._strict_step(final=final)

    def _lane_is_open(self) -> bool:
        return (
            self._fed == self._at
            and self._builder.between_entries
            and self._builder.close_tag == LANE_END
        )

    def _lane(self) -> bool:
        """Read plain entries at the head of the buffer; false when there is none."""
        window = self._buffer[self._at : self._at + LANE_WINDOW]
        start = self._at + len(window) - len(window.lstrip(b" \t\r\n"))
        cut = self._buffer.rfind(LANE_END, start, start + LANE_WINDOW)
        if cut < 0:
            return False
        lane = read_lane(self._buffer[start : cut + len(LANE_END)], images=self._images)
        plenty = len(lane.rows) > 8
        self._span = 0 if plenty else min(2 * self._span + 512, FEED - 1)
        if not lane.rows:
            return False
        if lane.bare:
            first = lane.first_bare + start
            self._findings.add("bare-ampersand", lane.bare, line=self._line_of(first))
        self._collector.add_plain(lane.rows, escaped=lane.escaped)
        self._consume(start + lane.size)
        self._fed = self._at
        return True

    def _strict_step(self, *, final: bool) -> bool:
        """Give the strict parser a piece that ends where the lane may go on."""
        stop = self._next_cut()
        if stop < 0:
            waiting = len(self._buffer) - self._fed
            if not waiting or (waiting < FEED and self.kind and not final):
                return False
            stop = min(self._fed + FEED, len(self._buffer))
        start, self._fed = self._fed, stop
        return self._strict(self._buffer[start:stop], final=False) or self._broken_at is not None

    def _next_cut(self) -> int:
        """End of the next closing entry tag after the span; before the root, its end."""
        start, tag = self._fed, self._builder.close_tag
        if not tag:
            root = _ROOT_TAG.search(self._buffer, start)
            return root.end() if root and root.end() - start <= FEED else -1
        end = start + FEED
        found = self._buffer.find(tag, start + self._span, end)
        if found < 0:
            found = self._buffer.rfind(tag, start, end)
        return found + len(tag) if found >= 0 else -1

    def _consume(self, stop: int) -> None:
        self._lines += self._buffer.count(b"\n", self._at, stop)
        self._bytes += stop - self._at
        self._at = stop

    # -- the strict parser ---------------------------------------------------------------------

    def _open_parser(self) -> None:
        """A fresh parser that stands inside the root, if there was one."""
        self._parser = guarded_parser("utf-8", self._on_doctype)
        self._builder.attach(self._parser)
        self._parsed = len(self._root_tag)
        if self._root_tag:
            self._parser.Parse(self._root_tag, False)
        self._base = self._parsed  # the parser's byte index where the buffer's ``_at`` is

    def _on_doctype(self) -> None:
        self._findings.add("doctype")

    def _strict(self, data: bytes, *, final: bool) -> bool:
        """Parse the next piece; false after a fault, which :meth:`_mend` then looks at."""
        try:
            self._parser.Parse(data, final)
            self._parsed += len(data)
            self._check_bounds()
        except XmlFault as fault:
            return self._on_fault(fault.code, local=fault.code in LOCAL_CODES)
        except (EntitiesForbidden, ExternalReferenceForbidden) as error:
            return self._on_fault(GUARD_CODES[type(error)], local=False)
        except ExpatError as error:
            if error.code == _UNBOUND_PREFIX:
                self._declare_prefix()
            return self._on_fault("not-well-formed", local=True, final=final)
        if self._builder.root_closed or (
            self._builder.between_entries and self._parsed == self._parser.CurrentByteIndex
        ):
            self._settle()
        return True

    def _settle(self) -> None:
        """The parser stands between entries: what it was given is done with."""
        if not self._root_tag:
            root = _ROOT_TAG.search(self._buffer, self._at, self._fed)
            self._root_tag = root[0] if root else b"<urlset>"
            self._images = IMAGES_DECLARED.search(self._root_tag) is not None
        self._consume(self._fed)
        self._base = self._parsed

    def _check_bounds(self) -> None:
        self._builder.check_bounds()
        if self._parsed - self._parser.CurrentByteIndex > MAX_TOKEN:
            raise XmlFault("token-too-long")
        if self._fed - self._at > MAX_ENTRY:  # too large to be read again after a fault
            self._consume(self._fed)
            self._base = self._parsed

    # -- faults --------------------------------------------------------------------------------

    def _on_fault(self, code: str, *, local: bool, final: bool = False) -> bool:
        index = self._builder.next_start or self._parser.ErrorByteIndex
        at = min(self._at + max(index - self._base, 0), self._fed)
        if self._builder.root_closed:  # something stands after the document
            self._findings.add("junk-after-document", line=self._line_of(at))
            self._consume(at)
            self._fed = self._at
            return True
        if final and code == "not-well-formed":  # nothing is wrong but that the end is missing
            return False
        if not local or not self.kind or self._faults > MAX_FAULTS or self._mended > MAX_MENDED:
            self._mark_fault(at)
            raise XmlFault(code)
        start = self._builder.entry_start
        if start is not None:
            self._consume(self._at + max(start - self._base, 0))
        self._broken_at, self._broken_code = at, code
        return False

    def _mend(self, *, final: bool) -> bool:
        """Repair or drop the broken entry at the head of the buffer and go on behind it."""
        assert self._broken_at is not None
        if self._broken_code == NOT_CLOSED:
            stop = self._broken_at  # the next entry begins there
        elif self._builder.entry_start is None:
            stop = self._next_entry()
        else:
            stop = self._entry_end(self._broken_at)
        if stop < 0 and not final and len(self._buffer) - self._at < MAX_ENTRY:
            return False
        inside = self._builder.entry_start is not None
        whole = stop >= 0 and self._broken_code != NOT_CLOSED
        stop = stop if stop >= 0 else len(self._buffer)
        passed = self._buffer[self._at : stop]
        if inside and whole and self._reparse(passed):
            self._mended += 1
        else:
            self._faults += 1
            self._give_up(passed, inside=inside)
        self._broken_at = None
        self._consume(stop)
        self._fed = self._at
        self._base = self._parsed
        return True

    def _give_up(self, passed: bytes, *, inside: bool) -> None:
        """Pass over what cannot be read; every loc in it counts as an entry lost."""
        assert self._broken_at is not None
        lost = max(1, passed.count(b"<loc>")) if inside else passed.count(b"<loc")
        self._findings.add(self._broken_code, line=self._line_of(self._broken_at))
        if lost:
            self.lost += lost
            self._mark_fault(self._broken_at)
        self._open_parser()
        if not inside and b"</" + self._builder.root_name.encode() in passed:
            self._builder.root_closed = True

    def _entry_end(self, fault: int) -> int:
        """End of the closing tag at or after the fault; a mismatch is reported inside the tag."""
        tag = self._builder.close_tag
        found = self._buffer.find(tag, max(self._at, fault - len(tag)))
        return found + len(tag) if found >= 0 else -1

    def _next_entry(self) -> int:
        assert self._broken_at is not None
        entry = _ENTRY_TAG.search(self._buffer, self._broken_at)
        return entry.start() if entry else -1

    def _reparse(self, entry: bytes) -> bool:
        """Whether the entry, repaired, is read whole by a fresh parser."""
        if not entry:
            return False
        self._open_parser()
        kept = self._collector.seen
        try:
            fixed = repaired(entry, self._findings, self._line_of(self._broken_at or self._at))
            self._parser.Parse(fixed, False)
        except (ExpatError, XmlFault, EntitiesForbidden, ExternalReferenceForbidden):
            return False
        self._parsed += len(fixed)
        return self._builder.between_entries and self._collector.seen > kept

    def _after_root(self) -> bool:
        """Behind the document: a second one is read, anything else is left."""
        entry = _ENTRY_TAG.search(self._buffer, self._at)
        if entry is None:
            self._consume(max(self._at, len(self._buffer) - 64))
            self._fed = self._at
            return False
        self._findings.add("second-document", line=self._line_of(entry.start()))
        self._consume(entry.start())
        self._fed = self._at
        self._open_parser()
        return True

    def _declare_prefix(self) -> None:
        """Declare the prefix at the fault, so that the parsers that follow know it."""
        at = self._at + max(self._parser.ErrorByteIndex - self._base, 0)
        match = _PREFIX.match(self._buffer, at)
        if match is None or not self._root_tag or b"xmlns:" + match[1] + b"=" in self._root_tag:
            return
        prefix = match[1].decode()
        self._findings.add("undeclared-prefix", line=self._line_of(at), example=prefix)
        namespace = PREFIX_NAMESPACES.get(prefix, f"undeclared:{prefix}")
        self._root_tag = self._root_tag[:-1] + f' xmlns:{prefix}="{namespace}">'.encode()

    def _line_of(self, at: int) -> int:
        return self._lines + self._buffer.count(b"\n", self._at, at) + 1

    def _mark_fault(self, at: int) -> None:
        if self.error_line is None:
            self.error_line = self._line_of(at)
            self.error_byte = self._bytes + at - self._at
