"""Bounded unpacking of a body as it came over the wire: content codings, gzip layers, members."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.codes import Findings, ReadFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_BYTES: Final = 52_428_800
"""Bytes of a sitemap file, before and after unpacking (sitemaps.org protocol, "50MB")."""

MAX_CODINGS: Final = 2
"""Content codings in one response; counted over all headers as curl does since CVE-2023-23916."""

MAX_GZIP_LAYERS: Final = 2
MAX_MEMBERS: Final = 1_000
PIECE: Final = 131_072

_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_CODINGS: Final = {"gzip", "x-gzip"}
_READABLE_CODINGS: Final = _GZIP_CODINGS | {"deflate", "identity"}
_FHCRC, _FEXTRA, _FNAME, _FCOMMENT = 2, 4, 8, 16


class UnpackFault(ReadFault):
    """The body cannot be unpacked any further; what came out before it stays valid."""


class Unpacker:
    """Turn wire bytes into the file's bytes, in pieces, never more than ``max_bytes`` of either.

    ``feed`` and ``close`` yield pieces of at most 128 KiB. A fault raises :class:`UnpackFault`
    *after* everything before it was yielded. Oddities that lose nothing become findings.
    """

    def __init__(
        self, findings: Findings, codings: Sequence[str] = (), max_bytes: int = MAX_BYTES
    ) -> None:
        named = [name for name in map(_normal, codings) if name not in ("", "identity")]
        if len(named) > MAX_CODINGS:
            raise UnpackFault("too-many-codings")
        self.wire = 0
        self.unpacked = 0
        self._findings = findings
        self._max_bytes = max_bytes
        self._unknown = [name for name in named if name not in _READABLE_CODINGS]
        self._gzip_layers_left = MAX_GZIP_LAYERS + sum(name in _GZIP_CODINGS for name in named)
        self._deflate_named = "deflate" in named
        self._layers: list[_Gzip | _Deflate] = []
        self._head = b""
        self._sniffed = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what ``data`` unpacks to; raise :class:`UnpackFault` at a fault or a bound."""
        room = self._max_bytes - self.wire
        self.wire += min(len(data), room)
        yield from self._unpack(data[:room])
        if len(data) > room:
            raise UnpackFault("too-large")

    def close(self) -> Iterator[bytes]:
        """Yield what was still held back; raise when a gzip stream was cut."""
        yield from self._unpack(b"", final=True)
        for depth, layer in enumerate(self._layers):
            for piece in layer.flush():
                yield from self._through(depth + 1, piece)
            layer.close()

    def _unpack(self, data: bytes, final: bool = False) -> Iterator[bytes]:
        if not self._sniffed:
            self._head += data
            if len(self._head) < len(_GZIP_MAGIC) and not final:
                return
            data, self._head, self._sniffed = self._head, b"", True
            self._open_layers(data)
        yield from self._through(0, data)

    def _open_layers(self, head: bytes) -> None:
        if head.startswith(_GZIP_MAGIC):
            self._push_gzip()
        elif self._deflate_named and not head.lstrip().startswith(b"<"):
            self._layers.append(_Deflate(head))
        elif self._unknown:
            if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
                raise UnpackFault("unsupported-coding")
            self._findings.add("unsupported-coding", example=", ".join(self._unknown))

    def _push_gzip(self) -> None:
        if sum(isinstance(layer, _Gzip) for layer in self._layers) >= self._gzip_layers_left:
            raise UnpackFault("bad-gzip")
        self._layers.append(_Gzip(self._findings))

    def _through(self, depth: int, data: bytes) -> Iterator[bytes]:
        """Pass ``data`` through the layers from ``depth`` on; gzip layers open by their magic."""
        if depth == len(self._layers):
            yield from self._count(data)
            return
        layer = self._layers[depth]
        for piece in layer.feed(data):
            if layer.fresh:
                piece = layer.held + piece
                layer.held = b""
                if len(piece) < len(_GZIP_MAGIC):
                    layer.held = piece
                    continue
                layer.fresh = False
                if piece.startswith(_GZIP_MAGIC):
                    self._push_gzip()
                    self._findings.add("double-gzip")
            yield from self._through(depth + 1, piece)

    def _count(self, data: bytes) -> Iterator[bytes]:
        room = self._max_bytes - self.unpacked
        for start in range(0, min(len(data), room), PIECE):
            piece = data[start : min(start + PIECE, room)]
            self.unpacked += len(piece)
            yield piece
        if len(data) > room:
            raise UnpackFault("too-large")


def digest_of(body: bytes, codings: Sequence[str], max_bytes: int = MAX_BYTES) -> bytes | None:
    """SHA-256 of what a body unpacks to, ``None`` when it does not."""
    digest = hashlib.sha256()
    try:
        unpacker = Unpacker(Findings(), codings, max_bytes)
        for start in range(0, len(body), PIECE):
            for piece in unpacker.feed(body[start : start + PIECE]):
                digest.update(piece)
        for piece in unpacker.close():
            digest.update(piece)
    except UnpackFault:
        return None
    return digest.digest()


