"""Attempts to preempt: who may try when, and what follows from a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Ask, Queue, SchedulingNode, Trace
from scheduler.engine.yunikorn.objects.partition import CYCLE_MS, Partition
from scheduler.engine.yunikorn.objects.preemption_laws import PreemptionPlan
from scheduler.engine.yunikorn.preemption.victims import Snapshot, remaining
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

STRATEGY = "QueueGuarantee"
MAX_ATTEMPTS = 10  # per visit of a leaf
RETRY_MS = 15_000  # between two attempts of one ask


def try_preemption(partition: Partition, ask: Ask, *, nodes_tried: bool) -> bool:
    """Try to make room by preemption; at most ten attempts per visit of a leaf."""
    if not partition.spec.preemption:
        return False
    if not partition.rules.counts_attempts_made:
        if partition.attempts <= 0:
            return False
        partition.attempts -= 1
    if not _may_preempt(partition, ask):
        partition.log_failure(ask, messages.PRECONDITIONS_FAILED)
    elif partition.attempts <= 0 and partition.rules.counts_attempts_made:
        partition.due_at(partition.now_ms + CYCLE_MS, ask)
        partition.log_failure(ask, messages.ATTEMPTS_EXHAUSTED)
    else:
        partition.attempts -= int(partition.rules.counts_attempts_made)
        ask.checked_ms = partition.now_ms
        partition.listener.attempting(ask)
        partition.due_at(partition.now_ms + RETRY_MS, ask)
        if _preempt(partition, ask, nodes_tried=nodes_tried):
            return True
    return False


def _preempt(partition: Partition, ask: Ask, *, nodes_tried: bool) -> bool:
    """Ask victims to end, and reserve their node, where the laws allow it."""
    plan = _plan(partition, ask, nodes_tried=nodes_tried)
    if partition.trace is not None:
        _trace_plan(partition.trace, ask, plan, nodes_tried=nodes_tried)
    if isinstance(plan, str):
        if plan:
            partition.log_failure(ask, plan)
        return False
    partition.mark_preempted(plan.victims)
    ask.triggered = True
    partition.listener.preempting(ask, plan.victims, STRATEGY)
    for other in list(plan.node.reservations.values()):
        if other is not ask:  # long overdue: the search has looked
            partition.unreserve(other)
    partition.reserve(ask, plan.node)
    return True


def _plan(partition: Partition, ask: Ask, *, nodes_tried: bool) -> PreemptionPlan | str:
    """Return the laws' choice; equal asks of a leaf are refused alike in one cycle."""
    key = (
        ask.app.queue.path,
        ask.needs,
        frozenset(ask.resource),
        ask.priority,
        ask.predicate,
        ask.reserved_on,
        nodes_tried,
    )
    refused: str | None = partition.refused_attempts.get(key)
    if refused is not None:
        return refused
    plan = partition.laws.choose(partition, ask, nodes_tried=nodes_tried)
    if isinstance(plan, str):
        partition.refused_attempts[key] = plan
    return plan


def _trace_plan(
    trace: Trace, ask: Ask, plan: PreemptionPlan | str, *, nodes_tried: bool
) -> None:
    if isinstance(plan, str):
        trace.step("preemption", ask=ask.key, refused=plan or messages.DOES_NOT_HELP)
    else:
        keys = [victim.key for victim in plan.victims]
        node = plan.node.name
        trace.step(
            "preemption", ask=ask.key, node=node, victims=keys, nodesTried=nodes_tried
        )


def _may_preempt(partition: Partition, ask: Ask) -> bool:
    """Return whether an ask may try now.

    Source: docs/semantics/yunikorn.md#preemption-preconditions
    """
    if not ask.allow_other or ask.triggered or ask.required_node is not None:
        return False
    ready = ask.create_ms + partition.laws.delay_ms(ask.app.queue)
    if ask.checked_ms is not None:
        ready = max(ready, ask.checked_ms + RETRY_MS)
    if partition.now_ms < ready:
        partition.due_at(ready, ask)
        return False
    return True


# ------------------------------------------------------------------------
# Who may be asked to leave for an ask: scope, comparable priority, over guarantee.


CandidatesByQueue = dict[str, list[Ask]]  # queue path -> candidates, any order


def candidates(
    snapshot: Snapshot, ask: Ask, *, fenced_by_next: bool = True
) -> CandidatesByQueue:
    """Return the candidates of every leaf in scope; leaves without any are absent.

    Source: docs/semantics/yunikorn.md#preemption-candidates
    """
    scope, priorities = scope_of(ask, fenced_by_next=fenced_by_next)
    if scope.leaf:
        return {}
    found: CandidatesByQueue = {}
    for leaf, limit in _leaves(
        scope, priorities[scope.path], priorities, ask, fenced=False
    ):
        pods = _of_leaf(snapshot, leaf, limit, ask)
        if pods:
            found[leaf.path] = pods
    return found


