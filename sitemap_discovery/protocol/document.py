"""A document while it is read: its bytes, the strict parser that stands in it, what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_discovery.protocol.markup import tokens
from sitemap_discovery.protocol.strict import EntryParser
from sitemap_discovery.protocol.window import Window

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector
    from sitemap_discovery.protocol.tree import Wrapper


class Document:
    """What those who read a document share. Indices are of the window's data.

    ``lost`` counts entries that could not be read; ``error_line`` and ``error_byte`` are the place
    of the first fault that cost something.
    """

    def __init__(self, collector: Collector, findings: Findings, offset: int, line: int) -> None:
        self.lost = 0
        self.error_line: int | None = None
        self.error_byte: int | None = None
        self.window = Window(offset, line)
        self.parser = EntryParser(collector, findings)
        self.builder = self.parser.builder

    @property
    def stands(self) -> bool:
        """Whether everything was read up to between two entries."""
        return self.window.given == self.window.at and self.builder.between_entries

    def reopen(self, path: tuple[Wrapper, ...]) -> None:
        """A fresh strict parser, inside the elements of ``path``, for what comes next."""
        self.parser.reopen(path, self.window.base + self.window.at)

    def go_on(self, stop: int) -> None:
        """Be done with what comes before ``stop``; the strict parser is to see what follows."""
        self.window.rewind(stop)
        self.parser.place(self.window.base + stop)

    def index_of(self, parser_index: int) -> int:
        """Where one of the strict parser's byte indices is."""
        return self.parser.place_of(parser_index) - self.window.base

    def end_of(self, started: int | None, ended: int) -> int:
        """Where an element ends, of which the parser met start and end at two of its indices; the
        start may be ``None`` when it lies far back.

        The end of an empty tag is met behind it.
        """
        data = self.window.data
        if started is not None:
            tag = next(tokens(data, self.index_of(started)))
            if tag.kind == "empty":
                return tag.stop
        return next(tokens(data, self.index_of(ended))).stop

    def mark_fault(self, index: int) -> None:
        """Note the place of a fault, if it is the first."""
        if self.error_line is None:
            self.error_line = self.window.line_of(index)
            self.error_byte = self.window.offset_of(index)
