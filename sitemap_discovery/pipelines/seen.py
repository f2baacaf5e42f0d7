"""Which URLs a run has seen, in about ten bytes each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable

_BUCKETS: Final = 16_384


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

    def add_all(self, keys: Iterable[bytes], group: str = "") -> list[bool]:
        """Remember keys; for each whether it is new in its group (an origin)."""
        salt = crc32(group.encode()) % _BUCKETS
        buckets = self._buckets
        new = []
        for key in keys:
            number = (key[0] << 6 | key[1] >> 2) ^ salt
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


def _holds(bucket: bytearray, rest: bytes) -> bool:
    """Whether the bucket holds ``rest`` at the place of a key, not across two."""
    at = bucket.find(rest)
    while at >= 0:
        if at % 8 == 0:
            return True
        at = bucket.find(rest, at + 1)
    return False
