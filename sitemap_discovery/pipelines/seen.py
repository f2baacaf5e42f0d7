"""Which URLs a run has seen, in about ten bytes each."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_BUCKETS: Final = 16_384
_KEPT: Final = 10
"""Bytes of a key that are looked at: two choose the bucket, eight are kept in it."""


class SeenKeys:
    """A set of 16-byte URL keys for runs of any size.

    The first 14 bits of a key choose a bucket, eight of its bytes are kept there, packed; a set of
    ``bytes`` would take ten times the memory. That two of ten million URLs share these 78 bits has
    a chance of one in six billion.

    >>> seen = SeenKeys()
    >>> seen.add_all([b"0123456789abcdef", b"0123456789abcdef"])
    [True, False]
    """

    def __init__(self) -> None:
        self._buckets: list[bytearray | None] = [None] * _BUCKETS
        self._first: str | None = None

    def add_all(self, keys: Sequence[bytes], group: str = "") -> list[bool]:
        """Remember keys; for each whether it is new in its group (an origin)."""
        self._first = group if self._first is None else self._first
        if group != self._first:  # most runs have one group, whose keys stay as they are
            keys = _salted(keys, group)
        buckets = self._buckets
        new = []
        for key in keys:
            number = key[0] << 6 | key[1] >> 2
            rest = key[2:10]
            bucket = buckets[number]
            if bucket is None:
                buckets[number] = bytearray(rest)
            elif rest in bucket and _holds(bucket, rest):
                new.append(False)
                continue
            else:
                bucket += rest
            new.append(True)
        return new


def _salted(keys: Sequence[bytes], group: str) -> list[bytes]:
    """Keys that are others in every group."""
    salt = blake2b(group.encode(), digest_size=_KEPT).digest()
    size = _KEPT * len(keys)
    joined = int.from_bytes(b"".join(key[:_KEPT] for key in keys), "big")
    mixed = (joined ^ int.from_bytes(salt * len(keys), "big")).to_bytes(size, "big")
    return [mixed[at : at + _KEPT] for at in range(0, size, _KEPT)]


def _holds(bucket: bytearray, rest: bytes) -> bool:
    """Whether the bucket holds ``rest`` at the place of a key, not across two."""
    at = bucket.find(rest)
    while at >= 0:
        if at % 8 == 0:
            return True
        at = bucket.find(rest, at + 1)
    return False
