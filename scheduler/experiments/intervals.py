"""Means with confidence intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec

CONFIDENCE = 0.95


class Interval(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A mean and where the true one lies with 95% confidence.

    With one value alone there is no interval: low and high are None.
    """

    count: int
    mean: float
    low: float | None
    high: float | None


def interval(values: Sequence[float]) -> Interval | None:
    """Return mean and 95% interval by Student's t; None for no values."""
    count = len(values)
    if not count:
        return None
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(count=1, mean=mean, low=None, high=None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half = t_value(count - 1) * math.sqrt(variance / count)
    return Interval(count=count, mean=mean, low=mean - half, high=mean + half)


@lru_cache(maxsize=1024)
def t_value(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return t for which |T| < t with this confidence, by halving.

    Raises ValueError below one degree of freedom.
    """
    if freedom < 1:
        raise ValueError(f"expected at least 1 degree of freedom, got {freedom}")
    low, high = 0.0, 1.0
    while within(high, freedom) < confidence:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def within(t: float, freedom: int) -> float:
    """Return the probability that |T| < t, for whole degrees of freedom.

    A finite sum of powers of cos(atan(t / sqrt(freedom))).
    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7,
    <https://personal.math.ubc.ca/~cbm/aands/>
    """
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    if odd:
        return (angle + sine * total) * 2 / math.pi
    return sine * total
