"""The search for flavors: which flavor each resource of each podset gets.

Source: docs/semantics/kueue.md#flavor-assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from scheduler.engine.kueue.cache.proposing import Proposing
from scheduler.engine.kueue.flavorassigner.assignment import (
    WORST,
    Assignment,
    FlavorFit,
    Mode,
    PodSetPlan,
    Ranking,
    Severity,
    held_by_pod_set,
    joined,
    podset_groups,
    share_out,
)
from scheduler.engine.kueue.flavorassigner.search import (
    FlavorSearch,
    PreemptionOracle,
    group_searches_of,
    ineligibility_of,
)
from scheduler.engine.kueue.flavorassigner.topology import (
    TopologyPlacement,
    topology_refusal,
)
from scheduler.engine.kueue.preemption.targets import Target, TargetSearch
from scheduler.engine.kueue.topology.cache import TopologyCache
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.quota import available_non_negative, borrowing_height
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    FlavorResource,
    GroupSearch,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import Delays
from scheduler.model.amounts import request_text, text_of
from scheduler.model.podset_template import PodShape
from scheduler.model.quota import Flavor
from scheduler.model.workload import Amounts, PodSet

PODS = "pods"
Refusals = dict[tuple[str, str], str]
Resume = Sequence[Mapping[str, int]]


class FlavorAssigner:
    """Searches flavors for one workload in one state of the quota tree.

    `resume` continues where an earlier attempt stopped; `only` restricts each
    (podset, resource) to the flavor nominated before. What the slice `replaced`
    holds counts as free for the workload.
    """

    __slots__ = ("delays", "fair", "flavors", "ignores_undeclared", "only", "oracle", "placement",
                 "proposing", "queue", "ranking", "refusals", "replaced", "resume", "selectors_per_flavor",
                 "topologies", "trace", "work")  # fmt: skip

    def __init__(
        self,
        work: WorkloadInfo,
        queue: ClusterQueue,
        *,
        flavors: Mapping[str, Flavor],
        search: TargetSearch,
        refusals: Refusals,
        fair: bool,
        ignores_undeclared: bool = False,
        selectors_per_flavor: bool = True,
        resume: Resume = (),
        only: Sequence[Mapping[str, str]] | None = None,
        trace: Trace | None = None,
        topologies: TopologyCache | None = None,
        replaced: WorkloadInfo | None = None,
        delays: Delays | None = None,
        proposing: Proposing | None = None,
        ranking: Ranking = Ranking(),  # noqa: B008 - it cannot change
    ) -> None:
        self.ranking = ranking
        self.proposing = proposing
        self.delays = delays
        self.replaced = {} if replaced is None else held_by_pod_set(replaced)
        self.work = work
        self.queue = queue
        self.flavors = flavors
        self.refusals = refusals
        self.fair = fair
        self.ignores_undeclared = ignores_undeclared
        self.selectors_per_flavor = selectors_per_flavor
        self.resume = resume
        self.only = only
        self.trace = trace
        self.oracle = PreemptionOracle(work, queue, search, trace)
        # None where no podset has to do with topology.
        self.topologies = (
            topologies if queue.uses_topology or work.pod_sets.ask_topology else None
        )
        self.placement: TopologyPlacement | None = None  # of the last assignment

    def assign(self, counts: tuple[int, ...] | None = None) -> Assignment:
        """Return the flavors for all podsets, for fewer pods when `counts` says so.

        Stops at the first podset that cannot be placed.
        Source: docs/semantics/kueue.md#flavor-assignment.
        """
        assignment = Assignment()
        scaled = self.work.scaled_pod_sets(counts)
        if self.topologies is not None and self.work.pod_sets.has_groups:
            self._assign_groups(assignment, scaled)
        else:
            for index, (part, count, total) in enumerate(scaled):
                plan = PodSetPlan(part.name, count, self._requests(total, count))
                plan.replaced = self.replaced.get(part.name)
                resource_nodes = self._place(plan, (part,), index, assignment.usage)
                assignment.add(plan, resource_nodes)
                if plan.mode is Mode.NO_FIT:
                    break
        if self.topologies is not None:
            self.placement = TopologyPlacement(self.topologies, self.work, self.queue)
            self.placement.delays = self.delays
            self.placement.trace = self.trace
            if assignment.mode is not Mode.NO_FIT:
                self.placement.apply(assignment)
        return assignment

    def _assign_groups(
        self, assignment: Assignment, scaled: Sequence[tuple[PodSet, int, Amounts]]
    ) -> None:
        """Assign flavors to podsets that are placed together as if they were one.

        Source: docs/semantics/kueue-topology.md#flavors-of-a-group.
        """
        order = {part.name: index for index, part in enumerate(self.work.pod_sets)}
        cache = self.topologies
        inherited = cache.flavors if cache and cache.gates.leader_flavor else ()
        for group in podset_groups(scaled):
            parts = tuple(part for part, _, _ in group)
            plans = [
                PodSetPlan(part.name, count, self._requests(total, count))
                for part, count, total in group
            ]
            whole = plans[0] if len(plans) == 1 else joined(plans)
            index = order[parts[0].name]
            resource_nodes = self._place(whole, parts, index, assignment.usage)
            for plan in plans:
                if plan is not whole:
                    share_out(whole, plan, inherited)
                assignment.add(
                    plan, {n: c for n, c in resource_nodes.items() if n in plan.fits}
                )
            if whole.mode is Mode.NO_FIT:
                break
        assignment.parts.sort(key=lambda plan: order[plan.name])

    def _requests(self, total: Amounts, count: int) -> Amounts:
        """Add the count of pods where quota covers it.

        Source: docs/semantics/kueue.md#the-pods-resource.
        """
        return {**total, PODS: count} if PODS in self.queue.group_of else total

    def _place(
        self,
        plan: PodSetPlan,
        parts: Sequence[PodSet],
        index: int,
        used: Mapping[ResourceNode, int],
    ) -> dict[str, ResourceNode]:
        """Fill the plan; return the resource nodes by resource.

        Source: docs/semantics/kueue.md#resource-groups-of-a-podset.
        """
        for step in group_searches_of(self.queue, plan.requests):
            if step.group is None:
                if plan.requests[step.trigger] and not self.ignores_undeclared:
                    plan.fail([_uncovered(step.trigger)])
                    if self.trace is not None:
                        self.trace.note(
                            "uncovered",
                            podSet=plan.name,
                            resource=step.trigger,
                            requested=str(plan.requests[step.trigger]),
                            reason=_uncovered(step.trigger),
                        )
                    return {}
                continue
            if not self._place_group(plan, parts, step, index, used):
                return {}
        resource_nodes = self.queue.resource_nodes
        return {name: resource_nodes[plan.flavors[name], name] for name in plan.flavors}

    def _place_group(
        self,
        plan: PodSetPlan,
        parts: Sequence[PodSet],
        step: GroupSearch,
        index: int,
        used: Mapping[ResourceNode, int],
    ) -> bool:
        scan = FlavorSearch(self, plan, parts, step, index, used)
        scan.run()
        if self.trace is not None:
            self._trace_scan(scan, self.trace)
        plan.considered += scan.considered
        plan.severe.append(min(scan.severe, default=Severity.NONE))
        plan.searched.append(next((f for f, _ in scan.found.values()), ""))
        if not scan.found:
            plan.fail(scan.reasons)
            return False
        scan.store()
        return True

    def _trace_scan(self, scan: FlavorSearch, trace: Trace) -> None:
        trace.note(
            "scan",
            podSet=scan.plan.name,
            resources=list(scan.step.resources),
            tried=list(scan.flavors[scan.start : scan.at + 1]),
            left=list(scan.flavors[scan.at + 1 :]),
            chosen={name: flavor for name, (flavor, _) in scan.found.items()},
        )

    def nominated(self, index: int, resource: str) -> str | None:
        """Return the only flavor allowed here, or None when any is."""
        if self.only is None:
            return None
        return self.only[index].get(resource, "") if index < len(self.only) else ""

    def start(self, index: int, resource: str) -> int:
        """Return the first flavor to try.

        Source: docs/semantics/kueue.md#continuing-a-flavor-search.
        """
        if index >= len(self.resume):
            return 0
        return self.resume[index].get(resource, -1) + 1

    def ineligibility(
        self, parts: Sequence[PodSet], name: str, step: GroupSearch
    ) -> str:
        """Return why the flavor cannot run such pods, or ""."""
        flavor = self.flavors.get(name)
        if flavor is None:
            return f"flavor {name} not found"
        if self.topologies is not None:
            reason = topology_refusal(self.topologies, self.queue, parts, name, step)
            if reason:
                return reason
        keys = None if self.selectors_per_flavor else self._keys_of(step)
        for part in parts:
            reason = self._remembered(part.shape, flavor, keys)
            if reason:
                return reason
        return ""

    def _keys_of(self, step: GroupSearch) -> list[str]:
        """Return the label keys of all flavors of a resource group."""
        assert step.group is not None
        flavors = [self.flavors.get(name) for name in step.group.flavors]
        return sorted({key for one in flavors if one is not None for key in one.labels})

    def _remembered(
        self, shape: PodShape, flavor: Flavor, keys: list[str] | None
    ) -> str:
        name = flavor.name if keys is None else " ".join([flavor.name, *keys])
        reason = self.refusals.get((shape.identity, name))
        if reason is None:
            reason = self.refusals[shape.identity, name] = ineligibility_of(
                shape, flavor, keys
            )
        return reason

    def fits_resource_quota(
        self, resource_node: ResourceNode, amount: int, assigned: int
    ) -> tuple[FlavorFit, str, Severity]:
        """Return how a resource node serves `amount`, with a reason unless it fits.

        `assigned` is the part of `amount` that earlier podsets ask.
        Source: docs/semantics/kueue.md#fit-of-one-flavor.
        """
        if amount > resource_node.potential_available:
            reason = _exceeds(resource_node, amount - assigned, assigned)
            return WORST, reason, Severity.EXCEEDS
        borrow, may_reclaim = borrowing_height(resource_node, amount)
        free = available_non_negative(resource_node)
        if amount <= free:
            return FlavorFit(Mode.FIT, borrow), "", Severity.WAITING
        missing = amount - free
        flavor, resource = resource_node.flavor_resource
        reason = (
            f"insufficient unused quota for {resource} in flavor {flavor}, "
            f"{text_of(resource, missing)} more needed"
        )
        if (
            amount <= resource_node.nominal
            or may_reclaim
            or self.may_borrow_by_preempting
        ):
            return self.oracle.simulate(resource_node, amount), reason, Severity.WAITING
        return FlavorFit(Mode.NO_FIT, borrow), reason, Severity.WAITING

    @property
    def may_borrow_by_preempting(self) -> bool:
        """Return whether preemption may happen while borrowing.

        Source: docs/semantics/kueue.md#fit-of-one-flavor.
        """
        preemption = self.queue.preemption
        if preemption.borrow_policy != "Never":
            return True
        return self.fair and preemption.reclaim != "Never"

    def targets(self, assignment: Assignment) -> list[Target]:
        """Return the workloads to preempt for the whole assignment.

        The count of pods is not part of what the search frees; the fits check
        after it counts it. Source: docs/semantics/kueue.md#classical-preemption, and
        docs/semantics/kueue-topology.md#preemption.
        """
        requests: dict[ResourceNode, int] = {}
        needed: set[FlavorResource] = set()
        for part in assignment.parts:
            for resource, granted in part.fits.items():
                resource_node = self.queue.resource_nodes[
                    part.flavors[resource], resource
                ]
                amount = 0 if resource == PODS else part.requests.get(resource, 0)
                if part.replaced is not None and amount:
                    amount -= part.held(resource)
                if amount:
                    requests[resource_node] = requests.get(resource_node, 0) + amount
                if granted.mode in _PREEMPTING:
                    needed.add(resource_node.flavor_resource)
        placement = self.placement
        if placement is None or not placement.by_flavor:
            return self.oracle.targets(requests, needed, None)
        targets = self.oracle.targets(requests, needed, placement)
        placement.reserve(assignment, [target.work for target in targets])
        return targets


_PREEMPTING = (Mode.NO_CANDIDATES, Mode.PREEMPT, Mode.RECLAIM)


def _uncovered(resource: str) -> str:
    return f"resource {resource} unavailable in ClusterQueue"


def _exceeds(resource_node: ResourceNode, request: int, assigned: int) -> str:
    flavor, resource = resource_node.flavor_resource
    return (
        f"insufficient quota for {resource} in flavor {flavor}, "
        f"previously considered podsets requests ({request_text(resource, assigned)}) + "
        f"current podset request ({request_text(resource, request)}) > "
        f"maximum capacity ({text_of(resource, resource_node.potential_available)})"
    )


# ------------------------------------------------------------------------
# Partial admission: the fewest pods to leave out so that the rest gets in.


T = TypeVar("T")


def reduce_counts(
    pod_sets: Sequence[PodSet], attempt: Callable[[tuple[int, ...]], T | None]
) -> T | None:
    """Return what `attempt` gave for the largest counts that succeed.

    Bisects over how much is left out, in Kueue's order of probes: where success
    is not monotonic, another order would find something else.
    Source: docs/semantics/kueue.md#partial-admission.
    """
    spare = [part.count - _least(part) for part in pod_sets]
    total = sum(spare)
    if total == 0:
        return None
    low, high, last, found = 0, total + 1, 0, None
    while low < high:
        middle = (low + high) // 2
        got = attempt(_counts(pod_sets, spare, middle, total))
        if got is None:
            low = middle + 1
        else:
            high = last = middle
            found = got
    return found if low == last else None


def _least(part: PodSet) -> int:
    return part.count if part.min_count is None else part.min_count


def _counts(
    pod_sets: Sequence[PodSet], spare: Sequence[int], step: int, total: int
) -> tuple[int, ...]:
    return tuple(
        part.count - less * step // total
        for part, less in zip(pod_sets, spare, strict=True)
    )
