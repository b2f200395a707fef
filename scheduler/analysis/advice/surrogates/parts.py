"""Measures of all queues by those of each queue, which fewer settings rule."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from scheduler.analysis.advice.goal import Numbers

Array = npt.NDArray[np.float64]
_PARTS = {"workloads.meanMs": "meanMs", "slowdownRatio": "slowdown"}
#: With more queues the whole is guessed at by itself.
MOST_PARTS = 16


def parts_of(measure: str, numbers: Numbers) -> list[str]:
    """Return the queues' measures that this one is made of; itself where of none."""
    last = _PARTS.get(measure)
    if last is None:
        return [measure]
    found = [
        name
        for name in sorted(numbers)
        if name.startswith("queues.") and name.endswith(f".{last}")
    ]
    return found if 1 < len(found) <= MOST_PARTS else [measure]


def whole_of(measure: str, parts: Mapping[str, Array], numbers: Numbers) -> Array:
    """Return a measure of all queues, from those of each queue in `parts`.

    `numbers` say how much came to each queue, which weighs its part.
    """
    if measure in parts:
        return parts[measure]
    names = parts_of(measure, numbers)
    if measure == "slowdownRatio":
        each = [parts[name] for name in names]
        least: Array = np.maximum(np.minimum.reduce(each), 1.0)
        highest: Array = np.maximum.reduce(each)
        return highest / least
    came = [numbers.get(_arrived(name), 0.0) for name in names]
    weights = [one / (math.fsum(came) or 1.0) for one in came]
    total: Array = np.zeros_like(parts[names[0]])
    for name, weight in zip(names, weights, strict=True):
        total += weight * parts[name]
    return total


def _arrived(name: str) -> str:
    return f"{name.removesuffix('.meanMs')}.arrived"
