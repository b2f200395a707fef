"""Places for a workload whose nodes came only after its quota was reserved.

Source: docs/semantics/kueue-topology.md#delayed-assignments.
"""

from __future__ import annotations

from dataclasses import replace

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.flavorassigner.assignment import Assignment
from scheduler.engine.kueue.flavorassigner.modes import Mode
from scheduler.engine.kueue.flavorassigner.topology import to_place, usage_of
from scheduler.engine.kueue.flavorassigner.topology_flavors import is_explicit
from scheduler.engine.kueue.scheduler.entries import Entry
from scheduler.engine.kueue.topology.placement import (
    PodSetPlacement,
    PodSetToPlace,
    Results,
)
from scheduler.engine.kueue.workload.checks import PENDING_TOPOLOGY, READY_TOPOLOGY
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.topology import TopologyAssignment
from scheduler.model.workload import PodSet


def place_delayed(cluster: Cluster, entry: Entry, assignment: Assignment) -> None:
    """Place the podsets of an assignment that wait for it, flavors kept.

    The mode is NO_FIT where one has no place; nobody is preempted for it.
    """
    results = _search(cluster, entry.work, assignment)
    reasons = [found for found in results.values() if isinstance(found, str)]
    if reasons:
        assignment.mode = Mode.NO_FIT
        entry.message = reasons[0]
        return
    for plan in assignment.parts:
        found = results.get(plan.name)
        if isinstance(found, TopologyAssignment):
            plan.topology, plan.delayed = found, READY_TOPOLOGY
    assignment.topology_usage = usage_of(
        entry.work, assignment.parts, cluster.topologies
    )


def _search(cluster: Cluster, work: WorkloadInfo, assignment: Assignment) -> Results:
    cache = cluster.topologies
    parts = {part.name: part for part in work.pod_sets}
    by_flavor: dict[str, list[PodSetToPlace]] = {}
    results: Results = {}
    for plan in assignment.parts:
        if plan.delayed != PENDING_TOPOLOGY or not plan.count:
            continue
        part = parts.get(plan.name)
        if part is None:  # an edit took it away
            results[plan.name] = f"the workload has no pod set {plan.name}"
            continue
        placed = to_place(part, plan.count, implied=not is_explicit(part))
        placed = replace(placed, needs=_needs(work, part))
        for flavor in sorted(set(plan.flavors.values()) & set(cache.trees)):
            by_flavor.setdefault(flavor, []).append(placed)
    placement = PodSetPlacement(cache.searches, cache.gates)
    placement.sharing = cache.sharing()
    flavors = sorted(by_flavor)
    for flavor in flavors:
        placement.last_flavor = flavor == flavors[-1]
        results.update(placement.place(cache.trees[flavor], by_flavor[flavor]))
    placement.end()
    return results


def _needs(work: WorkloadInfo, part: PodSet) -> PlacementNeeds:
    """Return what a podset needs of nodes, with what its checks add to the pods."""
    updates = [
        update
        for check in work.checks.values()
        for update in check.pod_set_updates
        if update.get("name") == part.name
    ]
    if not updates:
        return part.needs
    spec = dict(part.needs.spec)
    for update in updates:
        selector = {**(spec.get("nodeSelector") or {}), **_labels(update)}
        tolerations = [*(spec.get("tolerations") or ()), *_tolerations(update)]
        spec |= {"nodeSelector": selector, "tolerations": tolerations}
    return PlacementNeeds(spec)


def _labels(update: dict[str, object]) -> dict[str, str]:
    given = update.get("nodeSelector")
    return dict(given) if isinstance(given, dict) else {}


def _tolerations(update: dict[str, object]) -> list[object]:
    given = update.get("tolerations")
    return list(given) if isinstance(given, list) else []
