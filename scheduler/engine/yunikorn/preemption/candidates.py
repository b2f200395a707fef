"""Who may be asked to leave for an ask: scope, comparable priority, over guarantee."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.engine.yunikorn.objects.model import Ask, Queue
from scheduler.engine.yunikorn.preemption.snapshot import Snapshot, remaining
from scheduler.model.yunikorn import resources

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
