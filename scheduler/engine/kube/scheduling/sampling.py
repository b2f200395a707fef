"""How many feasible nodes are enough, and where the search for them starts."""

from __future__ import annotations

import numpy as np

from scheduler.engine.kube.cache.node_table import Mask, Rows

_ALWAYS = 100  # fewer nodes than this are all looked at
_LEAST_PERCENT = 5


def enough(nodes: int, percentage: int) -> int:
    """Return how many feasible nodes end the search (0: adaptive percentage).

    Source: docs/semantics/kube-scheduler.md#node-sampling.
    """
    if nodes < _ALWAYS or percentage >= 100:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, _LEAST_PERCENT)
    return max(nodes * percentage // 100, _ALWAYS)


def sample(mask: Mask, scan: Rows, start: int, wanted: int) -> tuple[Rows, int]:
    """Return the first feasible rows from `start` on, and how many were looked at."""
    order = np.concatenate((scan[start:], scan[:start]))
    passed = np.flatnonzero(mask[order])
    if len(passed) > wanted:
        passed = passed[:wanted]
        return order[passed], int(passed[-1]) + 1
    return order[passed], len(order)
