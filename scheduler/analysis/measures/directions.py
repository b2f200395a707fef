"""Which way a measure is better: low, high, or neither."""

from __future__ import annotations

from typing import Literal

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
