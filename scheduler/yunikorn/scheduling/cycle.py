"""One scheduling cycle: reservations, else placeholders, else the next request."""

from __future__ import annotations

from scheduler.yunikorn import messages
from scheduler.yunikorn.gang import placeholders
from scheduler.yunikorn.objects import application_states
from scheduler.yunikorn.objects.model import Application, Ask, Queue
from scheduler.yunikorn.objects.partition import RESERVATION_DELAY_MS, Partition
from scheduler.yunikorn.preemption.attempts import MAX_ATTEMPTS, try_preemption
from scheduler.yunikorn.resources import Amounts, fits_undefined
from scheduler.yunikorn.scheduling import reservations
from scheduler.yunikorn.scheduling.node_fit import (
    best_to_reserve,
    first_fit,
    fits_quota,
    may_run,
    takes,
)
from scheduler.yunikorn.scheduling.queue_traversal import Outcome, visit


def run(partition: Partition) -> bool:
    """Run one cycle at the partition's time; tell whether anything was placed.

    Does nothing when nothing changed since an idle cycle and no timer is due.
    Source: YUNIKORN.md 9.
    """
    application_states.advance(partition)
    placeholders.advance(partition)
    wake = partition.due_ms
    if not partition.dirty and (wake is None or partition.now_ms < wake):
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
        _reserved(partition)
        or (partition.gang_count > 0 and placeholders.replace(partition))
        or _normal(partition)
    )


def _normal(partition: Partition) -> bool:
    if not partition.root.has_pending:
        return False
    return visit(partition, partition.root, _try_leaf) is Outcome.PLACED


def _reserved(partition: Partition) -> bool:
    if not partition.reservations:
        return False
    return visit(partition, partition.root, reservations.try_leaf) is Outcome.PLACED


def _try_leaf(partition: Partition, leaf: Queue) -> Outcome | None:
    assert leaf.sort is not None
    room = leaf.headroom()
    partition.attempts = MAX_ATTEMPTS
    if partition.trace is not None:
        apps = [app.id for app in leaf.sort.candidates(leaf)]
        partition.trace.step("leaf", queue=leaf.path, headroom=room, applications=apps)
    for app in leaf.sort.candidates(leaf):
        if not may_run(partition, app):
            continue
        outcome = _try_application(partition, app, room)
        if outcome is not None:
            return outcome
    return None


def _try_application(
    partition: Partition, app: Application, room: Amounts | None
) -> Outcome | None:
    limits = partition.limits
    user_room = limits.headroom(app) if limits.active else None
    for ask in app.requests:  # nothing is taken out before the loop is left
        daemon = ask.required_node is not None  # may end the cycle for the others
        if partition.only_due and not daemon and _sleeps(partition, ask):
            continue
        ask.due_ms = None
        if app.gang is not None and placeholders.waits(app, ask):
            continue
        if user_room is not None and not fits_undefined(user_room, ask.needs):
            partition.log_failure(ask, messages.NOT_ENOUGH_USER_QUOTA)
            continue
        outcome = _try_request(partition, ask, room)
        if outcome is not None:
            return outcome
    return None


def _sleeps(partition: Partition, ask: Ask) -> bool:
    """Tell whether an ask's time has not come; its next one is kept in mind."""
    wake = ask.due_ms
    if wake is None:
        return True
    if wake <= partition.now_ms:
        return False
    if partition.due_ms is None or wake < partition.due_ms:
        partition.due_ms = wake
    return True


def _try_request(
    partition: Partition, ask: Ask, room: Amounts | None
) -> Outcome | None:
    if partition.trace is not None:
        partition.trace.step("request", ask=ask.key, needs=ask.needs, headroom=room)
    if not fits_quota(partition, ask, room):
        if try_preemption(partition, ask, nodes_tried=False):
            return Outcome.HELD
        partition.log_failure(ask, messages.NOT_ENOUGH_QUEUE_QUOTA)
        _refuse_help(partition, ask)
        return None
    if ask.required_node is not None:
        return _try_required(partition, ask)
    outcome = _try_nodes(partition, ask)
    if outcome is None:
        if try_preemption(partition, ask, nodes_tried=True):
            return Outcome.HELD
        _refuse_help(partition, ask)
    return outcome


def _refuse_help(partition: Partition, ask: Ask) -> None:
    if partition.spec.preemption:
        partition.log_failure(ask, messages.DOES_NOT_HELP)


def _try_nodes(partition: Partition, ask: Ask) -> Outcome | None:
    node = first_fit(partition, ask)
    if partition.trace is not None:
        partition.trace.step("node", ask=ask.key, node=node.name if node else "")
    if node is not None:
        partition.place(ask, node)
        return Outcome.PLACED
    if ask.reserved_on is not None:
        return None
    old_enough = ask.create_ms + RESERVATION_DELAY_MS
    if partition.now_ms <= old_enough:
        partition.due_at(old_enough + 1, ask)
        return None
    best = best_to_reserve(partition, ask)
    if best is None or (ask.predicate is not None and ask.predicate(best)):
        return None
    return Outcome.HELD if partition.reserve(ask, best) else None


def _try_required(partition: Partition, ask: Ask) -> Outcome | None:
    """Place a required-node ask, or reserve its node.

    Either is the cycle's result, also where the node is reserved for it already
    or could never hold it: whoever comes after waits. Source: YUNIKORN.md 11.
    """
    node = partition.nodes.by_name.get(ask.required_node or "")
    if node is None:
        return None
    for other in list(node.reservations.values()):
        if other.required_node is None:
            partition.unreserve(other)
    if takes(node, ask):
        partition.place(ask, node)
        return Outcome.PLACED
    partition.reserve(ask, node)
    return Outcome.HELD
