"""Where an ask fits now: applications that may run, quota, nodes in order."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    Queue,
    SchedulingNode,
    State,
    Trace,
)
from scheduler.engine.yunikorn.objects.partition import RESERVATION_EXPIRY_MS, Partition
from scheduler.engine.yunikorn.preemption import attempts
from scheduler.engine.yunikorn.sorting.queues import children_in_order, share_of
from scheduler.model.yunikorn.resources import Amounts, fits_undefined


def may_run(partition: Partition, app: Application) -> bool:
    """Return whether an accepted application may start to run now."""
    if app.state is not State.ACCEPTED:
        return app.state not in (State.FAILING, State.FAILED, State.REJECTED)
    return app.queue.can_run(app) and partition.limits.can_run(app)


def fits_quota(partition: Partition, ask: Ask, headroom: Amounts | None) -> bool:
    """Return whether an ask fits its queue's headroom."""
    if fits_undefined(headroom, ask.needs):
        return True
    if ask.required_node is None or not partition.laws.daemons_beyond_cluster:
        return False
    return fits_undefined(ask.app.queue.headroom(cluster=False), ask.needs)


def first_fit(partition: Partition, ask: Ask) -> SchedulingNode | None:
    """Return the first unreserved node in order that takes the ask."""
    if ask.predicate is not None:
        return _first_passing(partition, ask)
    needs = ask.needs
    if needs in partition.no_fit:
        return None
    node = partition.nodes.first_fitting(needs)
    if node is None:
        partition.no_fit[needs] = None
    return node


def _first_passing(partition: Partition, ask: Ask) -> SchedulingNode | None:
    predicate = ask.predicate
    assert predicate is not None
    key = (ask.needs, predicate)
    problems = partition.failed_predicates.get(key)
    if problems is None:
        found: dict[str, None] = {}
        for node in partition.nodes:
            free = node.schedulable and not node.reservations
            if not (free and node.fits(ask.needs)):
                continue
            problem = predicate(node)
            if problem is None:
                return node
            found[problem] = None
        problems = partition.failed_predicates[key] = tuple(found)
    for problem in problems:
        partition.log_failure(ask, problem)
    return None


def best_to_reserve(partition: Partition, ask: Ask) -> SchedulingNode | None:
    """Return the node to reserve: lowest fit score, the first one on ties."""
    key = ("tightest", ask.needs)
    if key not in partition.no_fit:
        best, lowest = None, float("inf")
        for node in partition.nodes:
            if node.reservations or not node.schedulable:
                continue
            if node.could_hold(ask.needs):
                score = node.fit_score(ask.resource)
                if score < lowest:
                    best, lowest = node, score
        partition.no_fit[key] = best
    return partition.no_fit[key]


def accepts(node: SchedulingNode, ask: Ask) -> bool:
    """Return whether a node takes an ask: headroom, no one else's, no predicate."""
    if node.reservations and ask.key not in node.reservations:
        return False
    if not node.schedulable and ask.required_node is None:
        return False
    if not node.fits(ask.needs):
        return False
    return ask.predicate is None or ask.predicate(node) is None


# ------------------------------------------------------------------------
# The part of a cycle that comes first: asks that hold a node.


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
            attempts.preempt(partition, node, ask)
        return False
    if accepts(node, ask):
        partition.place(ask, node)
        return True
    return False


# ------------------------------------------------------------------------
# Going through the queue tree in order, until one leaf has a result.


class AllocationResult(Enum):
    """What a cycle came to."""

    ALLOCATED = auto()  # the next cycle follows at once
    RESERVED = auto()  # a reservation was made or given up; ends the cycle


TryLeaf = Callable[[Partition, Queue], AllocationResult | None]


def traverse(
    partition: Partition, queue: Queue, leaf: TryLeaf
) -> AllocationResult | None:
    """Go depth first through the queues that wait, until one has a result."""
    if queue.leaf:
        return leaf(partition, queue)
    order = children_in_order(partition, queue)
    if partition.trace is not None:
        _trace_order(partition.trace, queue, order)
    for child in order:
        result = traverse(partition, child, leaf)
        if result is not None:
            return result
    return None


def _trace_order(trace: Trace, parent: Queue, order: list[Queue]) -> None:
    rows = [(child.path, child.published, share_of(child)) for child in order]
    trace.step("order", queue=parent.path, children=rows)