class _Layer:
    """What both codings share: ``fresh`` until the first bytes of output were looked at."""

    def __init__(self) -> None:
        self.fresh = True
        self.held = b""


class _Deflate(_Layer):
    """A ``deflate`` coding: zlib-wrapped by RFC 9110 8.4.1.2, raw from servers that misread it."""

    def __init__(self, head: bytes) -> None:
        super().__init__()
        wrapped = len(head) > 1 and head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._inflate.eof:
            before = self._inflate.copy()
            try:
                piece = self._inflate.decompress(data, PIECE)
            except zlib.error:
                yield from _salvage(before, data)
                raise UnpackFault("bad-gzip") from None
            yield piece
            data = self._inflate.unconsumed_tail

    def flush(self) -> Iterator[bytes]:
        yield self._inflate.flush()

    def close(self) -> None:
        if not self._inflate.eof:
            raise UnpackFault("truncated-gzip")


class _Gzip(_Layer):
    """One gzip layer (RFC 1952) of any number of members.

    The deflate stream is inflated raw, so that a wrong checksum costs nothing but a finding.
    """

    def __init__(self, findings: Findings) -> None:
        super().__init__()
        self._findings = findings
        self._buffer = b""
        self._inflate: zlib._Decompress | None = None
        self._crc = self._size = self._members = 0
        self._trailing = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._trailing:
            return
        self._buffer += data
        while self._buffer:
            if self._inflate is None and not self._open_member():
                return
            yield from self._read_member()
            if self._inflate is not None and not self._close_member():
                return

    def flush(self) -> Iterator[bytes]:
        """What the inflater holds back when the stream was cut."""
        if self._inflate is not None:
            yield self._inflate.flush()

    def close(self) -> None:
        if self._inflate is not None and self._inflate.eof:
            self._findings.add("gzip-crc")  # all came out; what is cut is the checksum
        elif self._inflate is not None or self._members == 0 or self._buffer:
            raise UnpackFault("truncated-gzip")

    def _open_member(self) -> bool:
        if self._members and not self._buffer.startswith(_GZIP_MAGIC[: len(self._buffer)]):
            if self._buffer.strip(b"\0"):
                self._findings.add("gzip-trailing")
            self._trailing, self._buffer = True, b""
            return False
        size = _header_size(self._buffer)
        if size is None:
            return False
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise UnpackFault("bad-gzip")
        self._buffer = self._buffer[size:]
        self._inflate, self._crc, self._size = zlib.decompressobj(-zlib.MAX_WBITS), 0, 0
        return True

    def _read_member(self) -> Iterator[bytes]:
        inflate = self._inflate
        assert inflate is not None
        while self._buffer and not inflate.eof:
            before = inflate.copy()
            try:
                piece = inflate.decompress(self._buffer, PIECE)
            except zlib.error:
                yield from _salvage(before, self._buffer)
                raise UnpackFault("bad-gzip") from None
            self._buffer = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
            self._crc, self._size = zlib.crc32(piece, self._crc), self._size + len(piece)
            if piece:
                yield piece

    def _close_member(self) -> bool:
        assert self._inflate is not None
        if not self._inflate.eof or len(self._buffer) < 8:
            return False
        trailer, self._buffer = self._buffer[:8], self._buffer[8:]
        expected = self._crc.to_bytes(4, "little") + (self._size & 0xFFFFFFFF).to_bytes(4, "little")
        if trailer != expected:
            self._findings.add("gzip-crc")
        self._inflate = None
        return True


def _salvage(inflate: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """The bytes a damaged deflate stream still gives before the damage, a few at a time."""
    for step in (512, 1):
        while True:
            before = inflate.copy()
            try:
                piece = inflate.decompress(data, step)
            except zlib.error:
                inflate = before
                break
            if not piece:
                return
            data = inflate.unconsumed_tail
            yield piece


def _header_size(data: bytes) -> int | None:
    """Length of a gzip member's header, ``None`` while more bytes are needed (RFC 1952 2.3)."""
    if len(data) < 10:
        return None
    if data[2] != 8:
        raise UnpackFault("bad-gzip")
    flags, at = data[3], 10
    if flags & _FEXTRA:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (_FNAME, _FCOMMENT):
        if flags & flag and at <= len(data):
            end = data.find(b"\0", at)
            if end < 0:
                if len(data) > PIECE:
                    raise UnpackFault("bad-gzip")
                return None
            at = end + 1
    if flags & _FHCRC:
        at += 2
    return at if at <= len(data) else None


def _normal(coding: str) -> str:
    return coding.strip().lower()
