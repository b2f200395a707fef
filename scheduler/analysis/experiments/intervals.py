"""Means with confidence intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np

CONFIDENCE = 0.95
_RESAMPLES = 4000


class Interval(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A mean and where the true one lies with 95% confidence.

    With one value alone there is no interval: low and high are None.
    """

    count: int
    mean: float
    low: float | None
    high: float | None


def interval(values: Sequence[float], *, least: float = -math.inf) -> Interval | None:
    """Return mean and 95% interval by Student's t; None for no values.

    Where that would go below what no value can (`least`), t does not fit them, and
    the interval is had by bootstrap: the same values, in whatever order, give the
    same one.
    """
    count = len(values)
    if not count:
        return None
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(count=1, mean=mean, low=None, high=None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half = t_value(count - 1) * math.sqrt(variance / count)
    low, high = mean - half, mean + half
    if low < least <= min(values):
        low, high = bootstrap(values)
    return Interval(count=count, mean=mean, low=low, high=high)


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95% interval of the mean by resampling, of at least two values.

    Quantiles of the means of resamples, further out the fewer values there are, as
    plain ones are too narrow then; never beyond the values themselves.
    Source: Hesterberg, What Teachers Should Know About the Bootstrap, section 3.4,
    <https://arxiv.org/abs/1411.5279>
    """
    count = len(values)
    drawn = np.random.default_rng(1).integers(count, size=(_RESAMPLES, count))
    means = np.sort(np.asarray(values, dtype=np.float64))[drawn].mean(axis=1)
    far = math.sqrt(count / (count - 1)) * t_value(count - 1)
    tail = math.erfc(far / math.sqrt(2)) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


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
