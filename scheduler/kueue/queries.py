"""Read-only questions about the Kueue stage, for whoever drives or draws it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scheduler.records.objects import Key

if TYPE_CHECKING:
    from scheduler.kueue.stage import KueueStage
    from scheduler.kueue.tree.tree import Cell, Queue


def runs(stage: KueueStage, key: Key) -> bool:
    """Tell whether the Workload holds its quota and is not evicted."""
    work = stage.cluster.works.get(key)
    if work is None or work.admission is None:
        return False
    return work.reserved and not work.evicted and not work.finished


def numbers(stage: KueueStage) -> tuple[int, int]:
    """Return how many workloads wait in heaps, and how many are parked."""
    lines = [queue.line for queue in stage.cluster.forest.queues.values()]
    return sum(line.queued for line in lines), sum(line.waiting for line in lines)


def violations(stage: KueueStage) -> Iterator[str]:
    """Yield a sentence per law of the quota tree that does not hold.

    Usage of every ClusterQueue is the sum of what its workloads hold, and of
    every Cohort the sum of what its children take from it.
    Source: KUEUE.md 4.
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


def _held(queue: Queue) -> dict[tuple[str, str], int]:
    held: dict[tuple[str, str], int] = {}
    for work in queue.shelf.works:
        for cell, amount in work.held:
            held[_name(cell)] = held.get(_name(cell), 0) + amount
    return held


def _name(cell: Cell) -> tuple[str, str]:
    return cell.flavor_resource
