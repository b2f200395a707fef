"""Random numbers without state: one stream per purpose and subject.

Each draw depends only on (seed, purpose, subject, n), so a new draw somewhere
never shifts another, and a replay needs nothing but the counter.
"""

from __future__ import annotations

import hashlib
import math
import uuid
from functools import lru_cache
from statistics import NormalDist

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


def normal(seed: int, purpose: str, subject: str, n: int = 0) -> float:
    """Return a normally distributed float: mean 0, standard deviation 1."""
    share = uniform(seed, purpose, subject, n)
    return NormalDist().inv_cdf(min(max(share, _SCALE), 1.0 - _SCALE))


def choose(seed: int, purpose: str, subject: str, n: int, *, among: int) -> int:
    """Return an index in 0..among-1."""
    return bits(seed, purpose, subject, n) % among


def uid(seed: int, kind: str, namespace: str, name: str, ordinal: int = 0) -> str:
    """Return the reproducible UID of an object that was given none."""
    subject = f"{kind}/{namespace}/{name}/{ordinal}".encode()
    digest = bytearray(
        hashlib.sha1(_space(seed) + subject, usedforsecurity=False).digest()
    )
    digest[6] = digest[6] & 0x0F | 0x50  # version 5
    digest[8] = digest[8] & 0x3F | 0x80  # of RFC 9562
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}"


@lru_cache(maxsize=64)
def _space(seed: int) -> bytes:
    """Return the name space of the UIDs of a seed."""
    return uuid.uuid5(uuid.NAMESPACE_OID, f"quotalab/{seed}").bytes
