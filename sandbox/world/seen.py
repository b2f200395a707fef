"""What was seen of a real cluster, as bytes: small, and the same for ever."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec

from scheduler.recorded.twin.observing import ObservedChange

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[ObservedChange]).decode


def pack(seen: Sequence[ObservedChange]) -> bytes:
    """Return changes as bytes; nothing seen is no bytes."""
    return zlib.compress(_encode(list(seen)), 6) if seen else b""


def unpack(body: bytes) -> list[ObservedChange]:
    """Return the changes that `pack` wrote."""
    return _decode(zlib.decompress(body)) if body else []
