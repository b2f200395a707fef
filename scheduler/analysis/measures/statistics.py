"""Plain statistics of a list of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def quantile(ordered: Sequence[int], share: float) -> float | None:
    """Return a quantile by linear interpolation; None for nothing."""
    if not ordered:
        return None
    at = share * (len(ordered) - 1)
    low, high = math.floor(at), math.ceil(at)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def jain(shares: Iterable[float]) -> float | None:
    """Return Jain's index: 1 = all equal, 1/n = one has everything.

    None when nobody has anything.
    Source: Jain, Chiu and Hawe, A Quantitative Measure of Fairness, 1984,
    <https://arxiv.org/abs/cs/9809099>
    """
    shares = list(shares)
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else None
