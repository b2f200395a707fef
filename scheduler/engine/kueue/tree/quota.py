"""How much of a resource a queue may still take, and taking it.

Everything here walks from a resource node to the root: O(depth). Amounts are canonical.
Source of all rules: docs/semantics/kueue.md#quota-tree.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import NamedTuple, NewType

from scheduler.engine.kueue.tree.tree import FlavorResource, QuotaNode, ResourceNode
from scheduler.model.amounts import MAX, UNLIMITED

Amount = tuple[ResourceNode, int]


def add_usage(resource_node: ResourceNode | None, amount: int) -> None:
    """Add usage; the parent sees what passes the local quota."""
    while resource_node is not None:
        free = resource_node.local_quota - resource_node.usage
        resource_node.usage += amount
        if free > 0:
            if amount <= free:
                return
            amount -= free
        elif amount <= 0:
            return
        resource_node = resource_node.parent


def remove_usage(resource_node: ResourceNode | None, amount: int) -> None:
    """Take usage away; the exact inverse of `add_usage` for amounts of 0 and up."""
    while resource_node is not None:
        shared = resource_node.usage - resource_node.local_quota
        resource_node.usage -= amount
        if shared <= 0:
            return
        amount = min(amount, shared)
        resource_node = resource_node.parent


def add_usages(held: Iterable[Amount]) -> None:
    """Add the usage of one workload."""
    for resource_node, amount in held:
        add_usage(resource_node, amount)


def remove_usages(held: Iterable[Amount]) -> None:
    """Take the usage of one workload away."""
    for resource_node, amount in held:
        remove_usage(resource_node, amount)


def undo_usages(added: Iterable[Amount]) -> None:
    """Undo `add_usages`, the last amount first; one below 0 never reached a parent."""
    for resource_node, amount in added:
        if amount > 0:
            remove_usage(resource_node, amount)
        else:
            resource_node.usage -= amount


def apply_usages(amounts: Iterable[Amount]) -> None:
    """Add usage node by node; a slice with fewer pods gives some back instead."""
    for resource_node, amount in amounts:
        if amount >= 0:
            add_usage(resource_node, amount)
        else:
            remove_usage(resource_node, -amount)


def revert_usages(amounts: Iterable[Amount]) -> None:
    """Undo `apply_usages`."""
    apply_usages((resource_node, -amount) for resource_node, amount in amounts)


def available(resource_node: ResourceNode) -> int:
    """Return what the node can still take; negative when quota was overrun.

    The borrowing limit applies here: what the parent gives ends at `max_from_parent`.
    Source: docs/semantics/kueue.md#borrowing-limits.
    """
    parent = resource_node.parent
    if parent is None:
        if resource_node.subtree_quota == UNLIMITED:
            return 0 if resource_node.usage >= UNLIMITED else UNLIMITED
        return resource_node.subtree_quota - resource_node.usage
    above = available(parent)
    over = resource_node.usage - resource_node.local_quota
    cap = resource_node.max_from_parent
    if over <= 0:
        if cap is not None and cap < above:
            above = cap
        return above - over if above != UNLIMITED else UNLIMITED
    if cap is not None and cap != UNLIMITED and cap - over < above:
        return cap - over
    return above


def available_non_negative(resource_node: ResourceNode) -> int:
    """Return what a ClusterQueue can still take, 0 and up."""
    free = available(resource_node)
    return max(0, free)


def are_available(amounts: Iterable[Amount]) -> bool:
    """Return whether each resource node can still take its amount, one by one."""
    return all(
        available_non_negative(resource_node) >= amount
        for resource_node, amount in amounts
    )


def local_available(resource_node: ResourceNode) -> int:
    """Return what is left of the quota that the parent never sees."""
    free = resource_node.local_quota - resource_node.usage
    return max(0, free)


def within_nominal(node: QuotaNode, kinds: Collection[FlavorResource]) -> bool:
    """Return whether the node uses no more than its subtree brings, for all `kinds`."""
    resource_nodes = node.resource_nodes
    for flavor_resource in kinds:
        resource_node = resource_nodes.get(flavor_resource)
        if (
            resource_node is not None
            and resource_node.usage > resource_node.subtree_quota
        ):
            return False
    return True


def borrowing_height(resource_node: ResourceNode, amount: int) -> tuple[int, bool]:
    """Return how high a ClusterQueue must borrow for `amount`, and if below the root.

    The height is that of the smallest subtree that could hold it, 0 when the
    queue's own nominal quota does. The flag tells that this subtree is not the
    whole tree, so that reclaiming inside it may help.
    """
    above = resource_node.parent
    if resource_node.usage + amount <= resource_node.nominal or above is None:
        return 0, above is not None
    rest = amount - local_available(resource_node)
    while above.usage + rest > above.subtree_quota:
        rest -= local_available(above)
        if above.parent is None:
            return above.node.height, False
        above = above.parent
    return above.node.height, above.node.parent is not None


# ------------------------------------------------------------------------
# Weighted shares: how much of what its cohort could lend a node has borrowed.


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
