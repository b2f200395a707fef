"""One scheduling cycle: reservations, else placeholders, else the normal pass."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.gang import placeholders
from scheduler.engine.yunikorn.objects.model import Application, Ask, Queue
from scheduler.engine.yunikorn.objects.partition import (
    RESERVATION_DELAY_MS,
    Partition,
    advance,
)
from scheduler.engine.yunikorn.preemption.attempts import MAX_ATTEMPTS, try_preemption
from scheduler.engine.yunikorn.scheduling import node_fit
from scheduler.engine.yunikorn.scheduling.node_fit import (
    AllocationResult,
    accepts,
    best_to_reserve,
    first_fit,
    fits_quota,
    may_run,
    traverse,
)
from scheduler.engine.yunikorn.sorting.queues import children_in_order
from scheduler.model.yunikorn.resources import Amounts, Needs, fits_undefined


def run(partition: Partition) -> bool:
    """Run one cycle at the partition's time; return whether anything was placed.

    Does nothing when nothing changed since an idle cycle and no timer is due.
    Source: docs/semantics/yunikorn.md#scheduling-cycle
    """
    advance(partition)
    placeholders.advance(partition)
    due = partition.due_ms
    if not partition.dirty and (due is None or partition.now_ms < due):
        return False
    # With nothing changed since an idle cycle only timers can matter.
    partition.only_due = not (partition.dirty or partition.recheck_all)
    partition.recheck_all = False
    partition.dirty = False
    partition.due_ms = None
    partition.no_fit.clear()
    partition.failed_predicates.clear()
    partition.refused_attempts.clear()
    partition.refresh()
    if partition.root.max is None:
        return False
    return (
        _try_reservations(partition)
        or _try_placeholders(partition)
        or _try_normal(partition)
    )


def _try_normal(partition: Partition) -> bool:
    if not partition.root.has_pending:
        return False
    result = traverse(partition, partition.root, _try_leaf)
    return result is AllocationResult.ALLOCATED


def _try_placeholders(partition: Partition) -> bool:
    if not partition.gang_count:
        return False
    result = traverse(partition, partition.root, _replace_in_leaf)
    return result is AllocationResult.ALLOCATED


def _replace_in_leaf(partition: Partition, leaf: Queue) -> AllocationResult | None:
    replaced = placeholders.replace(partition, leaf)
    return AllocationResult.ALLOCATED if replaced else None


def _try_reservations(partition: Partition) -> bool:
    if not partition.reservations:
        return False
    result = traverse(partition, partition.root, node_fit.try_leaf)
    return result is AllocationResult.ALLOCATED


def _try_leaf(partition: Partition, leaf: Queue) -> AllocationResult | None:
    assert leaf.sort is not None
    headroom = leaf.headroom()
    partition.attempts = MAX_ATTEMPTS
    if partition.trace is not None:
        apps = [app.id for app in leaf.sort.candidates(leaf)]
        partition.trace.step(
            "leaf", queue=leaf.path, headroom=headroom, applications=apps
        )
    for app in leaf.sort.candidates(leaf):
        if not may_run(partition, app) or pauses(partition, app):
            continue
        result = _try_application(partition, app, headroom)
        if result is not None:
            return result
    return None


def _try_application(
    partition: Partition, app: Application, headroom: Amounts | None
) -> AllocationResult | None:
    limits = partition.limits
    user_headroom = limits.headroom(app) if limits.active else None
    unschedulable = 0
    only_due = (
        partition.only_due
        and not app.queue.properties.backoff_count
        and partition.rules.counts_attempts_made
    )
    for ask in app.requests:  # nothing is taken out before the loop is left
        if begins(partition, app, unschedulable):
            return None
        may_end_cycle = ask.required_node is not None
        if only_due and not may_end_cycle and not _is_due(partition, ask):
            continue
        ask.due_ms = None
        if app.gang is not None and placeholders.waits(app, ask):
            continue
        if user_headroom is not None and not fits_undefined(user_headroom, ask.needs):
            partition.log_failure(ask, messages.NOT_ENOUGH_USER_QUOTA)
            continue
        result = _try_request(partition, ask, headroom)
        if isinstance(result, AllocationResult):
            return result
        unschedulable += result
    return None


def _is_due(partition: Partition, ask: Ask) -> bool:
    """Return whether an ask's time has come; its next one is kept in mind."""
    due = ask.due_ms
    if due is None:
        return False
    if due <= partition.now_ms:
        return True
    if partition.due_ms is None or due < partition.due_ms:
        partition.due_ms = due
    return False


