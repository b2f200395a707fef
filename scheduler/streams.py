"""Random numbers without state: one stream per purpose and subject.

Each draw depends only on (seed, purpose, subject, n), so a new draw somewhere
never shifts another, and a replay needs nothing but the counter.
"""

from __future__ import annotations

import hashlib
import math
import uuid

_SCALE = 2.0**-53


def bits(seed: int, purpose: str, subject: str, n: int = 0) -> int:
    """Return 64 random bits for draw `n` of this purpose and subject."""
    text = f"{seed}\x1f{purpose}\x1f{subject}\x1f{n}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def uniform(seed: int, purpose: str, subject: str, n: int = 0) -> float:
    """Return a float in [0, 1)."""
    return (bits(seed, purpose, subject, n) >> 11) * _SCALE


def exponential(
    seed: int, purpose: str, subject: str, n: int = 0, *, mean: float
) -> float:
    """Return an exponentially distributed float with this mean."""
    return -mean * math.log(1.0 - uniform(seed, purpose, subject, n))


def choose(seed: int, purpose: str, subject: str, n: int, *, among: int) -> int:
    """Return an index in 0..among-1."""
    return bits(seed, purpose, subject, n) % among


def uid(seed: int, kind: str, namespace: str, name: str, ordinal: int = 0) -> str:
    """Return the reproducible UID of an object that was given none."""
    space = uuid.uuid5(uuid.NAMESPACE_OID, f"quotalab/{seed}")
    return str(uuid.uuid5(space, f"{kind}/{namespace}/{name}/{ordinal}"))
