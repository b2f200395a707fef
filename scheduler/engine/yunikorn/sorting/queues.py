"""The order in which a parent serves its children: always fair."""

from __future__ import annotations

from typing import Any

from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model.proposals import Asking, YunikornQueue
from scheduler.model.yunikorn.resources import Amounts, fair_share


def children_in_order(partition: Partition, parent: Queue) -> list[Queue]:
    """Return the children that wait for something, first to serve first.

    Under positional laws a child's fair-max is looked up by its present position while
    sorting, as released code does. Ties keep the order of the configuration. A proposal
    comes before all of it.
    Source: docs/semantics/yunikorn.md#order-of-queues
    """
    waiting = [
        child
        for child in parent.children.values()
        if child.has_pending and child.state != "Stopped"
    ]
    if len(waiting) < 2:
        return waiting
    by_priority = parent.properties.by_priority
    if partition.laws.positional and parent.mixed_max:
        _sort_by_position(waiting, by_priority=by_priority)
    else:
        waiting.sort(key=lambda child: child.order_key or _key(child, by_priority))
        # Put the one that waits for more in front of its equals, in place.
        for index in range(1, len(waiting)):
            at = index
            right = waiting[at]
            while at and waiting[at - 1].order_key == right.order_key:
                left = waiting[at - 1]
                if not _waits_for_more(right.pending, left.pending):
                    break
                waiting[at - 1], waiting[at] = right, left
                at -= 1
    asking = partition.asking
    if asking is not None:
        waiting.sort(key=lambda child: _proposed(asking, child, partition.now_ms))
    return waiting


def _proposed(asking: Asking, queue: Queue, now_ms: int) -> float:
    seen = YunikornQueue(
        name=queue.path,
        guaranteed=queue.guaranteed,
        max=queue.max,
        allocated=queue.allocated,
        pending=queue.pending,
    )
    return asking.number("queue_order", seen, now_ms)


def _key(child: Queue, by_priority: bool) -> tuple[Any, ...]:
    share = share_of(child)
    urgency = -child.published
    key = child.order_key = (urgency, share) if by_priority else (share, urgency)
    return key


def share_of(queue: Queue) -> float:
    """Return the fair share of a queue by its own guarantee and fair-max."""
    return fair_share(queue.allocated, queue.guaranteed, queue.fair_max)


def _sort_by_position(queues: list[Queue], *, by_priority: bool) -> None:
    """Sort in place, each compared by the fair-max of the position it is at.

    The relation is not transitive, so the way of sorting counts: insertion.
    """
    ceilings: list[Amounts | None] = [queue.fair_max for queue in queues]
    for index in range(1, len(queues)):
        at = index
        while at:
            left, right = queues[at - 1], queues[at]
            if not _before(right, ceilings[at], left, ceilings[at - 1], by_priority):
                break
            queues[at - 1], queues[at] = right, left
            at -= 1


def _before(
    a: Queue, a_max: Amounts | None, b: Queue, b_max: Amounts | None, by_priority: bool
) -> bool:
    a_share = fair_share(a.allocated, a.guaranteed, a_max)
    b_share = fair_share(b.allocated, b.guaranteed, b_max)
    if by_priority:
        left: tuple[float, float] = (-a.published, a_share)
        right: tuple[float, float] = (-b.published, b_share)
    else:
        left, right = (a_share, -a.published), (b_share, -b.published)
    if left != right:
        return left < right
    return _waits_for_more(a.pending, b.pending)


def _waits_for_more(a: Amounts, b: Amounts) -> bool:
    """Return whether a - b is strictly greater than zero."""
    more = False
    for name in a.keys() | b.keys():
        difference = a.get(name, 0) - b.get(name, 0)
        if difference < 0:
            return False
        more = more or difference > 0
    return more
