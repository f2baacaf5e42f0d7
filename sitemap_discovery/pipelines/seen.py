"""Which URLs a run has seen, in about ten bytes each."""

from __future__ import annotations

from typing import Final

_BUCKETS: Final = 65_536
_REST: Final = slice(2, 10)


class SeenKeys:
    """A set of 16-byte URL keys for runs of any size.

    The first two bytes of a key choose a bucket, the next eight are kept in it, packed; a set of
    ``bytes`` would take ten times the memory. Two of ten million URLs share these 80 bits with a
    chance of about one in twenty billion.

    >>> seen = SeenKeys()
    >>> seen.add(b"0123456789abcdef"), seen.add(b"0123456789abcdef")
    (True, False)
    """

    def __init__(self) -> None:
        self._buckets: list[bytearray | None] = [None] * _BUCKETS

    def add(self, key: bytes) -> bool:
        """Remember a key; true when it is new."""
        number = key[0] << 8 | key[1]
        rest = key[_REST]
        bucket = self._buckets[number]
        if bucket is None:
            self._buckets[number] = bytearray(rest)
            return True
        if rest in bucket and _holds(bucket, rest):
            return False
        bucket += rest
        return True


def _holds(bucket: bytearray, rest: bytes) -> bool:
    """Whether the bucket holds ``rest`` at the place of a key, not across two."""
    at = bucket.find(rest)
    while at >= 0:
        if at % 8 == 0:
            return True
        at = bucket.find(rest, at + 1)
    return False
