"""Weighted shares: how much of what its cohort could lend a node has borrowed."""

from __future__ import annotations

import math
from typing import NamedTuple, NewType

from scheduler.engine.kueue.tree.tree import QuotaNode
from scheduler.model.amounts import MAX


class DRS(NamedTuple):
    """A precise weighted share; greater means that more was borrowed.

    `value` is infinite for a borrower of weight 0; among those `ratio` decides.
    """

    value: float
    ratio: float = 0.0


#: The share of the preemptor's side with its request added.
PreemptorNewShare = NewType("PreemptorNewShare", DRS)
#: The share of the candidate's side before the candidate is preempted.
TargetOldShare = NewType("TargetOldShare", DRS)
#: The share of the candidate's side without the candidate.
TargetNewShare = NewType("TargetNewShare", DRS)

ZERO = DRS(0.0)
_NOTHING = (ZERO, False)


def dominant_resource_share(node: QuotaNode) -> tuple[DRS, bool]:
    """Return the node's share and whether it borrows at all; O(its resource nodes).

    Source: docs/semantics/kueue.md#dominant-resource-share.
    """
    ratio, borrowing = 0.0, False
    for lendable, resource_nodes in node.lendable_by_resource:
        borrowed = 0
        for resource_node in resource_nodes:
            over = resource_node.usage - resource_node.subtree_quota
            if over > 0:
                borrowed += over
        if borrowed:
            borrowing = True
            if lendable > 0:
                ratio = max(ratio, float(borrowed) * 1000.0 / lendable)
    return (weighted(ratio, node.weight), True) if borrowing else _NOTHING


def weighted(ratio: float, weight: float) -> DRS:
    """Return the share of a ratio under a weight."""
    if ratio == 0.0:
        return ZERO
    if weight == 0.0:
        return DRS(math.inf, ratio)
    return DRS(ratio / weight)


def share_of_node(node: QuotaNode) -> DRS:
    """Return the node's weighted share."""
    return dominant_resource_share(node)[0]


def weighted_share(node: QuotaNode) -> int:
    """Return the share as status.fairSharing.weightedShare shows it."""
    value = share_of_node(node).value
    return MAX if math.isinf(value) else math.ceil(value)
