"""Read-only questions about the Kueue stage, for drivers and views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scheduler.records.objects import Key

if TYPE_CHECKING:
    from scheduler.kueue.stage import KueueStage
    from scheduler.kueue.tree.tree import ClusterQueue, ResourceNode


def is_running(stage: KueueStage, key: Key) -> bool:
    """Return whether the Workload holds its quota and is not evicted."""
    work = stage.cluster.workloads.get(key)
    if work is None or work.admission is None:
        return False
    return work.reserved and not work.evicted and not work.finished


def is_stopping(stage: KueueStage, key: Key) -> bool:
    """Return whether an evicted Workload still holds its quota."""
    work = stage.cluster.workloads.get(key)
    if work is None or work.admission is None:
        return False
    return work.reserved and work.evicted and not work.finished


def pending_counts(stage: KueueStage) -> tuple[int, int]:
    """Return how many workloads wait in heaps, and how many are inadmissible."""
    pending = [queue.pending for queue in stage.cluster.forest.queues.values()]
    return sum(each.pending_active for each in pending), sum(
        each.pending_inadmissible for each in pending
    )


def violations(stage: KueueStage) -> Iterator[str]:
    """Yield a sentence per law of the quota tree that does not hold.

    Usage of every ClusterQueue is the sum of what its workloads hold, and of
    every Cohort the sum of what its children take from it.
    Source: docs/semantics/kueue.md#quota-tree.
    """
    for name, queue in sorted(stage.cluster.forest.queues.items()):
        held = _held(queue)
        for cell in queue.cells.values():
            expected = held.get(cell.flavor_resource, 0)
            if cell.usage != expected:
                yield (
                    f"ClusterQueue {name} counts {cell.usage} of "
                    f"{cell.flavor_resource}, its workloads hold {expected}"
                )


def _held(queue: ClusterQueue) -> dict[tuple[str, str], int]:
    held: dict[tuple[str, str], int] = {}
    for work in queue.admitted.workloads:
        for cell, amount in work.usage:
            held[_name(cell)] = held.get(_name(cell), 0) + amount
    return held


def _name(cell: ResourceNode) -> tuple[str, str]:
    return cell.flavor_resource
