"""How large compressed bytes come to be, found out without holding what is inside."""

from __future__ import annotations

import zlib

#: Compressed bytes at a time; zlib makes at most a thousand times as many of them.
_PIECE = 4096


def inflated_size(data: bytes, most: int) -> int:
    """Return how many bytes zlib data come to; more than `most` as soon as it is more.

    Takes a few MiB of memory, whatever is inside. Raises zlib.error.
    """
    opener, size = zlib.decompressobj(), 0
    for start in range(0, len(data), _PIECE):
        size += len(opener.decompress(data[start : start + _PIECE]))
        if size > most or opener.eof:
            break
    return size
