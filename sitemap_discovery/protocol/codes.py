"""The vocabulary of outcomes: file states, problem codes, and the findings that carry them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


PAGE: Final = "page"
"""The kind of a file that an index names and that is a page: the only URL it lists is its own."""


class State(str, Enum):
    """How the read of one file ended."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    SKIPPED = "skipped"

    def __str__(self) -> str:
        return self.value


class Severity(str, Enum):
    """How much a problem costs: an error loses data, a warning may, a note does not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Problem:
    """One row of the vocabulary: what a code means and what the site's owner can do about it."""

    code: str
    severity: Severity
    meaning: str
    remedy: str


@dataclass(slots=True)
class Finding:
    """A problem met in one file: how often, where first (1-based line) and one example."""

    code: str
    count: int = 1
    line: int | None = None
    example: str | None = None


class ReadFault(Exception):
    """The bytes cannot be read any further; ``code`` is the problem.

    ::

        ReadFault
        ├── UnpackFault   codings, gzip layers, the bounds of bytes
        └── XmlFault      guards and bounds of the document, or it is broken
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


EXAMPLE_LENGTH: Final = 200


@dataclass(slots=True)
class Findings:
    """The findings of one file, one per code, in the order they were first met.

    ``where`` tells the line that the reader is at, for findings that are given none.

    >>> found = Findings()
    >>> found.add("loc-scheme", line=3, example="ftp://example.com/")
    >>> found.add("loc-scheme")
    >>> found["loc-scheme"].count, found["loc-scheme"].line
    (2, 3)
    """

    by_code: dict[str, Finding] = field(default_factory=dict)
    where: Callable[[], int | None] | None = field(default=None, repr=False, compare=False)

    def add(
        self, code: str, count: int = 1, *, line: int | None = None, example: str | None = None
    ) -> None:
        """Count ``code``; the first line and example stay, later ones are only counted."""
        finding = self.by_code.get(code)
        if finding is None:
            if line is None and self.where is not None:
                line = self.where()
            self.by_code[code] = Finding(code, count, line, _shortened(example))
            return
        finding.count += count
        if line is not None and finding.line is not None and line < finding.line:
            finding.line, finding.example = line, _shortened(example)

    def wants_line(self, code: str, line: int) -> bool:
        """Whether something at ``line`` or later could be the first of its code."""
        finding = self.by_code.get(code)
        return finding is None or finding.line is None or line < finding.line

    def __getitem__(self, code: str) -> Finding:
        return self.by_code[code]

    def __contains__(self, code: object) -> bool:
        return code in self.by_code

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.by_code.values())

    def __len__(self) -> int:
        return len(self.by_code)

    def __bool__(self) -> bool:
        return bool(self.by_code)


def _shortened(example: str | None) -> str | None:
    return None if example is None else example[:EXAMPLE_LENGTH]
