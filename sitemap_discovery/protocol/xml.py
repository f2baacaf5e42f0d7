"""Sitemaps in XML: strict parsing, a fast lane beside it, and recovery from local faults.

Plain entries go down the fast lane (:mod:`lane`), everything else to the strict parser
(:mod:`strict`). Where that stops at a fault, :mod:`recovery` mends what can be mended and cuts out
what cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.document import Document
from sitemap_discovery.protocol.guards import FEED, MAX_TOKEN, XmlFault
from sitemap_discovery.protocol.lane import END as LANE_END
from sitemap_discovery.protocol.lane import read_lane
from sitemap_discovery.protocol.markup import Token, local_name, tokens
from sitemap_discovery.protocol.parts import MAX_PART, prolog_end
from sitemap_discovery.protocol.recovery import Recovery
from sitemap_discovery.protocol.vocabulary import PREFIX_NAMESPACES, ROOT_KINDS

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector

LANE_REACH: Final = (4_096, 131_072)
"""Bytes looked at for plain entries: at first, and at most, where they follow one another."""

_HARMLESS: Final = {"comment", "pi", "doctype", "rest"}


class XmlReader:
    """Read one XML sitemap from UTF-8 bytes; entries go to ``collector`` as they complete.

    ``offset`` and ``line`` are where in the file the document begins. ``feed`` and ``close`` raise
    :class:`XmlFault` when a guard or bound fires or the file was cut; entries complete before it
    are kept.
    """

    def __init__(
        self, collector: Collector, findings: Findings, offset: int = 0, line: int = 1
    ) -> None:
        findings.where = self._line_now
        self._collector = collector
        self._findings = findings
        self._document = Document(collector, findings, offset, line)
        self._window = self._document.window
        self._parser = self._document.parser
        self._builder = self._document.builder
        self._recovery = Recovery(self._document, collector, findings)
        self._plain: int | None = None  # where the plain rows begin that are being taken
        self._reach = LANE_REACH[0]
        self._odd = False  # whether the lane has just met an entry that is not plain
        self._span = 0  # bytes the strict parser gets before the lane is tried again
        self._blind = False  # whether the prolog is too long to be looked through
        self._ended = False  # nothing that follows is looked at any more

    @property
    def kind(self) -> str | None:
        """``urlset``, ``index``, ``rss`` or ``atom`` once the root was read."""
        return self._builder.kind

    @property
    def lost(self) -> int:
        """How many entries could not be read."""
        return self._document.lost

    @property
    def error_line(self) -> int | None:
        """The line of the first fault that cost something."""
        return self._document.error_line

    @property
    def error_byte(self) -> int | None:
        """The same place in bytes."""
        return self._document.error_byte

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the file."""
        self._window.append(data)
        self._advance(final=False)

    def close(self) -> None:
        """The file ended: read what is held back and check that the document is whole."""
        self._advance(final=True)
        if self._ended:
            return
        if self._builder.root_end is None and not self._recovery.parts:
            self._parser.parse(b"", final=True)  # expat may hold the last tag back
            if self._builder.root_end is None and self._recovery.go_back():
                self._advance(final=True)
        if self._builder.root_end is None:
            window = self._window
            self._document.mark_fault(len(window.data) if self.kind else window.at)
            raise XmlFault("truncated" if self.kind else "not-a-sitemap")

    def _advance(self, *, final: bool) -> None:
        """Read on until more bytes are needed."""
        try:
            while self._window and not self._ended and self._step(final=final):
                pass
        except XmlFault:
            self._ended = True
            self._document.mark_fault(self._window.at)
            raise

    def _step(self, *, final: bool) -> bool:
        """Read a piece; false when more bytes are needed."""
        if self._builder.root_end is not None:
            return self._after_root(final=final)
        if self._recovery.parts:
            return self._recovery.step(final=final)
        self._recovery.mend_on()
        return self._lane() or self._strict_step(final=final)

    def _line_now(self) -> int:
        """The line of the entry that is being read."""
        window = self._window
        if self._plain is None:
            begun = self._document.index_of(self._builder.entry_index)
            return window.line_of(max(begun, window.at))
        at = self._plain - 1
        for _ in range(self._collector.row + 1):
            at = window.data.find(b"<url>", at + 1)
        return window.line_of(at)

    # -- the fast lane -------------------------------------------------------------------------

    def _lane(self) -> bool:
        """Read plain entries at the head of the window; false when there is none."""
        window = self._window
        odd, self._odd = self._odd and not self._recovery.mends, False
        if odd or not (self._has_lane and self._document.stands):
            return False
        head = window.data[window.at : window.at + self._reach]
        start = window.at + len(head) - len(head.lstrip(b" \t\r\n"))
        found = window.data.rfind(LANE_END, start, start + self._reach)
        if found < 0:
            return False
        cut = found + len(LANE_END)
        lane = read_lane(window.data[start:cut], images=self._declares_images())
        plain = start + lane.size >= cut
        self._reach = (
            min(2 * self._reach, LANE_REACH[1]) if plain else max(lane.size, LANE_REACH[0])
        )
        plenty = len(lane.rows) > 8
        self._span = 0 if plenty else min(2 * self._span + 512, FEED - 1)
        if not lane.rows:
            return False
        if lane.bare:
            first = lane.first_bare + start
            self._findings.add("bare-ampersand", lane.bare, line=window.line_of(first))
        self._plain = start
        self._collector.add_plain(lane)
        self._plain = None
        self._odd = not plain
        self._document.go_on(start + lane.size)
        return True

    @property
    def _has_lane(self) -> bool:
        """Whether entries of where the parser stands can be plain at all."""
        builder = self._builder
        plain = len(builder.path) == 1 and builder.close_tag == LANE_END
        return plain and not self._parser.has_external_dtd

    def _declares_images(self) -> bool:
        """Whether ``image:`` means here what it means everywhere."""
        return self._parser.declares("image", PREFIX_NAMESPACES["image"])

    # -- the strict parser ---------------------------------------------------------------------

    def _strict_step(self, *, final: bool) -> bool:
        """Give the strict parser a piece that ends where the lane may go on."""
        window = self._window
        stop = self._next_cut(final=final)
        if stop <= window.given:
            return False
        piece = window.data[window.given : stop]
        window.given = stop
        fault = self._parser.parse(piece)
        builder = self._builder
        if builder.root_end is not None:  # a fault then lies behind the document
            self._document.go_on(self._document.end_of(builder.root_start, builder.root_end))
        elif fault is None:
            self._settle()
        else:
            self._recovery.begin(fault)
        return True

    def _next_cut(self, *, final: bool) -> int:
        """End of the next piece, 0 when more bytes are needed for one.

        It is the root's end, then the closing tag of an entry after the span, for want of one
        what there is.
        """
        data, start = self._window.data, self._window.given
        if not self._builder.path:
            return self._prolog_cut(final=final)
        tag, end = self._builder.close_tag, start + FEED
        span = self._span if self._has_lane else FEED - len(tag)
        found = data.find(tag, start + span, end)
        if found < 0:
            found = data.rfind(tag, start, end)
        if found >= 0 and (self._has_lane or final or end <= len(data)):
            return found + len(tag)
        return min(end, len(data)) if final or end <= len(data) else 0

    def _prolog_cut(self, *, final: bool) -> int:
        window = self._window
        if self._blind:
            return min(window.given + FEED, len(window.data))
        end = prolog_end(window.data, window.at, ROOT_KINDS.keys(), final=final)
        if final or end > window.given or len(window) <= MAX_TOKEN:
            return max(end, window.given)
        return len(window.data)  # longer than any tag may be: the strict parser will say so

    def _settle(self) -> None:
        """Let go of what will not be needed again, whatever fault comes."""
        window, document = self._window, self._document
        if self._builder.between_entries and self._parser.is_current:
            document.go_on(window.given)
            return
        window.consume(max(document.index_of(self._builder.resume()[0]), window.at))
        if window.given - window.at > MAX_PART:  # too large to be read again
            window.consume(window.given)
            self._blind = not self._builder.path

    # -- behind the document -------------------------------------------------------------------

    def _after_root(self, *, final: bool) -> bool:
        """Behind the document: a second one is read, anything else is left."""
        window = self._window
        for token in tokens(window.data, window.at, final=final):
            if window.data[window.at : token.start].strip():
                self._note_junk(token.start)
            if self._begin_document(token):
                return True
            if token.kind not in _HARMLESS:
                self._note_junk(token.start)
                if token.name.lower() != self._builder.root_tag:
                    self._ended = True
                    return False
            window.rewind(token.start if token.kind == "rest" else token.stop)
        if final or len(window) > MAX_PART:
            if window.data[window.at :].strip():
                self._note_junk(window.at)
            self._ended = True
        return False

    def _begin_document(self, token: Token) -> bool:
        """Go on inside a second document, or with an entry that stands behind the first."""
        if token.kind not in ("open", "empty"):
            return False
        is_entry = token.name.lower() in self._builder.entry_tags
        if not is_entry and local_name(token) not in ROOT_KINDS:
            return False
        assert self._builder.root is not None
        self._findings.add("second-document", line=self._window.line_of(token.start))
        self._window.rewind(token.start)
        self._document.reopen((self._builder.root,) if is_entry else ())
        self._recovery.reset()
        self._blind = False
        return True

    def _note_junk(self, at: int) -> None:
        if "junk-after-document" not in self._findings:
            self._findings.add("junk-after-document", line=self._window.line_of(at))
