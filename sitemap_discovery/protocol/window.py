"""The bytes of a document that are still needed, and where in the document they stand."""

from __future__ import annotations


class Window:
    """A buffer that forgets what was consumed but not how much it was.

    ``data[at:]`` is what is left; ``given`` is how far the strict parser has seen. ``offset`` is
    the place of ``data[0]`` in the document, in bytes.
    """

    __slots__ = ("_line", "at", "data", "given", "offset")

    def __init__(self, offset: int = 0, line: int = 1) -> None:
        self.data = b""
        self.at = self.given = 0
        self.offset = offset
        self._line = line

    def __len__(self) -> int:
        return len(self.data) - self.at

    def append(self, data: bytes) -> None:
        """Take the next bytes and let go of those consumed."""
        self.offset += self.at
        self.given -= self.at
        self.data = self.data[self.at :] + data
        self.at = 0

    def consume(self, stop: int) -> None:
        """Be done with what comes before the index ``stop``."""
        self._line += self.data.count(b"\n", self.at, stop)
        self.at = stop
        self.given = max(self.given, stop)

    def rewind(self, start: int) -> None:
        """Consume up to ``start`` and let the strict parser, a fresh one, see what follows."""
        self.consume(start)
        self.given = start

    def replace(self, stop: int, data: bytes) -> None:
        """Put mended bytes of as many lines in the place of those up to ``stop``."""
        self.offset += stop - self.at - len(data)  # what follows keeps its place
        self.data = self.data[: self.at] + data + self.data[stop:]

    def line_of(self, index: int) -> int:
        """The 1-based line at an index that is not consumed."""
        return self._line + self.data.count(b"\n", self.at, index)
