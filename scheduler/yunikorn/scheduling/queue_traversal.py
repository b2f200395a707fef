"""Going through the queue tree in order, until one visit has an outcome."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from scheduler.yunikorn.objects.listener import Trace
from scheduler.yunikorn.objects.model import Queue
from scheduler.yunikorn.objects.partition import Partition
from scheduler.yunikorn.sorting.queues import children_in_order, share_of


class Outcome(Enum):
    """How a visit of a queue ended."""

    PLACED = auto()  # activity: the next cycle follows at once
    HELD = auto()  # a reservation was made or given up; ends the visit


Visit = Callable[[Partition, Queue], Outcome | None]


def visit(partition: Partition, queue: Queue, leaf: Visit) -> Outcome | None:
    """Go depth first through the queues that wait, until one has an outcome."""
    if queue.leaf:
        return leaf(partition, queue)
    order = children_in_order(queue, positional=partition.laws.positional)
    if partition.trace is not None:
        _trace_order(partition.trace, queue, order)
    for child in order:
        outcome = visit(partition, child, leaf)
        if outcome is not None:
            return outcome
    return None


def _trace_order(trace: Trace, parent: Queue, order: list[Queue]) -> None:
    rows = [(child.path, child.published, share_of(child)) for child in order]
    trace.step("order", queue=parent.path, children=rows)
