"""The second pass of a workload that has quota: other places for a failed node.

Source: docs/semantics/kueue-topology.md#second-pass.
"""

from __future__ import annotations

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.flavorassigner.assignment import Assignment, PodSetPlan
from scheduler.engine.kueue.flavorassigner.modes import Mode
from scheduler.engine.kueue.flavorassigner.topology import to_place
from scheduler.engine.kueue.flavorassigner.topology_flavors import is_explicit
from scheduler.engine.kueue.scheduler.delayed_topology import place_delayed
from scheduler.engine.kueue.scheduler.entries import Entry
from scheduler.engine.kueue.topology.cache import DomainUsage
from scheduler.engine.kueue.topology.placement import (
    PodSetPlacement,
    PodSetToPlace,
    Results,
)
from scheduler.engine.kueue.topology.replacement import replace_node, stands_on
from scheduler.engine.kueue.workload.checks import waits_for_places
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.topology import TopologyAssignment
from scheduler.model.workload import PodSetAssignment, remaining_usage

FIRST_WAIT_US, LONGEST_WAIT_US = 1_000_000, 30_000_000


def needs_second_pass(work: WorkloadInfo) -> bool:
    """Return whether pods of a workload stand on a node that failed, or nowhere yet.

    Source: docs/semantics/kueue-topology.md#second-pass.
    """
    if work.admission is None:
        return False
    if not work.reserved or work.evicted or work.finished:
        return False
    if not work.has_condition("Admitted"):
        return waits_for_places(work.checks, work.admission)
    return any(
        stands_on(part.topology, node)
        for part in work.admission.pod_sets
        for node in work.unhealthy_nodes
    )


def wait_us(tries: int) -> int:
    """Return how long a workload waits for its next second pass."""
    return min(FIRST_WAIT_US << min(tries, 16), LONGEST_WAIT_US)


def nominate_replacement(cluster: Cluster, entry: Entry) -> None:
    """Give an entry the assignment that it has, with the failed node replaced.

    One that is not admitted yet waits for its first places.

    Its mode is NO_FIT where no other place is found. Flavors are kept.
    """
    work = entry.work
    assert work.admission is not None
    assignment = Assignment()
    for part in work.admission.pod_sets:
        assignment.parts.append(_plan(work, part))
    entry.assignment = assignment
    if not work.has_condition("Admitted"):
        place_delayed(cluster, entry, assignment)
        return
    if work.owned_by_pod:
        return
    results = _search(cluster, work, assignment)
    failed = any(isinstance(found, str) for found in results.values())
    if failed or _has_lost_podsets(work, assignment):
        assignment.mode = Mode.NO_FIT
        return
    for plan in assignment.parts:
        found = results.get(plan.name)
        if isinstance(found, TopologyAssignment):
            plan.topology = found
    assignment.topology_usage = _new_pods(cluster, work, assignment)


def _has_lost_podsets(work: WorkloadInfo, assignment: Assignment) -> bool:
    """Return whether the failed node has pods of podsets that an edit took away."""
    known = {part.name for part in work.pod_sets}
    return any(
        plan.name not in known and stands_on(plan.topology, work.unhealthy_nodes[0])
        for plan in assignment.parts
    )


def _plan(work: WorkloadInfo, part: PodSetAssignment) -> PodSetPlan:
    """Return what a podset holds, less what it has reclaimed."""
    counts = {p.name: work.count_after_reclaim(p) for p in work.pod_sets}
    count = min(part.count, counts.get(part.name, part.count))
    plan = PodSetPlan(part.name, count, dict(remaining_usage(part, count)))
    plan.flavors = dict(part.flavors)
    plan.topology, plan.delayed = part.topology, part.delayed
    return plan


def _search(cluster: Cluster, work: WorkloadInfo, assignment: Assignment) -> Results:
    cache = cluster.topologies
    parts = {part.name: part for part in work.pod_sets}
    by_flavor: dict[str, list[PodSetToPlace]] = {}
    current: dict[str, TopologyAssignment] = {}
    for plan in assignment.parts:
        if plan.topology is None or plan.name not in parts:
            continue
        current[plan.name] = plan.topology
        part = parts[plan.name]
        for flavor in sorted(set(plan.flavors.values())):
            if flavor in cache.trees:
                by_flavor.setdefault(flavor, []).append(
                    to_place(part, plan.count, implied=not is_explicit(part))
                )
    placement = PodSetPlacement(cache.searches, cache.gates)
    placement.sharing = cache.sharing()
    node = work.unhealthy_nodes[0]
    results: Results = {}
    for flavor in sorted(by_flavor):
        tree = cache.trees[flavor]
        results.update(replace_node(placement, tree, by_flavor[flavor], current, node))
    placement.end()
    return results


def _new_pods(
    cluster: Cluster, work: WorkloadInfo, assignment: Assignment
) -> tuple[DomainUsage, ...]:
    """Return what the pods take that were not there before."""
    held: dict[tuple[str, tuple[str, ...], int], int] = {}
    for usage in work.topology.usage if work.topology is not None else ():
        key = (usage.flavor, usage.key, id(usage.per_pod))
        held[key] = held.get(key, 0) + usage.pods
    needs = {part.name: part.needs for part in work.pod_sets}
    found = []
    for plan in assignment.parts:
        for flavor in sorted(set(plan.flavors.values())):
            if plan.topology is None or plan.name not in needs:
                continue
            if flavor not in cluster.topologies.trees:
                continue
            per_pod = needs[plan.name].per_pod
            for domain in plan.topology.domains:
                key = (flavor, domain.values, id(per_pod))
                more = domain.pods - held.get(key, 0)
                if more > 0:
                    found.append(DomainUsage(flavor, domain.values, per_pod, more))
    return tuple(found)
