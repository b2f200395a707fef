"""Weighted shares: how much of what its cohort could lend a node has borrowed."""

from __future__ import annotations

import math
from typing import NamedTuple

from scheduler.amounts import MAX
from scheduler.kueue.tree.tree import Node


class Share(NamedTuple):
    """A precise weighted share; greater means that more was borrowed.

    `value` is infinite for a borrower of weight 0; among those `ratio` decides.
    """

    value: float
    ratio: float = 0.0


ZERO = Share(0.0)
_NOTHING = (ZERO, False)


def measure(node: Node) -> tuple[Share, bool]:
    """Return the node's share and whether it borrows at all; O(its cells).

    Source: KUEUE.md 9.1, 9.2.
    """
    ratio, borrowing = 0.0, False
    for lendable, cells in node.measures:
        borrowed = 0
        for cell in cells:
            over = cell.usage - cell.subtree
            if over > 0:
                borrowed += over
        if borrowed:
            borrowing = True
            if lendable > 0:
                ratio = max(ratio, float(borrowed) * 1000.0 / lendable)
    return (weigh(ratio, node.weight), True) if borrowing else _NOTHING


def weigh(ratio: float, weight: float) -> Share:
    """Return the share of a ratio under a weight."""
    if ratio == 0.0:
        return ZERO
    if weight == 0.0:
        return Share(math.inf, ratio)
    return Share(ratio / weight)


def share(node: Node) -> Share:
    """Return the node's weighted share."""
    return measure(node)[0]


def weighted_share(node: Node) -> int:
    """Return the share as status.fairSharing.weightedShare shows it."""
    value = share(node).value
    return MAX if math.isinf(value) else math.ceil(value)
