"""Read-only questions about the Kueue stage, for drivers and views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scheduler.engine.kueue.workload.reading import all_ready
from scheduler.model.objects import Key
from scheduler.model.reasons import ADMITTED

if TYPE_CHECKING:
    from scheduler.engine.kueue.stage import KueueStage
    from scheduler.engine.kueue.tree.tree import (
        Cohort,
        FlavorResource,
        ResourceNode,
        Workload,
    )
    from scheduler.engine.kueue.workload.info import LocalQueue


def is_running(stage: KueueStage, key: Key) -> bool:
    """Return whether the Workload holds its quota, is admitted and is not evicted.

    One whose checks are not ready yet holds quota and runs nothing.
    """
    work = stage.cluster.workloads.get(key)
    if work is None or work.admission is None:
        return False
    admitted = work.has_condition(ADMITTED) or all_ready(work.checks)
    return work.reserved and admitted and not work.evicted and not work.finished


def is_stopping(stage: KueueStage, key: Key) -> bool:
    """Return whether an evicted Workload still holds its quota."""
    work = stage.cluster.workloads.get(key)
    if work is None or work.admission is None:
        return False
    return work.reserved and work.evicted and not work.finished


def pending_counts(stage: KueueStage) -> tuple[int, int]:
    """Return how many workloads wait in heaps, and how many are inadmissible."""
    active = inadmissible = 0
    for queue in stage.cluster.forest.queues.values():
        active += queue.pending.pending_active
        inadmissible += queue.pending.pending_inadmissible
    return active, inadmissible


def violations(stage: KueueStage) -> Iterator[str]:
    """Yield a sentence per sum of the quota tree that a recount refutes.

    Usage of every ClusterQueue is the sum of what its workloads hold, and of
    every Cohort the sum of what its children take from it; a LocalQueue counts
    its workloads that wait, hold quota and are admitted. O(resource nodes + workloads).
    Source: docs/semantics/kueue.md#quota-tree.
    """
    for name, queue in sorted(stage.cluster.forest.queues.items()):
        held = _sum(queue.admitted.workloads)
        for resource_node in queue.resource_nodes.values():
            yield from _differ(
                f"ClusterQueue {name}",
                resource_node,
                held.get(resource_node.flavor_resource, 0),
            )
    for name, cohort in sorted(stage.cluster.forest.cohorts.items()):
        for resource_node in cohort.resource_nodes.values():
            yield from _differ(
                f"Cohort {name}", resource_node, _taken(cohort, resource_node)
            )
    for local_queue in stage.cluster.local_queues.values():
        yield from _local_queue_counts(local_queue)


def _differ(name: str, resource_node: ResourceNode, counted: int) -> Iterator[str]:
    if resource_node.usage != counted:
        kind = resource_node.flavor_resource
        yield f"{name} counts {resource_node.usage} of {kind}, what is below holds {counted}"


def _taken(cohort: Cohort, resource_node: ResourceNode) -> int:
    """Return what the children use beyond the quota that is theirs alone."""
    resource_nodes = (
        child.resource_nodes.get(resource_node.flavor_resource)
        for child in cohort.children()
    )
    return sum(max(0, each.usage - each.local_quota) for each in resource_nodes if each)


def _local_queue_counts(local_queue: LocalQueue) -> Iterator[str]:
    works = local_queue.workloads
    reserving = [work for work in works if local_queue.counts(work)]
    admitted = [work for work in reserving if work.has_condition(ADMITTED)]
    pending = [work for work in works if work.pending_queue is not None]
    counts = {
        "pending": (local_queue.pending, len(pending)),
        "reserving": (local_queue.reserving, len(reserving)),
        "admitted": (local_queue.admitted, len(admitted)),
        "usage": (_some(local_queue.usage), _sum(reserving)),
        "usage of the admitted": (_some(local_queue.admitted_usage), _sum(admitted)),
    }
    for what, (kept, counted) in counts.items():
        if kept != counted:
            yield f"{local_queue.key}: {what} is {kept}, its workloads say {counted}"


def _some(usage: dict[FlavorResource, int]) -> dict[FlavorResource, int]:
    return {kind: amount for kind, amount in usage.items() if amount}


def _sum(works: Iterable[Workload]) -> dict[FlavorResource, int]:
    found: dict[FlavorResource, int] = {}
    for work in works:
        for resource_node, amount in work.usage:
            kind = resource_node.flavor_resource
            found[kind] = found.get(kind, 0) + amount
    return found
