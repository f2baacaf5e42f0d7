"""Unpacking: layers, members, faults and bounds, over any split of the wire bytes."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_discovery.protocol.codes import Findings
from sitemap_discovery.protocol.unpack import MAX_MEMBERS, Unpacker, UnpackFault

BODY = b"<urlset>" + bytes(range(32, 127)) * 500 + b"</urlset>"
GZIP = gzip.compress(BODY, mtime=0)


def unpack(
    data: bytes, codings: tuple[str, ...] = (), limit: int = 10**7, step: int = 0
) -> tuple[bytes, str | None, Findings]:
    """What came out, the fault if one ended it, and the findings."""
    findings, out = Findings(), b""
    try:
        unpacker = Unpacker(findings, codings, limit)
        size = step or len(data) or 1
        for start in range(0, len(data), size):
            for piece in unpacker.feed(data[start : start + size]):
                out += piece
        for piece in unpacker.close():
            out += piece
    except UnpackFault as fault:
        return out, fault.code, findings
    return out, None, findings


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def with_name(data: bytes) -> bytes:
    """The same member with all optional header fields (RFC 1952 2.3)."""
    extra = b"\x04\x00abcd"
    return data[:3] + b"\x1e" + data[4:10] + extra + b"name.xml\0comment\0" + b"\0\0" + data[10:]


@pytest.mark.parametrize(
    ("data", "codings"),
    [
        pytest.param(BODY, (), id="plain"),
        pytest.param(GZIP, (), id="gzip by magic"),
        pytest.param(GZIP, ("gzip",), id="content-encoding gzip"),
        pytest.param(gzip.compress(GZIP), ("gzip",), id="gz file under content-encoding"),
        pytest.param(gzip.compress(GZIP), (), id="gzip twice"),
        pytest.param(with_name(GZIP), (), id="optional header fields"),
        pytest.param(BODY, ("gzip",), id="coding named, body plain"),
        pytest.param(zlib.compress(BODY), ("deflate",), id="deflate in zlib"),
        pytest.param(raw_deflate(BODY), ("deflate",), id="deflate raw"),
        pytest.param(BODY, ("deflate",), id="deflate named, body plain"),
        pytest.param(gzip.compress(BODY[:99]) + gzip.compress(BODY[99:]), (), id="two members"),
        pytest.param(GZIP + b"\0" * 512, (), id="zero padding"),
        pytest.param(BODY, ("identity",), id="identity"),
        pytest.param(BODY, ("lzma",), id="unknown coding over readable text"),
        pytest.param(b"", (), id="nothing"),
    ],
)
@pytest.mark.parametrize("step", [0, 1000, 7])
def test_readable_bodies_come_out_whole(data: bytes, codings: tuple[str, ...], step: int) -> None:
    out, fault, _ = unpack(data, codings, step=step)
    assert fault is None
    assert out == (BODY if data else b"")


@pytest.mark.parametrize(
    ("data", "codings", "code", "kept"),
    [
        pytest.param(GZIP[:-30], (), "truncated-gzip", True, id="cut"),
        pytest.param(GZIP[:10], (), "truncated-gzip", False, id="header only"),
        pytest.param(GZIP[:5], (), "truncated-gzip", False, id="half a header"),
        pytest.param(GZIP[:10] + b"\xff" * 60, (), "bad-gzip", False, id="damaged"),
        pytest.param(b"\x1f\x8b\x07" + GZIP[3:], (), "bad-gzip", False, id="not deflate"),
        pytest.param(
            gzip.compress(gzip.compress(GZIP)), (), "bad-gzip", False, id="three gzip layers"
        ),
        pytest.param(BODY, ("gzip", "gzip, gzip"), None, True, id="three codings in two headers"),
        pytest.param(b"\x01\x02", ("br",), "unsupported-coding", False, id="unreadable coding"),
        pytest.param(
            gzip.compress(b"") * (MAX_MEMBERS + 1), (), "bad-gzip", False, id="endless members"
        ),
    ],
)
def test_faults_keep_what_came_before(
    data: bytes, codings: tuple[str, ...], code: str | None, kept: bool
) -> None:
    names = [part for line in codings for part in line.split(",")]
    out, fault, _ = unpack(data, tuple(names))
    assert fault == (code or "too-many-codings")
    assert BODY.startswith(out)
    assert bool(out) is (kept and code is not None)


def test_damage_in_the_middle_keeps_the_bytes_before_it() -> None:
    body = b"".join(b"line %d of a long file\n" % i for i in range(50_000))
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(body) + packer.flush(zlib.Z_FULL_FLUSH)
    no_such_block_type = b"\xff"
    out, fault, _ = unpack(packed + no_such_block_type * 50)
    assert fault == "bad-gzip"
    assert body.startswith(out)
    assert len(body) - len(out) <= 1


def test_damage_in_a_deflated_body_keeps_the_bytes_before_it() -> None:
    body = b"".join(b"line %d of a long file\n" % i for i in range(50_000))
    packer = zlib.compressobj()
    packed = packer.compress(body) + packer.flush(zlib.Z_FULL_FLUSH)
    out, fault, _ = unpack(packed + b"\xff" * 50, ("deflate",))
    assert fault == "bad-gzip"
    assert body.startswith(out)
    assert len(body) - len(out) <= 1


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (GZIP[:-8] + b"\0\0\0\0" + GZIP[-4:], "gzip-crc"),
        (GZIP[:-4] + b"\0\0\0\1", "gzip-crc"),
        (GZIP[:-8], "gzip-crc"),
        (GZIP[:-3], "gzip-crc"),
        (GZIP + b"<!-- cached -->", "gzip-trailing"),
        (gzip.compress(GZIP), "double-gzip"),
    ],
    ids=["checksum", "length", "no checksum", "half a length", "trailing junk", "gzip twice"],
)
def test_oddities_that_lose_nothing_are_findings(data: bytes, code: str) -> None:
    out, fault, findings = unpack(data)
    assert (out, fault) == (BODY, None)
    assert code in findings


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_unpacked_bytes_are_bounded(layers: int) -> None:
    data = b"<" + b" " * 3_000_000
    for _ in range(layers):
        data = gzip.compress(data)
    out, fault, _ = unpack(data, limit=1_000_000)
    assert fault == "too-large"
    assert len(out) == 1_000_000


def test_bytes_on_the_wire_are_bounded_before_they_are_unpacked() -> None:
    packed = gzip.compress(BODY, compresslevel=0)
    out, fault, _ = unpack(packed, limit=len(packed) - 100)
    assert fault == "too-large"
    assert BODY.startswith(out)


@given(st.binary(max_size=300), st.lists(st.integers(1, 60), max_size=20))
def test_any_bytes_in_any_steps_are_safe(data: bytes, steps: list[int]) -> None:
    whole = unpack(data)
    split = unpack(data, step=steps[0] if steps else 1)
    assert whole[:2] == split[:2]


@given(st.binary(max_size=2000), st.integers(0, 2000))
def test_a_cut_gives_a_prefix(data: bytes, cut: int) -> None:
    out, _, _ = unpack(gzip.compress(data)[:cut])
    assert data.startswith(out) or cut < 2
