"""One scheduling cycle: reservations, else placeholders, else the next request."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from scheduler.yunikorn import gang, lifecycle, messages, required_node
from scheduler.yunikorn.applications import Application, Ask, State
from scheduler.yunikorn.nodes import Node
from scheduler.yunikorn.partition import (
    RESERVATION_DELAY_MS,
    RESERVATION_EXPIRY_MS,
    Partition,
    Trace,
)
from scheduler.yunikorn.queues import Queue
from scheduler.yunikorn.resources import Amounts, fits_undefined
from scheduler.yunikorn.sorting import children_in_order, share_of
from scheduler.yunikorn.victims import Plan

CYCLE_MS = 100
STRATEGY = "QueueGuarantee"
MAX_ATTEMPTS = 10  # preemption attempts per visit of a leaf
RETRY_MS = 15_000  # between two preemption attempts of one ask


class Outcome(Enum):
    """How a visit of a queue ended."""

    PLACED = auto()  # activity: the next cycle follows at once
    HELD = auto()  # a reservation was made or given up; ends the visit


Visit = Callable[[Partition, Queue], Outcome | None]


def run(partition: Partition) -> bool:
    """Run one cycle at the partition's time; tell whether anything was placed.

    Does nothing when nothing changed since an idle cycle and no timer is due.
    Source: YUNIKORN.md 9.
    """
    lifecycle.advance(partition)
    gang.advance(partition)
    wake = partition.wake_ms
    if not partition.dirty and (wake is None or partition.now_ms < wake):
        return False
    # With nothing changed since an idle cycle only timers can matter.
    partition.only_due = not (partition.dirty or partition.relook)
    partition.relook = False
    partition.dirty = False
    partition.wake_ms = None
    partition.unfit.clear()
    partition.unwilling.clear()
    partition.unhelped.clear()
    partition.refresh()
    if partition.root.max is None:
        return False
    return (
        _reserved(partition)
        or (partition.ganged > 0 and gang.replace(partition))
        or _normal(partition)
    )


def _normal(partition: Partition) -> bool:
    if not partition.root.wants:
        return False
    return _visit(partition, partition.root, _try_leaf) is Outcome.PLACED


def _reserved(partition: Partition) -> bool:
    if not partition.reservations:
        return False
    return _visit(partition, partition.root, _try_reserved_leaf) is Outcome.PLACED


def _visit(partition: Partition, queue: Queue, visit: Visit) -> Outcome | None:
    """Go depth first through the queues that wait, until one has an outcome."""
    if queue.leaf:
        return visit(partition, queue)
    order = children_in_order(queue, positional=partition.laws.positional)
    if partition.trace is not None:
        _trace_order(partition.trace, queue, order)
    for child in order:
        outcome = _visit(partition, child, visit)
        if outcome is not None:
            return outcome
    return None


def _trace_order(trace: Trace, parent: Queue, order: list[Queue]) -> None:
    rows = [(child.path, child.published, share_of(child)) for child in order]
    trace.step("order", queue=parent.path, children=rows)


# -- normal allocation


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


def may_run(partition: Partition, app: Application) -> bool:
    """Tell whether an accepted application may start to run now."""
    if app.state is not State.ACCEPTED:
        return app.state not in (State.FAILING, State.FAILED, State.REJECTED)
    return app.queue.can_run(app) and partition.limits.can_run(app)


def _try_application(
    partition: Partition, app: Application, room: Amounts | None
) -> Outcome | None:
    limits = partition.limits
    user_room = limits.headroom(app) if limits.active else None
    for ask in app.requests:  # nothing is taken out before the loop is left
        if partition.only_due and _sleeps(partition, ask):
            continue
        ask.wake_ms = None
        if app.gang is not None and gang.waits(app, ask):
            continue
        if user_room is not None and not fits_undefined(user_room, ask.needs):
            partition.refuse(ask, messages.NOT_ENOUGH_USER_QUOTA)
            continue
        outcome = _try_request(partition, ask, room)
        if outcome is not None:
            return outcome
    return None


def _sleeps(partition: Partition, ask: Ask) -> bool:
    """Tell whether an ask's time has not come; its next one is kept in mind."""
    wake = ask.wake_ms
    if wake is None:
        return True
    if wake <= partition.now_ms:
        return False
    if partition.wake_ms is None or wake < partition.wake_ms:
        partition.wake_ms = wake
    return True


