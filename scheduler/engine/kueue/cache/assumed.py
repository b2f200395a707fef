"""Quota that a workload holds: taken on admission, given back when it is gone."""

from __future__ import annotations

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.topology.cache import DomainUsage, ReservedDomains
from scheduler.engine.kueue.tree.quota import add_usages, remove_usages
from scheduler.engine.kueue.tree.tree import ClusterQueue, FlavorResource, ResourceNode
from scheduler.engine.kueue.workload.info import (
    NO_FLAVORS,
    NO_RANK,
    LocalQueue,
    WorkloadInfo,
)
from scheduler.model.reasons import ADMITTED
from scheduler.model.workload import remaining_usage


def take_quota(work: WorkloadInfo, queue: ClusterQueue, cluster: Cluster) -> None:
    """Let a workload hold what its admission says, less what it reclaims.

    Source: docs/semantics/kueue.md#usage-of-an-admitted-workload.
    """
    assert work.admission is not None
    usage = _usage(work, queue)
    work.cluster_queue = queue
    work.usage = tuple(
        (resource_node, amount) for resource_node, amount in usage.items() if amount
    )
    work.flavor_resources = frozenset(
        resource_node.flavor_resource for resource_node in usage
    )
    add_usages(work.usage)
    if any(part.topology is not None for part in work.admission.pod_sets):
        work.topology = ReservedDomains(cluster.topologies, stands_of(work), work)
    queue.admitted.put(work)
    _count(work.local_queue, work, 1)


def drop_quota(work: WorkloadInfo, cluster: Cluster) -> None:
    """Let a workload hold nothing any longer."""
    queue = work.cluster_queue
    assert queue is not None
    if cluster.proposing is not None:
        cluster.proposing.passed(queue)
    queue.admitted.drop(work)
    remove_usages(work.usage)
    if work.topology is not None:
        work.topology.release()
        work.topology = None
    _count(work.local_queue, work, -1)
    work.cluster_queue, work.usage, work.flavor_resources = None, (), NO_FLAVORS
    work.rank = NO_RANK


def _usage(work: WorkloadInfo, queue: ClusterQueue) -> dict[ResourceNode, int]:
    assert work.admission is not None
    left = {part.name: work.count_after_reclaim(part) for part in work.pod_sets}
    usage: dict[ResourceNode, int] = {}
    for part in work.admission.pod_sets:
        totals = part.usage
        if work.reclaimable or work.elastic:
            totals = remaining_usage(part, left.get(part.name, part.count))
        for resource, flavor in part.flavors.items():
            resource_node = queue.resource_node((flavor, resource))
            usage[resource_node] = usage.get(resource_node, 0) + totals.get(resource, 0)
    return usage


def stands_of(work: WorkloadInfo) -> tuple[DomainUsage, ...]:
    """Return what a workload's admission takes of leaves.

    Source: docs/semantics/kueue-topology.md#capacity-of-a-leaf.
    """
    assert work.admission is not None
    needs = {part.name: part.needs for part in work.pod_sets}
    return tuple(
        DomainUsage(flavor, domain.values, needs[part.name].per_pod, domain.pods)
        for part in work.admission.pod_sets
        if part.topology is not None and part.name in needs
        for flavor in sorted(set(part.flavors.values()))
        for domain in part.topology.domains
    )


def count_anew(local_queue: LocalQueue) -> None:
    """Count the quota that workloads hold through a LocalQueue, once it leads elsewhere.

    Source: docs/semantics/kueue.md#counts-of-localqueues.
    """
    local_queue.reserving = local_queue.admitted = 0
    local_queue.usage, local_queue.admitted_usage = {}, {}
    for work in local_queue.workloads:
        _count(local_queue, work, 1)


def _count(local_queue: LocalQueue, work: WorkloadInfo, sign: int) -> None:
    if not local_queue.counts(work):
        return
    local_queue.reserving += sign
    _add(local_queue.usage, work, sign)
    if work.has_condition(ADMITTED):
        count_admitted(work, sign)


def count_admitted(work: WorkloadInfo, sign: int = 1) -> None:
    """Count a workload with quota as admitted in its LocalQueue, or no longer."""
    if not work.local_queue.counts(work):
        return
    work.local_queue.admitted += sign
    _add(work.local_queue.admitted_usage, work, sign)


def _add(usage: dict[FlavorResource, int], work: WorkloadInfo, sign: int) -> None:
    for resource_node, amount in work.usage:
        total = usage.pop(resource_node.flavor_resource, 0) + sign * amount
        if total:  # what nobody holds is as if nobody had held it
            usage[resource_node.flavor_resource] = total
