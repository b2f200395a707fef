"""How much of a resource a queue may still take, and taking it.

Everything here walks from a cell to the root: O(depth). Amounts are canonical.
Source of all rules: docs/semantics/kueue.md#quota-tree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from scheduler.amounts import UNLIMITED
from scheduler.kueue.tree.protocols import FlavorResource
from scheduler.kueue.tree.tree import QuotaNode, ResourceNode

Amount = tuple[ResourceNode, int]


def add_usage(cell: ResourceNode | None, amount: int) -> None:
    """Add usage; the parent sees what passes the cell's local quota."""
    while cell is not None:
        free = cell.local_quota - cell.usage
        cell.usage += amount
        if free > 0:
            if amount <= free:
                return
            amount -= free
        elif amount <= 0:
            return
        cell = cell.parent


def remove_usage(cell: ResourceNode | None, amount: int) -> None:
    """Take usage away; the exact inverse of `add_usage` for amounts of 0 and up."""
    while cell is not None:
        shared = cell.usage - cell.local_quota
        cell.usage -= amount
        if shared <= 0:
            return
        amount = min(amount, shared)
        cell = cell.parent


def add_usages(held: Iterable[Amount]) -> None:
    """Add the usage of one workload."""
    for cell, amount in held:
        add_usage(cell, amount)


def remove_usages(held: Iterable[Amount]) -> None:
    """Take the usage of one workload away."""
    for cell, amount in held:
        remove_usage(cell, amount)


def apply_usages(amounts: Iterable[Amount]) -> None:
    """Add usage cell by cell; a slice with fewer pods gives some back instead."""
    for cell, amount in amounts:
        if amount >= 0:
            add_usage(cell, amount)
        else:
            remove_usage(cell, -amount)


def revert_usages(amounts: Iterable[Amount]) -> None:
    """Undo `apply_usages`."""
    apply_usages((cell, -amount) for cell, amount in amounts)


def available(cell: ResourceNode) -> int:
    """Return what the node can still take; negative when quota was overrun."""
    parent = cell.parent
    if parent is None:
        if cell.subtree_quota == UNLIMITED:
            return 0 if cell.usage >= UNLIMITED else UNLIMITED
        return cell.subtree_quota - cell.usage
    above = available(parent)
    over = cell.usage - cell.local_quota
    cap = cell.max_from_parent
    if over <= 0:
        if cap is not None and cap < above:
            above = cap
        return above - over if above != UNLIMITED else UNLIMITED
    if cap is not None and cap != UNLIMITED and cap - over < above:
        return cap - over
    return above


def available_non_negative(cell: ResourceNode) -> int:
    """Return what a ClusterQueue can still take, 0 and up."""
    free = available(cell)
    return max(0, free)


def local_available(cell: ResourceNode) -> int:
    """Return what is left of the quota that the parent never sees."""
    free = cell.local_quota - cell.usage
    return max(0, free)


def within_nominal(node: QuotaNode, kinds: Collection[FlavorResource]) -> bool:
    """Return whether the node uses no more than its subtree brings, for all `kinds`."""
    cells = node.cells
    for flavor_resource in kinds:
        cell = cells.get(flavor_resource)
        if cell is not None and cell.usage > cell.subtree_quota:
            return False
    return True


def borrowing_height(cell: ResourceNode, amount: int) -> tuple[int, bool]:
    """Return how high a ClusterQueue must borrow for `amount`, and if below the root.

    The height is that of the smallest subtree that could hold it, 0 when the
    queue's own nominal quota does. The flag tells that this subtree is not the
    whole tree, so that reclaiming inside it may help.
    """
    above = cell.parent
    if cell.usage + amount <= cell.nominal or above is None:
        return 0, above is not None
    rest = amount - local_available(cell)
    while above.usage + rest > above.subtree_quota:
        rest -= local_available(above)
        if above.parent is None:
            return above.node.height, False
        above = above.parent
    return above.node.height, above.node.parent is not None
