"""What is forecast without a model: from the last waits in the same queue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from scheduler.analysis.forecast.scores import LEVELS, quantiles

MOST_WAITS = 100
CONFIDENCE = 0.95


def last_waits(waits: Sequence[int], age_ms: int) -> list[float]:
    """Return quantiles of the rest of a wait, as the last waits in the queue were.

    Of them those count that were longer than it has waited; all, where none was.
    """
    return quantiles(_rest(waits, age_ms))


def binomial_bound(waits: Sequence[int], age_ms: int) -> list[float]:
    """Return bounds that the quantiles are below with CONFIDENCE, from order statistics.

    Source: Nurmi, Brevik and Wolski, QBETS: Queue Bounds Estimation from Time
    Series, 2007, <https://doi.org/10.1007/978-3-540-78699-3_5>
    """
    ordered = _rest(waits, age_ms)
    return [ordered[_rank(len(ordered), level)] for level in LEVELS]


def _rest(waits: Sequence[int], age_ms: int) -> list[float]:
    last = waits[-MOST_WAITS:]
    longer = sorted(float(wait - age_ms) for wait in last if wait > age_ms)
    return longer or sorted(float(wait) for wait in last) or [0.0]


@lru_cache(maxsize=8192)
def _rank(count: int, level: float) -> int:
    """Return the index of the order statistic that bounds a quantile from above."""
    below = 0.0
    for k in range(count):
        below += math.comb(count, k) * level**k * (1.0 - level) ** (count - k)
        if below >= CONFIDENCE:
            return k
    return count - 1
