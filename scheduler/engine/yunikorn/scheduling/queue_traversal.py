"""Going through the queue tree in order, until one leaf has a result."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from scheduler.engine.yunikorn.objects.listener import Trace
from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.sorting.queues import children_in_order, share_of


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
    order = children_in_order(queue, positional=partition.laws.positional)
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
