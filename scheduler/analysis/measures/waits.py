"""How long work waited: the one definition that every view and report uses.

A wait lasts from the arrival to the first start. Of what never started it is not known
but for a lower bound, what it has waited so far (to the horizon of a run); it counts
with that, and how many such there are stands beside every figure. So work that
starves never makes a wait look short.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """Waits in order (ms), those of what never started among them as lower bounds."""

    ordered: list[int]
    never_started: int

    @property
    def mean_ms(self) -> float | None:
        """Return the mean; None for nothing."""
        return sum(self.ordered) / len(self.ordered) if self.ordered else None

    @property
    def max_ms(self) -> float | None:
        """Return the longest; None for nothing."""
        return float(self.ordered[-1]) if self.ordered else None

    def quantile(self, share: float) -> float | None:
        """Return a quantile by linear interpolation; None for nothing."""
        return quantile(self.ordered, share)


def waits_of(subjects: Iterable[tuple[int, int | None]], end_ms: int) -> Waits:
    """Return the waits of subjects, each (arrival, first start or None) in ms.

    `end_ms` is up to when what never started has waited. O(n log n).
    """
    waits, never = [], 0
    for arrived_ms, started_ms in subjects:
        if started_ms is None:
            never += 1
            started_ms = max(end_ms, arrived_ms)
        waits.append(started_ms - arrived_ms)
    return Waits(ordered=sorted(waits), never_started=never)


# ------------------------------------------------------------------------
# Plain statistics of a list of numbers.


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


# ------------------------------------------------------------------------
# Which way a measure is better: low, high, or neither.


Direction = Literal["low", "high"]

#: By the first part of the dotted name, or by the last one within a class.
_BETTER: dict[str, Direction] = {
    "admitted": "high",
    "finished": "high",
    "started": "high",
    "waiting": "low",
    "preemptions": "low",
    "evictions": "low",
    "waitMeanMs": "low",
    "neverStarted": "low",
    "waitP50Ms": "low",
    "waitP95Ms": "low",
    "waitMaxMs": "low",
    "makespanMs": "low",
    "workLostMs": "low",
    "workLost": "low",
    "restarts": "low",
    "goodput": "high",
    "utilisation": "high",
    "fragmentation": "low",
    "shareError": "low",
    "timeToFairMs": "low",
    "timeToFairMaxMs": "low",
    "unfairSpans": "low",
    "searches": "low",
    "candidatesLookedAt": "low",
    "simulations": "low",
    "jain": "high",
    "withinLimit": "high",
    "schedulingMs": "low",
    "meanMs": "low",
    "p50Ms": "low",
    "p95Ms": "low",
    "maxMs": "low",
    "meanLastMs": "low",
    "slowdown": "low",
    "slowdownRatio": "low",
    "preemptionsPerHour": "low",
    "evictionsPerHour": "low",
    "cost": "low",
}


def better(measure: str) -> Direction | None:
    """Return which way a measure is better, by its dotted name.

    None for what is neither: how long a run was, what one queue used.
    """
    first, _, rest = measure.partition(".")
    if first in ("classes", "queues", "workloads"):
        return _BETTER.get(rest.rpartition(".")[2])
    return _BETTER.get(first)