def _try_request(
    partition: Partition, ask: Ask, headroom: Amounts | None
) -> AllocationResult | bool:
    """Return the result, or whether the ask counts as unschedulable."""
    if partition.trace is not None:
        partition.trace.step("request", ask=ask.key, needs=ask.needs, headroom=headroom)
    if not fits_quota(partition, ask, headroom):
        if try_preemption(partition, ask, nodes_tried=False):
            return AllocationResult.RESERVED
        partition.log_failure(ask, messages.NOT_ENOUGH_QUEUE_QUOTA)
        _log_no_help(partition, ask)
        return False
    if ask.required_node is not None:
        return _try_required(partition, ask) or False
    result = _try_nodes(partition, ask)
    if result is None:
        if try_preemption(partition, ask, nodes_tried=True):
            return AllocationResult.RESERVED
        _log_no_help(partition, ask)
    return result or True


def _log_no_help(partition: Partition, ask: Ask) -> None:
    if partition.spec.preemption:
        partition.log_failure(ask, messages.DOES_NOT_HELP)


def _try_nodes(partition: Partition, ask: Ask) -> AllocationResult | None:
    node = first_fit(partition, ask)
    if partition.trace is not None:
        partition.trace.step("node", ask=ask.key, node=node.name if node else "")
    if node is not None:
        partition.place(ask, node)
        return AllocationResult.ALLOCATED
    if ask.reserved_on is not None:
        return None
    old_enough = ask.create_ms + RESERVATION_DELAY_MS
    if partition.now_ms <= old_enough:
        partition.due_at(old_enough + 1, ask)
        return None
    best = best_to_reserve(partition, ask)
    if best is None or (ask.predicate is not None and ask.predicate(best)):
        return None
    return AllocationResult.RESERVED if partition.reserve(ask, best) else None


def _try_required(partition: Partition, ask: Ask) -> AllocationResult | None:
    """Place a required-node ask, or reserve its node; None when it holds it already.

    Whoever comes after is looked at in the same cycle then: a pod that waits
    for its node blocks nothing else. One that its node could never hold ends
    every cycle, as in the released core: its reservation fails each time.
    Source: docs/semantics/yunikorn.md#required-node-asks
    """
    node = partition.nodes.by_name.get(ask.required_node or "")
    if node is None:
        return None
    for other in list(node.reservations.values()):
        if other.required_node is None:
            partition.unreserve(other)
    if accepts(node, ask):
        partition.place(ask, node)
        return AllocationResult.ALLOCATED
    if ask.reserved_on is node:
        return None
    partition.reserve(ask, node)
    partition.count_allocating(ask.app)
    return AllocationResult.RESERVED


# ------------------------------------------------------------------------
# Back-off of applications whose requests cannot be scheduled.


def pauses(partition: Partition, app: Application) -> bool:
    """Return whether an application is left out of the normal pass now."""
    until = app.backoff_ms
    if until is None:
        return False
    if partition.now_ms >= until:
        app.backoff_ms = None
        return False
    _cycle_at(partition, until)
    return True


def begins(partition: Partition, app: Application, unschedulable: int) -> bool:
    """Return whether this visit ends here; if so the application pauses.

    `unschedulable`: how many of its requests found nothing in this visit.
    """
    own = app.queue.properties
    if not own.backoff_count or unschedulable < own.backoff_count:
        return False
    if not partition.rules.backoff:
        return False
    app.backoff_ms = partition.now_ms + own.backoff_delay_ms
    _cycle_at(partition, app.backoff_ms)
    return True


def _cycle_at(partition: Partition, at_ms: int) -> None:
    """Run a cycle when the pause ends: it may begin anew though nothing changed."""
    if partition.due_ms is None or at_ms < partition.due_ms:
        partition.due_ms = at_ms


# ------------------------------------------------------------------------
# Requests that quota lets in and no node takes: what an autoscaler is told of.


def outstanding(partition: Partition, queue: Queue | None = None) -> Iterator[Ask]:
    """Yield them in the order of queues and applications that a cycle would take.

    Each takes its part of what its queue and user may still use, whatever the size
    of the cluster, so the order decides who is told of where that is not enough.
    Pods that must run on one node are left out, as further nodes do not help them.
    Source: docs/semantics/yunikorn.md#outstanding-requests
    """
    queue = queue or partition.root
    if not queue.leaf:
        for child in children_in_order(partition, queue):
            yield from outstanding(partition, child)
        return
    assert queue.sort is not None
    room = queue.headroom(cluster=False)
    for app in queue.sort.candidates(queue):
        if not may_run(partition, app):
            continue
        limits = partition.limits
        user_room = limits.headroom(app) if limits.active else None
        for ask in app.requests:
            if placeholders.waits(app, ask):
                continue
            fits = fits_undefined(room, ask.needs)
            if fits and fits_undefined(user_room, ask.needs):
                _take(room, ask.needs)
                _take(user_room, ask.needs)
                if ask.required_node is None:
                    yield ask


def _take(room: Amounts | None, needs: Needs) -> None:
    for name, value in needs:
        if room is not None and name in room:
            room[name] -= value
