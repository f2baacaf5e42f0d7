"""Reading on in broken XML: what can be is mended in place, the rest is read entry by entry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.guards import FEED, XmlFault
from sitemap_discovery.protocol.markup import MAX_BARE, Token, local_name
from sitemap_discovery.protocol.parts import MAX_PART, Part, next_part, root_tag, whole_head
from sitemap_discovery.protocol.repair import Repair
from sitemap_discovery.protocol.tree import HTML_ROOTS, NOT_CLOSED
from sitemap_discovery.protocol.vocabulary import ROOT_KINDS

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector
    from sitemap_discovery.protocol.document import Document
    from sitemap_discovery.protocol.strict import Fault

CAREFUL: Final = (2, 256)
"""Parts read one by one after a fault: at first, and at most, as faults that follow close behind
double it."""

_ATTRIBUTE_PREFIX: Final = re.compile(rb"[\s\"']([A-Za-z_][\w.-]*):[\w.-]+\s*=")
_NAMESPACE: Final = re.compile(
    rb"""\s(xmlns(?::[A-Za-z_][\w.-]*)?)\s*=\s*(?:"[^"<&]*"|'[^'<&]*')"""
)
_ANY_ROOT: Final = ROOT_KINDS.keys() | HTML_ROOTS


class Recovery:
    """Go on behind a fault of the strict parser, so that it costs its own entry at most."""

    def __init__(self, document: Document, collector: Collector, findings: Findings) -> None:
        self.parts = 0  # still to be read one by one
        self._document = document
        self._collector = collector
        self._findings = findings
        self._repair = Repair(findings)
        self.mends = False  # whether the last stretch needed it
        self._mended = 0  # place up to which that was seen to
        self._caution = CAREFUL[0]
        self._fault_at = -CAREFUL[1]  # entries seen at the last fault that could not be mended
        self._bare = 0
        self._inside = b""  # the entry that is passed over, when its beginning is gone
        self._counted = False  # whether its loss is
        self._needed = 0  # bytes that must be there before a part is looked for again
        self._prolog_fault: Fault | None = None
        self._met: tuple[int, Fault] | None = None  # the entry at a place has this fault

    def reset(self) -> None:
        """A second document begins."""
        self.parts = 0
        self.mends = False
        self._prolog_fault = None

    def begin(self, fault: Fault) -> None:
        """Go back to where the broken entry, or the document, begins.

        Raises :class:`XmlFault` when that is not possible.
        """
        document, window = self._document, self._document.window
        builder = document.builder
        started, ended, path = builder.resume()
        start = document.index_of(started)
        at = min(max(fault.place - window.base, window.at), window.given)
        if not fault.local or (start < window.at and builder.in_cdata):
            document.mark_fault(at)
            raise XmlFault(fault.code)
        in_entry = builder.entry_start is not None and start >= window.at
        if start < window.at:  # too far back: what was read of it is lost
            window.rewind(at)
            path, self._inside = builder.path, builder.entry_name
        else:
            window.rewind(start if ended is None else document.end_of(started, ended))
        if not path:
            self._prolog_fault = fault
        mended = bool(path) and not self._inside and self._mend()
        document.reopen(path)
        if not mended:
            self._met = (window.base + window.at, fault) if in_entry else None
            self._be_careful()

    def go_back(self) -> bool:
        """The file ended inside an entry: read it, and all behind it, part by part."""
        document, window, builder = self._document, self._document.window, self._document.builder
        start = -1 if builder.entry_start is None else document.index_of(builder.entry_start)
        if self.parts or start < window.at:
            return False
        window.rewind(start)
        document.reopen(builder.path)
        self.parts = len(window)
        return True

    def mend_on(self) -> None:
        """Mend what comes next in advance, while that is needed again and again."""
        document = self._document
        if self.mends and document.stands and self._mend():
            document.go_on(document.window.at)

    def _mend(self) -> bool:
        """Mend what comes next, up to an entry's end, in place; false when nothing needed it."""
        window, builder = self._document.window, self._document.builder
        if window.base + window.at < self._mended:
            return False
        tag = builder.close_tag
        end = window.data.find(f"</{builder.root_name}".encode(), window.at, window.at + FEED)
        found = window.data.rfind(tag, window.at, window.at + FEED if end < 0 else end)
        if found < 0:
            return False
        stop = found + len(tag)
        piece = window.data[window.at : stop]
        mended = self._repaired(piece)
        self.mends = mended != piece
        if self.mends:
            window.replace(stop, mended)
        self._mended = window.base + window.at + len(mended)
        return self.mends

    def _repaired(self, piece: bytes) -> bytes:
        window, parser = self._document.window, self._document.parser
        line = window.line_of(window.at)
        return self._repair.mend(piece, line=line, external_dtd=parser.has_external_dtd)

    def _be_careful(self) -> None:
        again = self._collector.seen - self._fault_at < 2 * self._caution
        self._caution = min(2 * self._caution, CAREFUL[1]) if again else CAREFUL[0]
        self.parts, self._fault_at = self._caution, self._collector.seen
        self._needed = 0

    # -- entry by entry ------------------------------------------------------------------------

    def step(self, *, final: bool) -> bool:
        """Read the next part by itself; false when more bytes are needed."""
        document, window = self._document, self._document.window
        if len(window) < self._needed and not final:
            return False
        if not document.builder.path:
            return self._read_root(final=final)
        builder = document.builder
        part = next_part(
            window.data,
            window.at,
            builder.entry_tags,
            builder.root_tag,
            final=final,
            inside=self._inside,
        )
        if part is None:
            self._needed = 2 * len(window)
            return False
        self._needed = 0
        self.parts -= 1
        self._read(part)
        document.go_on(part.stop)
        return True

    def _read(self, part: Part) -> None:
        self._bare += part.bare
        if self._bare > MAX_BARE:
            raise XmlFault("not-well-formed")
        if part.stop == part.start and part.kind in ("gap", "large"):
            raise XmlFault("token-too-long")
        if part.kind == "large" or self._inside:
            self._pass_large(part)
        elif part.kind == "cut":
            self._read_cut(part)
        elif part.markup or not self._raw(part).isspace():
            self._parse(part)

    def _pass_large(self, part: Part) -> None:
        """Pass over an entry that is too large to be mended, as much of it as is there."""
        if not self._counted:
            self._lose(part, "entry-too-large")
        self._counted = part.kind == "large"
        self._inside = part.name if self._counted else b""

    def _read_cut(self, part: Part) -> None:
        """What the document's end leaves open: an entry may have a whole loc."""
        if part.name:
            end, part.stop = part.stop, part.markup[-1].stop
            self._parse(part)
            part.stop = end
        self._document.mark_fault(part.stop)

    def _parse(self, part: Part) -> None:
        """Parse a part, mended if need be; what cannot be parsed is lost, and it alone."""
        document, parser, builder = self._document, self._document.parser, self._document.builder
        path, seen, line = builder.path, self._collector.seen, document.window.line_of(part.start)
        mended = self._mended_part(part)
        met = self._fault_met(part, mended)
        fault = met or parser.parse(mended)
        again = fault is not None and fault.unbound and self._collector.seen == seen
        at = line + self._lines_before(fault, part, mended) if again else line
        if again and parser.declare(_prefixes(document.window.data, part.markup), at):
            document.reopen(path)
            met, fault = None, parser.parse(mended)
        if fault and not fault.local:
            raise XmlFault(fault.code)
        if part.kind == "gap":
            line += self._lines_before(fault, part, mended)
        if fault or builder.entry_start is not None:
            if met is None:
                document.reopen(path)
            told = self._keep_head(part, mended, fault)
            if part.kind != "cut":
                self._lose(part, fault.code if fault else NOT_CLOSED, line, told)
            if part.closes(builder.root_tag):
                builder.close_root()

    def _fault_met(self, part: Part, mended: bytes) -> Fault | None:
        """The fault that the strict parser has met in a part before, unless it was mended."""
        place, fault = self._met or (-1, None)
        same = part.kind == "entry" and place == self._document.window.base + part.start
        return fault if same and mended == self._raw(part) else None

    def _raw(self, part: Part) -> bytes:
        return self._document.window.data[part.start : part.stop]

    def _keep_head(self, part: Part, mended: bytes, fault: Fault | None) -> int:
        """Read what is whole of a broken entry; how many of its locs that told of."""
        document, collector = self._document, self._collector
        path, before = document.builder.path, collector.kept + collector.dropped
        place = self._place_in(part, fault, mended)
        known = (part.markup, part.start) if mended == self._raw(part) else ()
        head = whole_head(mended, place, *known) if part.name else None
        if head and (document.parser.parse(head) or document.builder.entry_start is not None):
            document.reopen(path)
        return collector.kept + collector.dropped - before

    def _place_in(self, part: Part, fault: Fault | None, mended: bytes) -> int:
        return fault.place - self._document.window.base - part.start if fault else len(mended)

    def _lines_before(self, fault: Fault | None, part: Part, mended: bytes) -> int:
        place = self._place_in(part, fault, mended) if fault else 0
        return mended.count(b"\n", 0, max(place, 0))

    def _mended_part(self, part: Part) -> bytes:
        """A part's bytes mended; the ``<`` in it that begin no markup are escaped first."""
        window, piece = self._document.window, self._raw(part)
        for token in reversed(part.markup if part.bare else ()):
            if token.kind == "bare":
                self._findings.add("bare-less-than", line=window.line_of(token.start))
                at = token.start - part.start
                piece = piece[:at] + b"&lt;" + piece[at + 1 :]
        return self._repaired(piece)

    def _lose(self, part: Part, code: str, line: int | None = None, told: int = 0) -> None:
        """Note a part that cannot be read; every loc in it that was not told of counts as an entry
        lost."""
        document, window = self._document, self._document.window
        self._findings.add(code, line=line or window.line_of(part.start))
        lost = part.locs - told
        if part.kind != "gap" and not told:
            lost = max(1, lost)
        if lost > 0:
            data = window.data[part.start : part.stop]
            document.lost += lost
            document.mark_fault(part.start + len(data) - len(data.lstrip()))

    # -- before the root -----------------------------------------------------------------------

    def _read_root(self, *, final: bool) -> bool:
        """Pass over a broken prolog and open the root."""
        document, window, fault = self._document, self._document.window, self._prolog_fault
        assert fault is not None
        token = root_tag(window.data, window.at, _ANY_ROOT, final=final)
        if token is None and not final and len(window) < MAX_PART:
            self._needed = 2 * len(window)
            return False
        if token is None:
            broken = fault.code == "not-well-formed"  # what holds no root at all is something else
            raise XmlFault("not-a-sitemap" if broken else fault.code)
        if not self._open_root(token):
            raise XmlFault(fault.code)
        if not fault.unbound:
            self._findings.add("junk-before", line=window.line_of(token.start))
        self.parts -= 1
        document.go_on(token.stop)
        return True

    def _open_root(self, token: Token) -> bool:
        document, parser, window = self._document, self._document.parser, self._document.window
        tag = window.data[token.start : token.stop]
        if local_name(token) in HTML_ROOTS:
            raise XmlFault("html-page")
        mended = self._repaired(tag)
        document.reopen(())
        fault = parser.parse(mended)
        if (
            fault
            and fault.unbound
            and parser.declare(_prefixes(window.data, [token]), window.line_of(token.start))
        ):
            at = 1 + len(token.name)
            mended = mended[:at] + parser.declarations + mended[at:]
            document.reopen(())
            fault = parser.parse(mended)
        if fault and fault.local:
            self._findings.add("not-well-formed", line=window.line_of(token.start))
            document.reopen(())
            fault = parser.parse(_bare_root(tag, token))
        if fault and not fault.local:
            raise XmlFault(fault.code)
        return fault is None


def _bare_root(tag: bytes, token: Token) -> bytes:
    """A root's tag with nothing but the namespaces that it declares, each once."""
    spaces = {match[1]: match[0] for match in reversed(list(_NAMESPACE.finditer(tag)))}
    end = b"/>" if token.kind == "empty" else b">"
    return b"<" + token.name + b"".join(b" " + space.strip() for space in spaces.values()) + end


def _prefixes(data: bytes, markup: list[Token]) -> set[str]:
    """The prefixes that tags use."""
    found: set[bytes] = set()
    for token in markup:
        if token.name:
            prefix, colon, _ = token.name.partition(b":")
            found.update([prefix] if colon else ())
            found.update(_ATTRIBUTE_PREFIX.findall(data, token.start, token.stop))
    return {prefix.decode("utf-8", "replace") for prefix in found}
