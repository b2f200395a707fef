"""The second pass of a workload that has quota: other places for a failed node.

Source: docs/semantics/kueue-topology.md#second-pass.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.flavorassigner.assignment import (
    Assignment,
    Mode,
    PodSetPlan,
    Severity,
)
from scheduler.engine.kueue.flavorassigner.topology import (
    is_explicit,
    to_place,
    usage_of,
)
from scheduler.engine.kueue.preemption.targets import Target
from scheduler.engine.kueue.queue.requeue import RequeueReason
from scheduler.engine.kueue.topology.cache import DomainUsage
from scheduler.engine.kueue.topology.placement import (
    PodSetPlacement,
    PodSetToPlace,
    Results,
)
from scheduler.engine.kueue.topology.replacement import replace_node, stands_on
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import (
    PENDING_TOPOLOGY,
    READY_TOPOLOGY,
    waits_for_places,
)
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.reasons import (
    EXCEEDS_MAX_QUOTA,
    GATED_SENTENCE,
    NO_MATCHING_FLAVOR,
    PENDING_EVALUATION,
    TOPOLOGY_PLACEMENT_FAILED,
    WAITING_FOR_ALL,
    WAITING_FOR_PODS_READY,
    WAITING_FOR_QUOTA,
)
from scheduler.model.topology import TopologyAssignment
from scheduler.model.workload import PodSet, PodSetAssignment, remaining_usage

# ------------------------------------------------------------------------
# One head in one cycle: what it was nominated with and what became of it.


class EntryStatus(Enum):
    """What a cycle decided about an entry."""

    REFUSED = "refused"  # not nominated, or no way to fit
    SKIPPED = "skipped"  # would have fitted before others of this cycle
    HELD = "held"  # the cycle waits for pods before it goes on with this one
    PREEMPTING = "preempting"
    MIGRATING = "migrating"  # its Workload is to leave a less preferred flavor
    ADMITTED = "admitted"
    REPLACED = "replaced"  # its pods on a failed node got other places
    LOST_NODE = "lostNode"  # there was no other place for them


SEVERITY_REASONS = {
    Severity.NONE: "",
    Severity.TOPOLOGY: TOPOLOGY_PLACEMENT_FAILED,
    Severity.WAITING: WAITING_FOR_QUOTA,
    Severity.EXCEEDS: EXCEEDS_MAX_QUOTA,
    Severity.NO_MATCH: NO_MATCHING_FLAVOR,
}


class Entry:
    """A head, its assignment and targets, and the verdict with its sentence."""

    __slots__ = (
        "assignment",
        "message",
        "migrated",
        "queue",
        "reason",
        "replaced",
        "requeue",
        "second_pass",
        "status",
        "targets",
        "work",
    )  # fmt: skip

    def __init__(
        self, work: WorkloadInfo, queue: ClusterQueue, *, second_pass: bool = False
    ) -> None:
        self.work = work
        self.second_pass = second_pass  # it holds quota and looks for other places
        self.queue = queue
        self.assignment: Assignment | None = None
        self.targets: list[Target] = []
        self.replaced: WorkloadInfo | None = None  # the slice whose quota it takes over
        self.migrated: WorkloadInfo | None = None  # the variant that runs until then
        self.status = EntryStatus.REFUSED
        self.requeue = RequeueReason.GENERIC
        self.reason = ""
        self.message = ""

    @property
    def borrow(self) -> int:
        """Return how high in the tree the assignment borrows; 0 without one."""
        return self.assignment.borrow if self.assignment is not None else 0

    def refuse(self, requeue: RequeueReason, reason: str, message: str) -> None:
        """Note that the entry is not admitted, and why."""
        self.status = EntryStatus.REFUSED
        self.requeue, self.reason, self.message = requeue, reason, message

    def skip(self, message: str) -> None:
        """Say that others of this cycle came before it."""
        self.status = EntryStatus.SKIPPED
        self.requeue = RequeueReason.FAILED_AFTER_NOMINATION
        self.reason, self.message = WAITING_FOR_QUOTA, message

    def gate(self) -> None:
        """Say that it would have to preempt, and that a gate forbids it.

        Source: docs/semantics/kueue.md#preemption-gates.
        """
        self.refuse(RequeueReason.PREEMPTION_GATED, PENDING_EVALUATION, GATED_SENTENCE)
        self.work.last_assignment = None

    def wait_for_pods(self) -> None:
        """Say that its turn comes when the pods of those admitted are ready."""
        self.status = EntryStatus.HELD
        self.requeue = RequeueReason.FAILED_AFTER_NOMINATION
        self.reason, self.message = WAITING_FOR_PODS_READY, WAITING_FOR_ALL


# ------------------------------------------------------------------------
# Places for a workload whose nodes came only after its quota was reserved.


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


# ------------------------------------------------------------------------
# The second pass of a workload that has quota: other places for a failed node.


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
    results = _search_places(cluster, work, assignment)
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


def _search_places(
    cluster: Cluster, work: WorkloadInfo, assignment: Assignment
) -> Results:
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
