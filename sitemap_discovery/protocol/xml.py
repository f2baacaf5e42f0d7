"""Sitemaps in XML: strict parsing, a fast lane beside it, and recovery from local faults.

Plain entries go down the fast lane (:mod:`lane`), everything else to the strict parser
(:mod:`strict`). Where that stops at a fault, what can be is mended in place (:mod:`repair`) and
read again. What cannot is cut out by its tags (:mod:`parts`) and parsed entry by entry.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.guards import FEED, XmlFault
from sitemap_discovery.protocol.lane import END as LANE_END
from sitemap_discovery.protocol.lane import read_lane
from sitemap_discovery.protocol.markup import Token, local_name, tokens
from sitemap_discovery.protocol.parts import MAX_BARE, MAX_PART, Part, next_part, root_tag
from sitemap_discovery.protocol.repair import Repair
from sitemap_discovery.protocol.strict import EntryParser, Fault
from sitemap_discovery.protocol.tree import HTML_ROOTS, NOT_CLOSED
from sitemap_discovery.protocol.vocabulary import PREFIX_NAMESPACES, ROOT_KINDS
from sitemap_discovery.protocol.window import Window

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector
    from sitemap_discovery.protocol.tree import Wrapper

LANE_REACH: Final = (4_096, 131_072)
"""Bytes looked at for plain entries: at first, and at most, where they follow one another."""

CAREFUL: Final = (2, 256)
"""Parts read one by one after a fault: at first, and at most, as faults that follow close behind
double it."""

_ATTRIBUTE_PREFIX: Final = re.compile(rb"[\s\"']([A-Za-z_][\w.-]*):[\w.-]+\s*=")
_HARMLESS: Final = {"comment", "pi", "doctype", "rest"}
_ANY_ROOT: Final = ROOT_KINDS.keys() | HTML_ROOTS


class XmlReader:
    """Read one XML sitemap from UTF-8 bytes; entries go to ``collector`` as they complete.

    ``offset`` and ``line`` are where in the file the document begins.

    ``feed`` and ``close`` raise :class:`XmlFault` when a guard or bound fires or the file was cut;
    entries complete before it are kept. ``lost`` counts entries that could not be mended.
    """

    def __init__(
        self, collector: Collector, findings: Findings, offset: int = 0, line: int = 1
    ) -> None:
        self.lost = 0
        self.error_line: int | None = None
        self.error_byte: int | None = None
        self._collector = collector
        self._findings = findings
        self._window = Window(offset, line)
        self._parser = EntryParser(collector, findings)
        self._parser.place(offset, line)
        self._builder = self._parser.builder
        self._repair = Repair(findings)
        findings.where = self._line_now
        self._plain: int | None = None  # where the plain rows begin that are being taken
        self._reach = LANE_REACH[0]
        self._span = 0  # bytes the strict parser gets before the lane is tried again
        self._mends = False  # whether the last stretch needed it
        self._mended = 0  # offset up to which that was seen to
        self._careful = 0  # parts still to be read one by one
        self._caution = CAREFUL[0]
        self._lost_at = 0  # entries seen at the last fault that could not be mended
        self._bare = 0
        self._prolog_fault: Fault | None = None
        self._needed = 0  # bytes that must be there before a part is looked for again
        self._finished = False  # what stands behind the document is not looked at any more
        self._failed = False

    @property
    def kind(self) -> str | None:
        """``urlset``, ``index``, ``rss`` or ``atom`` once the root was read."""
        return self._builder.kind

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the file."""
        self._window.append(data)
        self._advance(final=False)

    def close(self) -> None:
        """The file ended: read what is held back and check that the document is whole."""
        self._advance(final=True)
        if self._failed:
            return
        if self._builder.root_end is None and not self._careful:
            self._parser.parse(b"", final=True)  # expat may hold the last tag back
        if self._builder.root_end is None:
            self._mark_fault(len(self._window.data))
            raise XmlFault("truncated" if self.kind else "not-a-sitemap")

    def _advance(self, *, final: bool) -> None:
        """Read on until more bytes are needed."""
        try:
            while self._window and not self._failed and self._step(final=final):
                pass
        except XmlFault:
            self._failed = True
            self._mark_fault(self._window.at)
            raise

    def _step(self, *, final: bool) -> bool:
        """Read a piece; false when more bytes are needed."""
        if self._builder.root_end is not None:
            return self._after_root(final=final)
        if self._careful:
            return self._careful_step(final=final)
        if self._mends and self._stands and self._mend_stretch():
            self._go_on(self._window.at)
        return self._lane() or self._strict_step(final=final)

    def _open(self, path: tuple[Wrapper, ...]) -> None:
        """A fresh strict parser for what comes next."""
        window = self._window
        self._parser.open(path, window.offset + window.at, window.line_of(window.at))

    def _go_on(self, stop: int) -> None:
        """Be done with what comes before ``stop``; the strict parser is to see what follows."""
        window = self._window
        window.rewind(stop)
        self._parser.place(window.offset + stop, window.line_of(stop))

    def _index(self, parser_index: int) -> int:
        return self._parser.offset_of(parser_index) - self._window.offset

    def _tag_end(self, start: int) -> int:
        return next(tokens(self._window.data, start)).stop

    def _line_now(self) -> int:
        """The line of the entry that is being read."""
        if self._plain is None:
            return self._parser.entry_line
        at = self._plain - 1
        for _ in range(self._collector.row + 1):
            at = self._window.data.find(b"<url>", at + 1)
        return self._window.line_of(at)

    def _mark_fault(self, index: int) -> None:
        if self.error_line is None:
            self.error_line = self._window.line_of(index)
            self.error_byte = self._window.offset + index

    # -- the fast lane -------------------------------------------------------------------------

    def _lane(self) -> bool:
        """Read plain entries at the head of the window; false when there is none."""
        window = self._window
        if not self._lane_is_open():
            return False
        head = window.data[window.at : window.at + self._reach]
        start = window.at + len(head) - len(head.lstrip(b" \t\r\n"))
        cut = window.data.rfind(LANE_END, start, start + self._reach) + len(LANE_END)
        if cut < start:
            return False
        lane = read_lane(window.data[start:cut], images=self._declares_images())
        plain = start + lane.size >= cut
        self._reach = min(2 * self._reach, LANE_REACH[1]) if plain else LANE_REACH[0]
        plenty = len(lane.rows) > 8
        self._span = 0 if plenty else min(2 * self._span + 512, FEED - 1)
        if not lane.rows:
            return False
        if lane.bare:
            first = lane.first_bare + start
            self._findings.add("bare-ampersand", lane.bare, line=window.line_of(first))
        self._plain = start
        self._collector.add_plain(lane.rows, escaped=lane.escaped)
        self._plain = None
        self._go_on(start + lane.size)
        return True

    def _lane_is_open(self) -> bool:
        return self._stands and len(self._builder.path) == 1 and self._builder.close_tag == LANE_END

    @property
    def _stands(self) -> bool:
        """Whether everything was read up to between two entries."""
        return self._window.given == self._window.at and self._builder.between_entries

    def _declares_images(self) -> bool:
        """Whether ``image:`` means here what it means everywhere."""
        return self._parser.declares("image", PREFIX_NAMESPACES["image"])

    # -- the strict parser ---------------------------------------------------------------------

    def _strict_step(self, *, final: bool) -> bool:
        """Give the strict parser a piece that ends where the lane may go on."""
        window = self._window
        stop = self._next_cut()
        if stop < 0:
            waiting = len(window.data) - window.given
            if not waiting or (waiting < FEED and self.kind and not final):
                return False
            stop = min(window.given + FEED, len(window.data))
        piece = window.data[window.given : stop]
        window.given = stop
        fault = self._parser.parse(piece)
        if self._builder.root_end is not None:  # a fault then lies behind the document
            self._go_on(self._tag_end(self._index(self._builder.root_end)))
        elif fault is None:
            self._settle()
        else:
            self._on_fault(fault)
        return True

    def _next_cut(self) -> int:
        """End of the next closing entry tag after the span; before the root, its end."""
        data, start = self._window.data, self._window.given
        if not self._builder.path:
            root = root_tag(data[start : start + FEED], 0, ROOT_KINDS.keys(), final=False)
            return start + root.stop if root else -1
        tag, end = self._builder.close_tag, start + FEED
        found = data.find(tag, start + self._span, end)
        if found < 0:
            found = data.rfind(tag, start, end)
        return found + len(tag) if found >= 0 else -1

    def _settle(self) -> None:
        """Let go of what will not be needed again, whatever fault comes."""
        window = self._window
        if self._builder.between_entries and self._parser.is_current:
            self._go_on(window.given)
            return
        window.consume(max(self._index(self._builder.resume()[0]), window.at))
        if window.given - window.at > MAX_PART:  # too large to be read again
            window.consume(window.given)

    def _on_fault(self, fault: Fault) -> None:
        """Go back to where the broken entry begins, to read on carefully."""
        window = self._window
        index, behind_tag, path = self._builder.resume()
        start = self._index(index)
        if not fault.local or start < window.at:
            self._mark_fault(min(max(fault.offset - window.offset, window.at), window.given))
            raise XmlFault(fault.code)
        window.rewind(self._tag_end(start) if behind_tag else start)
        if not path:
            self._prolog_fault = fault
        mended = bool(path) and self._mend_stretch()
        self._open(path)
        if not mended:
            self._be_careful()

    def _mend_stretch(self) -> bool:
        """Mend what comes next, up to an entry's end, in place; false when nothing needed it."""
        window, tag = self._window, self._builder.close_tag
        stop = window.data.rfind(tag, window.at, window.at + FEED) + len(tag)
        if window.offset + window.at < self._mended or stop <= window.at:
            return False
        piece = window.data[window.at : stop]
        mended = self._repaired(piece)
        self._mends = mended != piece
        if self._mends:
            window.replace(stop, mended)
        self._mended = window.offset + window.at + len(mended)
        return self._mends

    def _repaired(self, piece: bytes) -> bytes:
        line = self._window.line_of(self._window.at)
        return self._repair.mend(piece, line=line, external_dtd=self._parser.has_external_dtd)

    def _be_careful(self) -> None:
        """Read what comes next part by part."""
        again = self._collector.seen - self._lost_at < 2 * self._caution
        self._caution = min(2 * self._caution, CAREFUL[1]) if again else CAREFUL[0]
        self._careful, self._lost_at = self._caution, self._collector.seen
        self._needed = 0

    # -- entry by entry ------------------------------------------------------------------------

    def _careful_step(self, *, final: bool) -> bool:
        """Read the next part by itself."""
        window = self._window
        if len(window) < self._needed and not final:
            return False
        if not self._builder.path:
            return self._careful_root(final=final)
        names = self._builder.entry_tags
        part = next_part(window.data, window.at, names, self._builder.root_tag, final=final)
        if part is None:
            self._needed = 2 * len(window)
            return False
        self._needed = 0
        self._careful -= 1
        self._read_part(part)
        self._go_on(part.stop)
        return True

    def _read_part(self, part: Part) -> None:
        self._bare += part.bare
        if self._bare > MAX_BARE:
            raise XmlFault("not-well-formed")
        if part.stop == part.start:
            raise XmlFault("token-too-long")
        if part.kind == "cut":
            self._mark_fault(part.stop)
        elif part.kind == "open":
            self._lose(part, NOT_CLOSED)
        elif part.kind == "large":
            self._lose(part, "entry-too-large")
        else:
            self._parse_part(part)

    def _parse_part(self, part: Part) -> None:
        """Parse a part, mended if need be; what cannot be parsed is lost, and it alone."""
        path, seen = self._builder.path, self._collector.seen
        piece = self._window.data[part.start : part.stop]
        mended = self._repaired(self._without_bare(part, piece))
        fault = self._parser.parse(mended)
        again = fault is not None and fault.unbound and self._collector.seen == seen
        if again and self._parser.declare(_prefixes(self._window.data, part.markup)):
            self._open(path)
            fault = self._parser.parse(mended)
        if fault and not fault.local:
            raise XmlFault(fault.code)
        if fault or self._builder.entry_start is not None:
            self._lose(part, fault.code if fault else NOT_CLOSED)
            self._open(path)
            if part.closes(self._builder.root_tag):
                self._builder.close_root()

    def _without_bare(self, part: Part, piece: bytes) -> bytes:
        """A part whose ``<`` that begin no markup are escaped."""
        for token in reversed(part.markup if part.bare else ()):
            if token.kind == "bare":
                self._findings.add("bare-less-than", line=self._window.line_of(token.start))
                at = token.start - part.start
                piece = piece[:at] + b"&lt;" + piece[at + 1 :]
        return piece

    def _lose(self, part: Part, code: str) -> None:
        """Pass over what cannot be read; every loc in it counts as an entry lost."""
        lost = part.locs if part.kind == "gap" else max(1, part.locs)
        self._findings.add(code, line=self._window.line_of(part.start))
        if lost:
            self.lost += lost
            self._mark_fault(part.start)

    def _careful_root(self, *, final: bool) -> bool:
        """Pass over a broken prolog and open the root."""
        window = self._window
        token = root_tag(window.data, window.at, _ANY_ROOT, final=final)
        if token is None and not final and len(window) < MAX_PART:
            self._needed = 2 * len(window)
            return False
        assert self._prolog_fault is not None
        if token is None or not self._parse_root(token):
            raise XmlFault(self._prolog_fault.code)
        if not self._prolog_fault.unbound:
            self._findings.add("junk-before", line=window.line_of(token.start))
        self._go_on(token.stop)
        return True

    def _parse_root(self, token: Token) -> bool:
        window = self._window
        tag = window.data[token.start : token.stop]
        if local_name(token) in HTML_ROOTS:
            raise XmlFault("html-page")
        mended = self._repaired(tag)
        self._open(())
        fault = self._parser.parse(mended)
        if fault and fault.unbound and self._parser.declare(_prefixes(window.data, [token])):
            at = 1 + len(token.name)
            mended = mended[:at] + self._parser.declarations + mended[at:]
            self._open(())
            fault = self._parser.parse(mended)
        if fault and not fault.local:
            raise XmlFault(fault.code)
        return fault is None

    # -- behind the document -------------------------------------------------------------------

    def _after_root(self, *, final: bool) -> bool:
        """Behind the document: a second one is read, anything else is left."""
        window = self._window
        for token in () if self._finished else tokens(window.data, window.at, final=final):
            if window.data[window.at : token.start].strip():
                self._note_junk(token.start)
            if self._begin_document(token):
                return True
            if token.kind not in _HARMLESS:
                self._note_junk(token.start)
                self._finished = token.name.lower() != self._builder.root_tag
            window.rewind(token.start if token.kind == "rest" else token.stop)
            if self._finished:
                break
        if self._finished or final or len(window) > MAX_PART:
            if window.data[window.at :].strip():
                self._note_junk(window.at)
            self._finished = True
            window.rewind(len(window.data))
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
        self._open((self._builder.root,) if is_entry else ())
        self._careful = 0
        return True

    def _note_junk(self, at: int) -> None:
        if "junk-after-document" not in self._findings:
            self._findings.add("junk-after-document", line=self._window.line_of(at))


def _prefixes(data: bytes, markup: list[Token]) -> set[str]:
    """The prefixes that tags use."""
    found: set[bytes] = set()
    for token in markup:
        if token.name:
            prefix, colon, _ = token.name.partition(b":")
            found.update([prefix] if colon else ())
            found.update(_ATTRIBUTE_PREFIX.findall(data, token.start, token.stop))
    return {prefix.decode("utf-8", "replace") for prefix in found}
