"""How large compressed bytes come to be, found out without holding what is inside."""

from __future__ import annotations

import zlib

#: Compressed bytes at a time; zlib makes at most a thousand times as many of them.
_PIECE = 4096
#: Bytes that begin or part no value, in msgpack and in JSON, or one that costs nothing.
_LIGHT = bytes(byte for byte in range(0x80) if byte not in b",[{")


def inflated_size(data: bytes, most: int) -> int:
    """Return the inflated size of zlib data in bytes; stops as soon as it exceeds `most`.

    Takes a few MiB of memory, whatever is inside. Raises zlib.error.
    """
    opener, size = zlib.decompressobj(), 0
    for start in range(0, len(data), _PIECE):
        size += len(opener.decompress(data[start : start + _PIECE]))
        if size > most or opener.eof:
            break
    return size


def most_values(data: bytes | memoryview) -> int:
    """Return how many values decoding msgpack or JSON makes: half of them or more.

    What of a text looks like the begin of a value counts too. An empty object is one byte here and 64 in memory, so the size alone says little.
    """
    pieces = (data[at : at + 2**20] for at in range(0, len(data), 2**20))
    return sum(len(bytes(piece).translate(None, _LIGHT)) for piece in pieces)


def inflated_values(data: bytes, most: int) -> int:
    """Return `most_values` of zlib data; more than `most` as soon as it is more."""
    opener, values = zlib.decompressobj(), 0
    for start in range(0, len(data), _PIECE):
        values += most_values(opener.decompress(data[start : start + _PIECE]))
        if values > most or opener.eof:
            break
    return values