def _try_request(
    partition: Partition, ask: Ask, room: Amounts | None
) -> Outcome | None:
    if partition.trace is not None:
        partition.trace.step("request", ask=ask.key, needs=ask.needs, headroom=room)
    if not _fits_quota(partition, ask, room):
        if _try_preemption(partition, ask, nodes_tried=False):
            return Outcome.HELD
        partition.refuse(ask, messages.NOT_ENOUGH_QUEUE_QUOTA)
        _refuse_help(partition, ask)
        return None
    if ask.required_node is not None:
        return _try_required(partition, ask)
    outcome = _try_nodes(partition, ask)
    if outcome is None:
        if _try_preemption(partition, ask, nodes_tried=True):
            return Outcome.HELD
        _refuse_help(partition, ask)
    return outcome


def _refuse_help(partition: Partition, ask: Ask) -> None:
    if partition.spec.preemption:
        partition.refuse(ask, messages.DOES_NOT_HELP)


def _fits_quota(partition: Partition, ask: Ask, room: Amounts | None) -> bool:
    """Tell whether an ask fits its queue's headroom."""
    if fits_undefined(room, ask.needs):
        return True
    if ask.required_node is None or not partition.laws.daemons_beyond_cluster:
        return False
    return fits_undefined(ask.app.queue.headroom(cluster=False), ask.needs)


def _try_nodes(partition: Partition, ask: Ask) -> Outcome | None:
    node = _first_fit(partition, ask)
    if partition.trace is not None:
        partition.trace.step("node", ask=ask.key, node=node.name if node else "")
    if node is not None:
        partition.place(ask, node)
        return Outcome.PLACED
    if ask.reserved_on is not None:
        return None
    old_enough = ask.create_ms + RESERVATION_DELAY_MS
    if partition.now_ms <= old_enough:
        partition.wake_at(old_enough + 1, ask)
        return None
    best = _tightest(partition, ask)
    if best is None or (ask.refusal is not None and ask.refusal(best)):
        return None
    return Outcome.HELD if partition.reserve(ask, best) else None


def _first_fit(partition: Partition, ask: Ask) -> Node | None:
    """Return the first unreserved node in order that takes the ask."""
    if ask.refusal is not None:
        return _first_willing(partition, ask)
    needs = ask.needs
    if needs in partition.unfit:
        return None
    node = partition.nodes.first_with_room(needs)
    if node is None:
        partition.unfit[needs] = None
    return node


def _first_willing(partition: Partition, ask: Ask) -> Node | None:
    refusal = ask.refusal
    assert refusal is not None
    key = (ask.needs, refusal)
    problems = partition.unwilling.get(key)
    if problems is None:
        found: dict[str, None] = {}
        for node in partition.nodes:
            free = node.schedulable and not node.reservations
            if not (free and node.has_room(ask.needs)):
                continue
            problem = refusal(node)
            if problem is None:
                return node
            found[problem] = None
        problems = partition.unwilling[key] = tuple(found)
    for problem in problems:
        partition.refuse(ask, problem)
    return None


def _tightest(partition: Partition, ask: Ask) -> Node | None:
    """Return the node to reserve: lowest fit score, the first one on ties."""
    key = ("tightest", ask.needs)
    if key not in partition.unfit:
        best, lowest = None, float("inf")
        for node in partition.nodes:
            if node.reservations or not node.schedulable:
                continue
            if node.could_hold(ask.needs):
                score = node.fit_score(ask.resource)
                if score < lowest:
                    best, lowest = node, score
        partition.unfit[key] = best
    return partition.unfit[key]


def _try_preemption(partition: Partition, ask: Ask, *, nodes_tried: bool) -> bool:
    """Try to make room by preemption; at most ten attempts per visit of a leaf."""
    if not partition.spec.preemption:
        return False
    if not _may_preempt(partition, ask):
        partition.refuse(ask, messages.PRECONDITIONS_FAILED)
    elif partition.attempts <= 0:
        partition.wake_at(partition.now_ms + CYCLE_MS, ask)
        partition.refuse(ask, messages.ATTEMPTS_EXHAUSTED)
    else:
        partition.attempts -= 1
        ask.checked_ms = partition.now_ms
        partition.wake_at(partition.now_ms + RETRY_MS, ask)
        if _preempt(partition, ask, nodes_tried=nodes_tried):
            return True
    return False


def _preempt(partition: Partition, ask: Ask, *, nodes_tried: bool) -> bool:
    """Tell victims to go, and hold their node, where the laws allow it."""
    plan = _plan(partition, ask, nodes_tried=nodes_tried)
    if partition.trace is not None:
        _trace_plan(partition.trace, ask, plan)
    if isinstance(plan, str):
        if plan:
            partition.refuse(ask, plan)
        return False
    partition.mark_preempted(plan.victims)
    ask.triggered = True
    partition.listener.preempting(ask, plan.victims, STRATEGY)
    for other in list(plan.node.reservations.values()):
        if other is not ask:  # long overdue: the search has looked
            partition.unreserve(other)
    partition.reserve(ask, plan.node)
    return True


