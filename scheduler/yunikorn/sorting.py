"""The order in which a parent serves its children: always fair."""

from __future__ import annotations

from typing import Any

from scheduler.yunikorn.queues import Queue
from scheduler.yunikorn.resources import Amounts, fair_share


def children_in_order(parent: Queue, *, positional: bool) -> list[Queue]:
    """Return the children that wait for something, first to serve first.

    With `positional` a child's fair-max is looked up by its present position
    while sorting, as released code does. Ties keep the order of the configuration.
    Source: YUNIKORN.md 5.
    """
    waiting = [
        child
        for child in parent.children.values()
        if child.wants and child.state != "Stopped"
    ]
    if len(waiting) < 2:
        return waiting
    by_priority = parent.properties.by_priority
    if not (positional and parent.mixed_max):
        waiting.sort(key=lambda child: _key(child, by_priority))
        if not _has_ties(waiting):
            return waiting
    _insertion_sort(waiting, by_priority=by_priority, positional=positional)
    return waiting


def _key(child: Queue, by_priority: bool) -> tuple[Any, ...]:
    key = child.order_key
    if key is None:
        share = share_of(child)
        urgency = -child.published
        key = child.order_key = (urgency, share) if by_priority else (share, urgency)
    return key


def share_of(queue: Queue) -> float:
    """Return the fair share of a queue by its own guarantee and fair-max."""
    return fair_share(queue.allocated, queue.guaranteed, queue.fair_max)


def _has_ties(queues: list[Queue]) -> bool:
    before = None
    for queue in queues:
        key = queue.order_key
        if key == before:
            return True
        before = key
    return False


def _insertion_sort(
    queues: list[Queue], *, by_priority: bool, positional: bool
) -> None:
    """Sort in place; the relation is not transitive, so the way of sorting counts."""
    ceilings: list[Amounts | None] = [queue.fair_max for queue in queues]
    for index in range(1, len(queues)):
        at = index
        while at:
            left, right = queues[at - 1], queues[at]
            if positional:
                left_max, right_max = ceilings[at - 1], ceilings[at]
            else:
                left_max, right_max = left.fair_max, right.fair_max
            if not _before(right, right_max, left, left_max, by_priority):
                break
            queues[at - 1], queues[at] = right, left
            at -= 1


def _before(
    a: Queue,
    a_max: Amounts | None,
    b: Queue,
    b_max: Amounts | None,
    by_priority: bool,
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
    """Tell whether a - b is strictly greater than zero."""
    more = False
    for name in a.keys() | b.keys():
        difference = a.get(name, 0) - b.get(name, 0)
        if difference < 0:
            return False
        more = more or difference > 0
    return more