def scope_of(ask: Ask, *, fenced_by_next: bool = True) -> tuple[Queue, dict[str, int]]:
    """Return how far up victims are looked for, and the priority to compare there.

    Up to the root, a preemption fence, or a queue whose effective max the ask
    would pass: nothing outside that one could help. Without `fenced_by_next`, or one
    that uses just its own max.
    Source: docs/semantics/yunikorn.md#preemption-scope
    """
    priority = ask.priority
    priorities: dict[str, int] = {}
    queue = ask.app.queue
    for queue in ask.app.queue.route:
        offset = queue.properties.priority_offset
        fenced = queue.properties.priority_fence
        priority = offset if fenced else priority + offset
        priorities[queue.path] = priority
        full = _at_max(queue, ask) if fenced_by_next else _uses_max(queue)
        if queue.properties.preemption == "fence" or full:
            break
    return queue, priorities


def _at_max(queue: Queue, ask: Ask) -> bool:
    limit = queue.effective_max()
    if limit is None:
        return False
    wanted = resources.plus(queue.allocated, ask.resource)
    return not resources.fits_undefined(limit, tuple(wanted.items()))


def _uses_max(queue: Queue) -> bool:
    if queue.max is None:
        return False
    names = queue.max.keys() | queue.allocated.keys()
    return all(queue.max.get(n, 0) == queue.allocated.get(n, 0) for n in names)


def _leaves(
    queue: Queue, priority: int, priorities: dict[str, int], ask: Ask, *, fenced: bool
) -> Iterator[tuple[Queue, int | None]]:
    """Yield leaves with the highest priority that may go; None is any.

    Below a priority fence pods of any priority may go, but a fence further
    down is still compared with the ask.
    """
    if queue.leaf:
        if queue is not ask.app.queue:
            yield queue, None if fenced else priority
        return
    for name in sorted(queue.children):
        child = queue.children[name]
        own, offset = child.properties, child.properties.priority_offset
        if child.path in priorities:
            limit, below = priorities[child.path], False
        elif not own.priority_fence:
            limit, below = priority - offset, fenced
        elif offset <= priority:
            limit, below = priority, True
        else:
            continue
        yield from _leaves(child, limit, priorities, ask, fenced=below)


def _of_leaf(snapshot: Snapshot, leaf: Queue, limit: int | None, ask: Ask) -> list[Ask]:
    if leaf.properties.preemption == "disabled":
        return []
    left = remaining(snapshot.queues[leaf.path])
    if left is not None and not any(value < 0 for value in left.values()):
        return []
    wanted = ask.resource
    return [
        pod
        for app in leaf.apps.values()
        for pod in app.allocations.values()
        if (limit is None or pod.priority <= limit)
        and pod.required_node is None
        and not pod.preempted
        and not pod.released
        and resources.share_any(pod.resource, wanted)
    ]


def victim_order(pod: Ask) -> tuple[Any, ...]:
    """Return the order of candidates: opted in, not originator, newest, by key.

    Source: docs/semantics/yunikorn.md#nodes-of-a-preemption-attempt
    """
    return (not pod.allow_self, pod.originator, -pod.create_ms, pod.key)


# ------------------------------------------------------------------------
# Preemption for pods that must run on one node: DaemonSets.


REQUIRED_NODE = "RequiredNode"


def preempt(partition: Partition, node: SchedulingNode, ask: Ask) -> None:
    """Ask pods on the required node to end, so that the ask fits there.

    No delay, guarantee, fence or same-application rule.
    Source: docs/semantics/yunikorn.md#required-node-preemption
    """
    victims = partition.laws.required_victims(partition, node, ask)
    if not victims:
        partition.log_failure(ask, messages.NO_FIT_ON_REQUIRED_NODE)
        return
    if partition.trace is not None:
        keys = [victim.key for victim in victims]
        partition.trace.step("required", ask=ask.key, node=node.name, victims=keys)
    partition.mark_preempted(victims)
    ask.triggered = True
    partition.listener.preempting(ask, victims, REQUIRED_NODE)


def victims_of_node(
    node: SchedulingNode, ask: Ask, *, daemons: bool = False
) -> list[Ask]:
    """Return the candidates in order: plain, opted out, originators.

    Within each: lower priority, newer, smaller, then by key. With `daemons`
    opted-out pods come after originators and required-node pods last of all,
    but none of the ask's own application.
    """
    found = [
        pod
        for pod in node.allocations.values()
        if (daemons or pod.required_node is None)
        and not (daemons and pod.app is ask.app)
        and pod.priority <= ask.priority
        and not pod.preempted
        and not pod.released
        and resources.share_any(pod.resource, ask.resource)
    ]
    return sorted(found, key=_last_resort if daemons else _order)


def _order(pod: Ask) -> tuple[Any, ...]:
    return (pod.originator, not pod.allow_self, *_among_equals(pod))


def _last_resort(pod: Ask) -> tuple[Any, ...]:
    daemon = pod.required_node is not None
    return (daemon, not pod.allow_self, pod.originator, *_among_equals(pod))


def _among_equals(pod: Ask) -> tuple[Any, ...]:
    return (pod.priority, -pod.create_ms, sorted(pod.resource.items()), pod.key)


def covers(left: Amounts, right: Amounts) -> bool:
    """Return whether left >= right on every type that either has."""
    names = left.keys() | right.keys()
    return all(left.get(name, 0) >= right.get(name, 0) for name in names)
