"""The part of a cycle that comes first: asks that hold a node."""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import Application, Ask, Queue
from scheduler.engine.yunikorn.objects.partition import RESERVATION_EXPIRY_MS, Partition
from scheduler.engine.yunikorn.preemption import required_node
from scheduler.engine.yunikorn.scheduling.node_fit import (
    accepts,
    first_fit,
    fits_quota,
    may_run,
)
from scheduler.engine.yunikorn.scheduling.queue_traversal import AllocationResult
from scheduler.model.yunikorn.resources import Amounts, fits_undefined


def try_leaf(partition: Partition, leaf: Queue) -> AllocationResult | None:
    """Place one ask of a leaf that holds a node, or give a reservation up."""
    if not leaf.reserved:
        return None
    headroom = leaf.headroom()
    for _, app in sorted(leaf.reserved.items()):
        if not may_run(partition, app):
            continue
        result = _try_reserved(partition, app, headroom)
        if result is not None:
            return result
    return None


def _try_reserved(
    partition: Partition, app: Application, headroom: Amounts | None
) -> AllocationResult | None:
    """Try the reserved nodes, then all others. Source: docs/semantics/yunikorn.md#reservations"""
    limits = partition.limits
    user_headroom = limits.headroom(app) if limits.active else None
    held = sorted(app.reserved.values(), key=lambda a: (a.create_ms, a.key))
    fitting: list[Ask] = []
    for ask in held:
        fits = fits_undefined(user_headroom, ask.needs)
        if not (fits and fits_quota(partition, ask, headroom)):
            if _give_up(partition, ask):
                return AllocationResult.RESERVED
            continue
        fitting.append(ask)
        if _try_held_node(partition, ask):
            return AllocationResult.ALLOCATED
    for ask in fitting:
        if ask.required_node is not None:
            continue
        node = first_fit(partition, ask)
        if node is not None:
            partition.place(ask, node)
            return AllocationResult.ALLOCATED
    return None


def _give_up(partition: Partition, ask: Ask) -> bool:
    """Give a reservation back that has not fitted its queue for two hours.

    Source: docs/semantics/yunikorn.md#reservations
    """
    if not partition.rules.reservations_end:
        return False
    expires = ask.reserved_ms + RESERVATION_EXPIRY_MS
    if partition.now_ms <= expires:
        partition.due_at(expires + 1, ask)
        return False
    partition.unreserve(ask)
    return True


def _try_held_node(partition: Partition, ask: Ask) -> bool:
    node = ask.reserved_on
    assert node is not None
    if ask.required_node is not None and not node.fits(ask.needs):
        if not ask.triggered:
            required_node.preempt(partition, node, ask)
        return False
    if accepts(node, ask):
        partition.place(ask, node)
        return True
    return False
