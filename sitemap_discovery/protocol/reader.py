"""Read any sitemap file: wire bytes in, chunks of entries out, and how it ended."""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from sitemap_discovery.protocol.codes import Findings, ReadFault, State
from sitemap_discovery.protocol.collect import Collector
from sitemap_discovery.protocol.detect import BLANKS, SNIFF, Detected, detect, page_code
from sitemap_discovery.protocol.entries import Entries
from sitemap_discovery.protocol.guards import XmlFault
from sitemap_discovery.protocol.text import TextReader
from sitemap_discovery.protocol.unpack import MAX_BYTES, PIECE, Unpacker, UnpackFault
from sitemap_discovery.protocol.xml import XmlReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


MAX_ENTRIES: Final = 50_000
"""Entries of a sitemap or an index (sitemaps.org protocol); what is beyond is kept and reported."""

CODES_OF_KIND: Final = {"empty": "empty-body", "unknown": "not-a-sitemap"}


class FormatReader(Protocol):
    """What reads one format from UTF-8 bytes, in pieces."""

    @property
    def lost(self) -> int:
        """How many entries could not be read."""

    @property
    def error_line(self) -> int | None:
        """The line of the first fault that cost something."""

    @property
    def error_byte(self) -> int | None:
        """The same place in bytes of the UTF-8 text."""

    @property
    def kind(self) -> str | None:
        """``urlset``, ``index`` or ``text`` once it is known."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""

    def close(self) -> None:
        """Take the end."""


FORMATS: Final[dict[str, Callable[[Collector, Findings, int, int], FormatReader]]] = {
    "xml": XmlReader,
    "text": TextReader,
}


@dataclass(slots=True)
class Outcome:
    """How the read of one file ended. Sizes are bytes; ``error_line`` is 1-based.

    ``reason`` is ``ok`` or the code of what cut the read; ``entries_lost`` counts entries that
    gave no URL. ``digest`` is the SHA-256 of the unpacked bytes.
    """

    state: State = State.FAILED
    reason: str = "empty-body"
    kind: str | None = None
    bytes_wire: int = 0
    bytes_unpacked: int = 0
    entries_kept: int = 0
    entries_lost: int = 0
    error_line: int | None = None
    error_byte: int | None = None
    digest: bytes = b""
    findings: Findings = field(default_factory=Findings)


class SitemapReader:
    """Read one file whose address is ``url``: ``feed`` its bytes in steps, then ``close``.

    Both yield :class:`Entries`, pages and files apart, while they read; an empty one where a step
    gave nothing, so that a caller can give way to others. ``codings`` are the values of
    ``Content-Encoding``; dates later than ``now`` (UTC epoch seconds) are not usable. Nothing in
    the bytes raises: :attr:`outcome`, complete after ``close``, says how it went.

    >>> reader = SitemapReader("https://a.example/sitemap.txt")
    >>> [e.locs for e in [*reader.feed(b"https://a.example/x"), *reader.close()] if e.locs]
    [['https://a.example/x']]
    >>> reader.outcome.state.value, reader.outcome.kind
    ('complete', 'text')
    """

    def __init__(
        self,
        url: str,
        *,
        codings: Sequence[str] = (),
        max_bytes: int = MAX_BYTES,
        now: int | None = None,
    ) -> None:
        self.outcome = Outcome()
        self._findings = self.outcome.findings
        self._collector = Collector(url, self._findings, now)
        self._digest = hashlib.sha256()
        self._format: FormatReader | None = None
        self._decoder: codecs.IncrementalDecoder | None = None
        self._head = b""
        self._passed = 0, 1  # offset and line where the document begins
        self._blanks = False  # whether there were more of them than are looked at
        self._reason: str | None = None
        self.closed = False
        try:
            self._unpacker: Unpacker | None = Unpacker(self._findings, codings, max_bytes)
        except UnpackFault as fault:
            self._unpacker, self._reason = None, fault.code

    @property
    def stopped(self) -> bool:
        """Whether a fault or a bound ended the read: further bytes would be ignored."""
        return self._reason is not None

    def feed(self, data: bytes) -> Iterator[Entries]:
        """Yield what the next wire bytes complete."""
        for start in range(0, len(data), PIECE):
            if self._unpacker is None or self.stopped:
                return
            yield from self._read(self._unpacker.feed(data[start : start + PIECE]))

    def close(self, cut: str | None = None) -> Iterator[Entries]:
        """Settle the outcome and yield the rest; ``cut`` names why the bytes end too early."""
        if self.closed:
            return
        self.closed = True
        rest = list(self._drain(cut))
        self._settle()
        yield from rest

    def held(self) -> list[Entries]:
        """Entries held back until the whole file settles their dates, as far as they are settled.

        To be taken before a :meth:`stop`, which gives them up.
        """
        return self._collector.take(final=True)

    def stop(self, reason: str, kept: int) -> None:
        """End the read for a reason of the reader's user, who made use of ``kept`` entries."""
        self._reason, self.closed = reason, True
        self._settle()
        self.outcome.entries_kept = kept
        self.outcome.state = State.PARTIAL if kept else State.SKIPPED

    # -- steps ---------------------------------------------------------------------------------

    def _drain(self, cut: str | None) -> Iterator[Entries]:
        """What is held back. The first fault of the bytes counts; then ``cut``, which explains
        what the format misses at the end."""
        if self._unpacker is not None and not self.stopped:
            yield from self._read(self._unpacker.close())
        fault = self._reason
        if self._format is None and (self._head or not (fault or cut)):
            self._guard(self._open, detect(self._head[:SNIFF]))
        opened = self._reason
        if self._format is not None:
            self._guard(self._finish)
        self._reason = fault or cut or opened or self._reason
        yield from self._collector.take(final=True)

    def _read(self, pieces: Iterator[bytes]) -> Iterator[Entries]:
        while not self.stopped:
            piece = self._guard(next, pieces, b"")
            if not piece:
                return
            self._digest.update(piece)
            self._guard(self._parse, piece)
            yield from self._collector.take() or [Entries()]

    def _guard(self, step: Callable[..., bytes | None], *arguments: object) -> bytes:
        """Run a step; a fault becomes the reason of the read's end."""
        try:
            return step(*arguments) or b""
        except ReadFault as fault:
            self._reason = fault.code
            return b""

    def _parse(self, piece: bytes) -> None:
        if self._format is not None:
            self._format.feed(self._decode(piece))
            return
        self._head += piece
        if len(self._head) < SNIFF:
            return
        found = detect(self._head[:SNIFF])
        if found.kind == "empty":
            self._pass_blanks(found.skip)
            found = detect(self._head[:SNIFF])
        if len(self._head) >= SNIFF:
            self._open(found)

    def _pass_blanks(self, mark: int) -> None:
        """Forget blanks behind a byte order mark; four bytes at a time, as UTF-32 has them."""
        self._blanks = True
        body = self._head[mark:]
        passed = (len(body) - len(body.lstrip(BLANKS))) // 4 * 4
        self._pass(body[:passed])
        self._head = self._head[:mark] + body[passed:]

    def _pass(self, skipped: bytes) -> None:
        offset, line = self._passed
        self._passed = offset + len(skipped), line + skipped.count(b"\n")

    def _open(self, found: Detected) -> None:
        """Choose the format by the head and read it."""
        blanks = "leading-blanks" if self._blanks and found.kind == "xml" else None
        for code in dict.fromkeys((blanks, found.finding)):
            if code:
                self._findings.add(code)
        if found.kind == "html":
            raise XmlFault(page_code(self._head[:SNIFF]))
        if found.kind not in FORMATS:
            raise XmlFault(CODES_OF_KIND[found.kind])
        skipped, head = self._head[: found.skip], self._head[found.skip :]
        self._pass(skipped)
        self._format = FORMATS[found.kind](self._collector, self._findings, *self._passed)
        self._open_decoder(found)
        self._head = b""
        self._format.feed(self._decode(head))

    def _open_decoder(self, found: Detected) -> None:
        if found.encoding:
            self._decoder = codecs.getincrementaldecoder(found.encoding)("replace")

    def _decode(self, data: bytes, *, final: bool = False) -> bytes:
        if self._decoder is None:
            return data
        return self._decoder.decode(data, final).encode("utf-8", "replace")

    def _finish(self) -> None:
        assert self._format is not None
        if self._decoder is not None:
            self._format.feed(self._decode(b"", final=True))
        self._format.close()

    def _settle(self) -> None:
        self._findings.where = None
        outcome, collector = self.outcome, self._collector
        if self._unpacker is not None:
            outcome.bytes_wire = self._unpacker.wire
            outcome.bytes_unpacked = self._unpacker.unpacked
        outcome.digest = self._digest.digest()
        outcome.entries_kept = collector.kept
        outcome.entries_lost = collector.dropped
        if self._format is not None:
            outcome.kind = self._format.kind
            outcome.entries_lost += self._format.lost
            outcome.error_line = self._format.error_line
            outcome.error_byte = self._format.error_byte
            if self._format.lost:
                self._reason = self._reason or "not-well-formed"
        code = "too-many-children" if outcome.kind == "index" else "too-many-urls"
        if collector.kept > MAX_ENTRIES and code not in self._findings:
            self._findings.add(code, collector.kept - MAX_ENTRIES)
        outcome.reason = self._reason or "ok"
        outcome.state = self._state()

    def _state(self) -> State:
        if self._reason is None:
            return State.COMPLETE
        return State.PARTIAL if self._collector.kept else State.FAILED
