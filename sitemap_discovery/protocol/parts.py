"""A broken document cut into its entries and what lies between, so that each is read by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.markup import Token, local_name, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

MAX_PART: Final = 1_048_576
"""Bytes of an entry, or between two, that are held back to mend them."""


@dataclass(slots=True)
class Part:
    """The bytes ``[start, stop)`` and their markup.

    ``kind`` is ``entry``; ``gap`` for what lies around entries; ``open`` for an entry that
    another begins in; ``large`` for one longer than :data:`MAX_PART`; ``cut`` for what the
    document's end leaves unfinished. ``bare`` counts the ``<`` in it that begin no markup,
    ``name`` is that of its entry.
    """

    start: int
    kind: str = "gap"
    stop: int = -1
    markup: list[Token] = field(default_factory=list)
    bare: int = 0
    name: bytes = b""

    @property
    def is_in_loc(self) -> bool:
        """Whether its last tag opens a ``loc``."""
        last = next((token for token in reversed(self.markup) if token.name), None)
        return last is not None and last.kind == "open" and local_name(last) == "loc"

    @property
    def locs(self) -> int:
        """How many ``loc`` begin in it."""
        return sum(
            1 for token in self.markup if token.kind == "open" and local_name(token) == "loc"
        )

    def closes(self, name: bytes) -> bool:
        """Whether it ends with the closing tag of that (folded) name."""
        last = self.markup[-1] if self.markup else None
        return last is not None and last.kind == "close" and last.name.lower() == name

    def ends(self, kind: str, stop: int) -> Part:
        """This part, complete."""
        self.kind, self.stop = kind, stop
        return self


def next_part(
    data: bytes,
    start: int,
    entries: AbstractSet[bytes],
    root: bytes,
    *,
    final: bool,
    inside: bytes = b"",
) -> Part | None:
    """The part at ``start``, where no markup is open; ``None`` when more bytes are needed.

    ``entries`` are the folded names of the tags that are entries, ``root`` the root's, ``inside``
    that of an entry whose beginning is not there any more.
    """
    part, entry, nested = Part(start, name=inside), inside, 0
    for token in tokens(data, start, final=final):
        name = token.name.lower()
        if entry and name in entries and token.kind == "open" and part.is_in_loc:
            nested += 1  # some write <loc><url>…</url></loc>
        elif nested and name == entry and token.kind == "close":
            nested -= 1
            name = b""
        elif name in entries and token.kind in ("open", "empty"):
            if entry or token.start > start:
                return part.ends("open" if entry else "gap", token.start)
            entry = part.name = name
        if token.kind == "close" and name == root and entry:
            return part.ends("open", token.start)
        if token.kind != "rest":
            part.markup.append(token)
        if token.kind == "bare":
            part.bare += 1
        if entry and name == entry and token.kind in ("close", "empty"):
            return part.ends("entry", token.stop)
        if token.kind == "close" and name == root:
            return part.ends("gap", token.stop)
    if final:
        return part.ends("cut", len(data))
    if len(data) - start > MAX_PART:
        return part.ends("large" if entry else "gap", token.start)
    return None


def whole_head(
    entry: bytes, fault: int, markup: Iterable[Token] | None = None, start: int = 0
) -> bytes | None:
    """A broken entry, closed behind the last child that is whole before the fault.

    ``None`` when no ``loc`` is among these children. ``markup`` are its tokens, if they are known,
    counted from ``start``.

    >>> whole_head(b"<url><loc>https://a.example/</loc><lastmod>2026</last></url>", fault=52)
    b'<url><loc>https://a.example/</loc></url>'
    """
    within: list[bytes] = []
    stop, has_loc = 0, False
    for token in markup or tokens(entry):
        if token.stop - start > fault:
            break
        if token.kind == "open":
            within.append(token.name)
        elif token.kind == "close":
            within.pop()
        if token.kind in ("close", "empty") and len(within) == 1:
            stop, has_loc = token.stop - start, has_loc or local_name(token) == "loc"
    return entry[:stop] + b"</%b>" % within[0] if has_loc else None


def prolog_end(data: bytes, start: int, kinds: AbstractSet[str], *, final: bool) -> int:
    """The end of the tag that opens a root, or of what is whole before there is one."""
    for token in tokens(data, start, final=final):
        if token.kind in ("open", "empty") and local_name(token) in kinds:
            return token.stop
    return len(data) if final else token.start


def root_tag(data: bytes, start: int, kinds: AbstractSet[str], *, final: bool) -> Token | None:
    """The first tag that opens a root of one of the kinds, whatever comes before it."""
    for token in tokens(data, start, final=final):
        if token.kind in ("open", "empty") and local_name(token) in kinds:
            return token
    return None
