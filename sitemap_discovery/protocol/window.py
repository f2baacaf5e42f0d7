"""The bytes of a document that are still needed, and where in the document they stand."""

from __future__ import annotations


class Window:
    """A buffer that forgets what was consumed but not how much it was.

    ``data[at:]`` is what is left; ``given`` is how far the strict parser has seen. ``base`` is the
    place of ``data[0]`` in all that was ever in the window, which differs from its place in the
    document (:meth:`offset_of`) once bytes were replaced by mended ones. ``offset`` and ``line``
    are where the document begins.
    """

    __slots__ = ("_line", "_offset", "_raw", "_seam", "at", "base", "data", "given")

    def __init__(self, offset: int = 0, line: int = 1) -> None:
        self.data = b""
        self.at = self.given = self.base = 0
        self._offset = offset  # of data[0] in the document
        self._line = line  # at ``at``
        self._seam = 0  # where the bytes end that were replaced
        self._raw = b""  # the rest of what they replaced, as the document has it

    def __len__(self) -> int:
        return len(self.data) - self.at

    def append(self, data: bytes) -> None:
        """Take the next bytes and let go of those consumed."""
        self.base += self.at
        self.given -= self.at
        self._seam -= self.at
        self._offset += self.at
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
        raw = self.data[self.at : stop]
        self._offset += len(raw) - len(data)  # what follows keeps its place
        self._seam, self._raw = self.at + len(data), raw
        self.data = self.data[: self.at] + data + self.data[stop:]

    def line_of(self, index: int) -> int:
        """The 1-based line at an index that is not consumed."""
        return self._line + self.data.count(b"\n", self.at, index)

    def offset_of(self, index: int) -> int:
        """The place in the document of a tag, or of anything behind the bytes that were mended.

        Mending changes no tag's beginning: as many like it follow in the raw bytes.
        """
        if index >= self._seam:
            return self._offset + index
        mark = self.data[index : index + 4]
        at = len(self._raw)
        for _ in range(self.data.count(mark, index, self._seam)):
            at = max(self._raw.rfind(mark, 0, at), 0)
        return self._offset + self._seam - len(self._raw) + at
