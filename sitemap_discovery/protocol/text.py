"""Sitemaps as plain text: one URL a line (sitemaps.org, "Text file")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.urls import are_clean

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector

MAX_LINE: Final = 16_384
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_ADDRESS: Final = re.compile(r"(?:https?:)?//\S", re.IGNORECASE)


class TextReader:
    """Read URLs from UTF-8 bytes, one a line whatever ends it; other lines are counted."""

    kind: str | None = "text"
    lost = 0
    error_line: int | None = None
    error_byte: int | None = None

    def __init__(
        self, collector: Collector, findings: Findings, offset: int = 0, line: int = 1
    ) -> None:
        self._collector = collector
        self._findings = findings
        self._rest = b""
        self._line = line - 1
        findings.where = lambda: self._line

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the file."""
        held = b"\r" if data.endswith(b"\r") else b""
        data = self._rest + (data[:-1] if held else data)
        *lines, rest = _LINE_END.split(data)
        if len(rest) > MAX_LINE:
            rest = rest[: MAX_LINE + 1]  # a line that long gives no URL, however it goes on
        self._rest = rest + held
        if not self._read_clean(lines):
            for line in lines:
                self._read(line)

    def close(self) -> None:
        """Read the last line."""
        self._read(self._rest)
        self._rest = b""

    def _read_clean(self, lines: list[bytes]) -> bool:
        """Take a piece whose every line is a URL that needs no work, as nearly all are."""
        texts = b"\n".join(lines).decode("utf-8", "replace").split("\n") if lines else []
        if not texts or not are_clean(texts):
            return False
        self._line += len(texts)
        self._collector.seen += len(texts)
        self._collector.add_clean(texts)
        return True

    def _read(self, line: bytes) -> None:
        self._line += 1
        text = line.decode("utf-8", "replace").strip()
        if not text:
            return
        if text.startswith("#"):
            self._findings.add("text-comment", example=text)
        elif len(line) > MAX_LINE or not _ADDRESS.match(text):
            self._findings.add("text-junk", example=text)
        else:
            self._collector.seen += 1
            self._collector.add("url", (text,), {}, None)