def _plan(partition: Partition, ask: Ask, *, nodes_tried: bool) -> Plan | str:
    """Return the laws' choice; equal asks of a leaf are refused alike in one cycle."""
    key = (
        ask.app.queue.path,
        ask.needs,
        frozenset(ask.resource),
        ask.priority,
        ask.refusal,
        ask.reserved_on,
        nodes_tried,
    )
    refused: str | None = partition.unhelped.get(key)
    if refused is not None:
        return refused
    plan = partition.laws.choose(partition, ask, nodes_tried=nodes_tried)
    if isinstance(plan, str):
        partition.unhelped[key] = plan
    return plan


def _trace_plan(trace: Trace, ask: Ask, plan: Plan | str) -> None:
    if isinstance(plan, str):
        trace.step("preemption", ask=ask.key, refused=plan or messages.DOES_NOT_HELP)
    else:
        keys = [victim.key for victim in plan.victims]
        trace.step("preemption", ask=ask.key, node=plan.node.name, victims=keys)


def _may_preempt(partition: Partition, ask: Ask) -> bool:
    """Tell whether an ask may try now. Source: YUNIKORN.md 10.1."""
    if not ask.allow_other or ask.triggered or ask.required_node is not None:
        return False
    ready = ask.create_ms + partition.laws.delay_ms(ask.app.queue)
    if ask.checked_ms is not None:
        ready = max(ready, ask.checked_ms + RETRY_MS)
    if partition.now_ms < ready:
        partition.wake_at(ready, ask)
        return False
    return True


def _try_required(partition: Partition, ask: Ask) -> Outcome | None:
    """Place a required-node ask, or reserve its node. Source: YUNIKORN.md 11."""
    node = partition.nodes.by_name.get(ask.required_node or "")
    if node is None:
        return None
    for other in list(node.reservations.values()):
        if other.required_node is None:
            partition.unreserve(other)
    if _takes(node, ask):
        partition.place(ask, node)
        return Outcome.PLACED
    return Outcome.HELD if partition.reserve(ask, node) else None


def _takes(node: Node, ask: Ask) -> bool:
    """Tell whether a node takes an ask: room, no one else's, no refusal."""
    if node.reservations and ask.key not in node.reservations:
        return False
    if not node.schedulable and ask.required_node is None:
        return False
    if not node.has_room(ask.needs):
        return False
    return ask.refusal is None or ask.refusal(node) is None


# -- reservations


def _try_reserved_leaf(partition: Partition, leaf: Queue) -> Outcome | None:
    if not leaf.reserved:
        return None
    room = leaf.headroom()
    for _, app in sorted(leaf.reserved.items()):
        if not may_run(partition, app):
            continue
        outcome = _try_reserved(partition, app, room)
        if outcome is not None:
            return outcome
    return None


def _try_reserved(
    partition: Partition, app: Application, room: Amounts | None
) -> Outcome | None:
    """Try the reserved nodes, then all others. Source: YUNIKORN.md 9."""
    limits = partition.limits
    user_room = limits.headroom(app) if limits.active else None
    held = sorted(app.reserved.values(), key=lambda a: (a.create_ms, a.key))
    fitting: list[Ask] = []
    for ask in held:
        fits = fits_undefined(user_room, ask.needs)
        if not (fits and _fits_quota(partition, ask, room)):
            if _give_up(partition, ask):
                return Outcome.HELD
            continue
        fitting.append(ask)
        if _try_held_node(partition, ask):
            return Outcome.PLACED
    for ask in fitting:
        if ask.required_node is not None:
            continue
        node = _first_fit(partition, ask)
        if node is not None:
            partition.place(ask, node)
            return Outcome.PLACED
    return None


def _give_up(partition: Partition, ask: Ask) -> bool:
    """Give a reservation back that has not fitted its queue for two hours."""
    expires = ask.reserved_ms + RESERVATION_EXPIRY_MS
    if partition.now_ms <= expires:
        partition.wake_at(expires + 1, ask)
        return False
    partition.unreserve(ask)
    return True


def _try_held_node(partition: Partition, ask: Ask) -> bool:
    node = ask.reserved_on
    assert node is not None
    if ask.required_node is not None and not node.has_room(ask.needs):
        if not ask.triggered:
            required_node.preempt(partition, node, ask)
        return False
    if _takes(node, ask):
        partition.place(ask, node)
        return True
    return False
