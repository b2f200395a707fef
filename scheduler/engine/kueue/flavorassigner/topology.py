"""Where pods stand in the flavor that quota chose, and as a test for victims.

Source: docs/semantics/kueue-topology.md#flavors-and-quota.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler.engine.kueue.flavorassigner.assignment import (
    Assignment,
    FlavorFit,
    Mode,
    PodSetPlan,
    Severity,
)
from scheduler.engine.kueue.topology.cache import DomainUsage, TopologyCache
from scheduler.engine.kueue.topology.placement import (
    PodSetPlacement,
    PodSetToPlace,
    Results,
)
from scheduler.engine.kueue.topology.question import (
    NO_REQUEST,
    UnplaceableError,
    level_key,
)
from scheduler.engine.kueue.topology.replacement import describe
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.tree import ClusterQueue, GroupSearch
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import PENDING_TOPOLOGY, Delays
from scheduler.model.topology import Topology, TopologyAssignment, TopologyRequest
from scheduler.model.workload import PodSet

ByFlavor = dict[str, list[PodSetToPlace]]


class TopologyPlacement:
    """Where the podsets of one assignment may stand, in the state of the trees now."""

    def __init__(
        self, cache: TopologyCache, work: WorkloadInfo, queue: ClusterQueue
    ) -> None:
        self.cache = cache
        self.work = work
        self.queue = queue
        self.by_flavor: ByFlavor = {}
        self.trace: Trace | None = None
        self.delays: Delays | None = None

    def apply(self, assignment: Assignment) -> None:
        """Place the podsets of an assignment, or say why they cannot be.

        Source: docs/semantics/kueue-topology.md#mode-of-an-assignment-with-topology.
        """
        self._gather(assignment)
        if assignment.mode is Mode.FIT and self.by_flavor:
            self._place_now(assignment)
        if assignment.mode is Mode.PREEMPT and self.by_flavor:
            self._place_on_empty(assignment)

    def _gather(self, assignment: Assignment) -> None:
        """Note what is to be placed, flavor by flavor."""
        parts = {part.name: part for part in self.work.pod_sets}
        for plan in assignment.parts:
            part = parts[plan.name]
            if not asks_for_topology(part, self.queue) or plan.mode is Mode.NO_FIT:
                continue
            if not plan.count:
                continue
            flavor, error = self._flavor(plan)
            if error and not self.cache.gates.errors_do_not_fit:
                continue  # its pods stand anywhere
            if error:
                plan.error = error
                assignment.mode = Mode.NO_FIT
            elif self.delays is not None and self.delays.elsewhere:
                continue  # the worker that takes it places its pods
            elif self.delays is not None and flavor in self.delays.flavors:
                plan.delayed = PENDING_TOPOLOGY
            else:
                self.by_flavor.setdefault(flavor, []).append(
                    to_place(part, plan.count, implied=not is_explicit(part))
                )

    def _flavor(self, plan: PodSetPlan) -> tuple[str, str]:
        """Return the flavor whose topology counts, or what is wrong."""
        if not self.queue.uses_topology:
            return "", (
                "workload requires Topology, but there is no TAS cache information"
            )
        found = sorted({f for f in plan.flavors.values() if f in self.cache.trees})
        if len(found) > 1:
            return "", f"more than one TAS flavor assigned: {', '.join(found)}"
        return (found[0], "") if found else ("", "no TAS flavor assigned")

    def _place_now(self, assignment: Assignment) -> None:
        results = self.search(empty=False)
        failed = _failed(assignment, results)
        if failed is None:
            self._keep(assignment, results)
            return
        reason = results[failed.name]
        assert isinstance(reason, str)
        failed.reasons.append(reason)
        _set_mode(failed, Mode.PREEMPT)
        assignment.mode = Mode.PREEMPT

    def _place_on_empty(self, assignment: Assignment) -> None:
        results = self.search(empty=True)
        failed = _failed(assignment, results)
        if failed is None:
            for plan in assignment.parts:
                if plan.name in results:
                    _set_mode(plan, Mode.PREEMPT)
            return
        _set_mode(failed, Mode.NO_FIT)
        assignment.mode = Mode.NO_FIT
        failed.severe = [
            Severity.TOPOLOGY if flavor in self.by_flavor else severity
            for flavor, severity in zip(failed.searched, failed.severe, strict=True)
        ]

    def search(self, *, empty: bool) -> Results:
        """Return where everything stands; nothing of it is kept."""
        placement = PodSetPlacement(self.cache.searches, self.cache.gates, empty=empty)
        placement.sharing = self.cache.sharing()
        results: Results = {}
        flavors = sorted(self.by_flavor)
        for flavor in flavors:
            tree = self.cache.trees[flavor]
            placement.last_flavor = flavor == flavors[-1]
            results.update(placement.place(tree, self.by_flavor[flavor]))
        placement.end()
        if self.trace is not None:
            self._note(self.trace, placement, results)
        return results

    def _note(self, trace: Trace, placement: PodSetPlacement, results: Results) -> None:
        """Write down, level by level, what each podset found."""
        for flavor, podsets in sorted(self.by_flavor.items()):
            tree = self.cache.trees[flavor]
            for part in podsets:
                found = results.get(part.name)
                if found is None:
                    continue
                try:
                    question = placement.question(tree, part)
                except UnplaceableError:
                    continue
                counts = self.cache.searches.of(tree, question, empty=placement.empty)
                trace.note(
                    "topology",
                    podSet=part.name,
                    flavor=flavor,
                    empty=placement.empty,
                    reason=found if isinstance(found, str) else "",
                    levels=describe(counts, question, found),
                )

    # ---- the test that a search for victims asks ----

    def remove(self, work: WorkloadInfo) -> None:
        """Take a victim out of the trees of its flavors."""
        if work.topology is not None:
            self.cache.add_usage(work.topology.usage, -1)

    def add(self, work: WorkloadInfo) -> None:
        """Put a victim back."""
        if work.topology is not None:
            self.cache.add_usage(work.topology.usage, 1)

    def fits(self) -> bool:
        """Return whether everything has a place now."""
        found = self.search(empty=False)
        return not any(isinstance(result, str) for result in found.values())

    def reserve(self, assignment: Assignment, victims: Iterable[WorkloadInfo]) -> None:
        """Keep where a preemptor will stand: its victims gone, or everyone.

        Source: docs/semantics/kueue-topology.md#preemption.
        """
        gone = list(victims)
        for work in gone:
            self.remove(work)
        results = self.search(empty=not gone)
        for work in reversed(gone):
            self.add(work)
        if not any(isinstance(result, str) for result in results.values()):
            self._keep(assignment, results)

    def _keep(self, assignment: Assignment, results: Results) -> None:
        """Write what was found into the plans."""
        for plan in assignment.parts:
            found = results.get(plan.name)
            if isinstance(found, TopologyAssignment):
                plan.topology = found
        assignment.topology_usage = usage_of(self.work, assignment.parts, self.cache)


def to_place(part: PodSet, count: int, *, implied: bool) -> PodSetToPlace:
    """Return a podset as placement takes it."""
    return PodSetToPlace(
        part.name, count, part.needs, part.topology or NO_REQUEST, implied
    )


def _failed(assignment: Assignment, results: Results) -> PodSetPlan | None:
    """Return the first podset that has no place."""
    for plan in assignment.parts:
        if isinstance(results.get(plan.name), str):
            return plan
    return None


def _set_mode(plan: PodSetPlan, mode: Mode) -> None:
    plan.fits = {
        name: FlavorFit(mode, granted.borrow) for name, granted in plan.fits.items()
    }


def usage_of(
    work: WorkloadInfo, plans: Sequence[PodSetPlan], cache: TopologyCache
) -> tuple[DomainUsage, ...]:
    """Return what an assignment takes of leaves."""
    needs = {part.name: part.needs for part in work.pod_sets}
    return tuple(
        DomainUsage(flavor, domain.values, needs[plan.name].per_pod, domain.pods)
        for plan in plans
        if plan.topology is not None
        for flavor in sorted(set(plan.flavors.values()))
        if flavor in cache.trees
        for domain in plan.topology.domains
    )


# ---- podsets of one group ----


# ------------------------------------------------------------------------
# Which podsets are placed by topology, and which flavors are not for them.


def asks_for_topology(part: PodSet, queue: ClusterQueue) -> bool:
    """Return whether a podset is placed by topology in a ClusterQueue.

    Source: docs/semantics/kueue-topology.md#who-asks-for-topology.
    """
    return is_explicit(part) or queue.topology_only


def is_explicit(part: PodSet) -> bool:
    """Return whether a podset itself asks for topology."""
    return part.topology is not None and part.topology.explicit


def topology_refusal(
    cache: TopologyCache,
    queue: ClusterQueue,
    parts: Iterable[PodSet],
    flavor: str,
    step: GroupSearch,
) -> str:
    """Return why a flavor is not for these podsets, or "".

    Source: docs/semantics/kueue-topology.md#flavors-and-quota.
    """
    for part in parts:
        reason = _refusal(cache, queue, part, flavor, step)
        if reason:
            return reason
    return ""


def _refusal(
    cache: TopologyCache,
    queue: ClusterQueue,
    part: PodSet,
    flavor: str,
    step: GroupSearch,
) -> str:
    if not is_explicit(part):
        if flavor in cache.flavors and not queue.topology_only:
            return f'Flavor "{flavor}" supports only TopologyAwareScheduling'
        return ""
    if flavor not in cache.flavors:
        group = step.group.resources if step.group is not None else ()
        if not any(name in part.shape.requests for name in group):
            return ""
        return f'Flavor "{flavor}" does not support TopologyAwareScheduling'
    tree = cache.trees.get(flavor)
    if tree is None:
        return f'Flavor "{flavor}" information missing in TAS cache'
    assert part.topology is not None
    if not _has_levels(part.topology, tree.topology):
        return f'Flavor "{flavor}" does not contain the requested level'
    return ""


def _has_levels(request: TopologyRequest, topology: Topology) -> bool:
    key = level_key(request, topology, implied=False)
    named = [key, *(layer.level for layer in request.layers)]
    return all(level in topology.levels for level in named)
