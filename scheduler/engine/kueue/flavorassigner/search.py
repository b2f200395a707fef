"""One walk over the flavors of a resource group, for one podset.

Source: docs/semantics/kueue.md#flavor-search.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from scheduler.engine.kueue.cache.proposing import Proposing
from scheduler.engine.kueue.flavorassigner.assignment import (
    BEST,
    WORST,
    Attempt,
    FlavorFit,
    Mode,
    PodSetPlan,
    Ranking,
    Severity,
    preferred,
    should_try_next,
)
from scheduler.engine.kueue.flavorassigner.topology import TopologyPlacement
from scheduler.engine.kueue.preemption.targets import Target, TargetSearch
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.quota import (
    add_usages,
    borrowing_height,
    remove_usages,
)
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    FlavorResource,
    GroupSearch,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.podset_template import PodShape
from scheduler.model.quota import Flavor
from scheduler.model.reasons import barred_flavor, other_flavor
from scheduler.model.selectors import HARD_EFFECTS, Requirement, Taint, tolerated
from scheduler.model.workload import PodSet


class QuotaFit(Protocol):
    """What a search asks of the FlavorAssigner that it belongs to."""

    work: WorkloadInfo
    queue: ClusterQueue
    ranking: Ranking
    trace: Trace | None
    proposing: Proposing | None

    def start(self, index: int, resource: str) -> int:
        """Return the first flavor to try."""

    def nominated(self, index: int, resource: str) -> str | None:
        """Return the only flavor allowed here, or None when any is."""

    def ineligibility(
        self, parts: Sequence[PodSet], name: str, step: GroupSearch
    ) -> str:
        """Return why the flavor cannot run such pods, or ""."""

    def fits_resource_quota(
        self, resource_node: ResourceNode, amount: int, assigned: int
    ) -> tuple[FlavorFit, str, Severity]:
        """Return how `amount` is served, with a reason unless it fits."""


#: How the reason begins of a flavor that is no attempt: another was nominated before.
SKIPPED = "skipping flavor"


class FlavorSearch:
    """One walk over the flavors of a resource group for one podset.

    Source: docs/semantics/kueue.md#flavor-search.
    """

    __slots__ = ("amounts", "assigner", "at", "best", "considered", "flavors", "found", "group",
                 "index", "members", "plan", "reasons", "severe", "start", "step", "used")  # fmt: skip

    def __init__(
        self,
        assigner: QuotaFit,
        plan: PodSetPlan,
        members: Sequence[PodSet],
        step: GroupSearch,
        index: int,
        used: Mapping[ResourceNode, int],
    ) -> None:
        assert step.group is not None
        self.assigner = assigner
        self.plan = plan
        self.members = members
        self.step = step
        self.group = step.group
        self.flavors: Sequence[str] = step.group.flavors
        if assigner.proposing is not None:
            self.flavors = assigner.proposing.flavors(
                assigner.work, assigner.queue, self.flavors
            )
        self.index = index
        self.used = used
        self.reasons: list[str] = []
        self.considered: list[Attempt] = []
        self.severe: list[Severity] = []
        self.found: dict[str, tuple[str, FlavorFit]] = {}
        self.best = WORST
        self.start = 0
        self.at = -1

    def run(self) -> None:
        """Try the flavors in order until one is good enough."""
        spec, ranking = self.assigner.queue.spec, self.assigner.ranking
        flavors = self.flavors
        self.start = self.assigner.start(self.index, self.step.trigger)
        for at in range(self.start, len(flavors)):
            self.at = at
            granted = self._try(flavors[at])
            if granted is None:
                continue
            whole, each = granted
            if not should_try_next(whole, spec.when_borrow, spec.when_preempt):
                self._choose(flavors[at], whole, each)
                return
            if preferred(whole, self.best, spec.preference, ranking):
                self._choose(flavors[at], whole, each)

    def _choose(
        self, flavor: str, whole: FlavorFit, each: dict[str, FlavorFit]
    ) -> None:
        self.best = whole
        self.found = {name: (flavor, granted) for name, granted in each.items()}

    def _try(self, flavor: str) -> tuple[FlavorFit, dict[str, FlavorFit]] | None:
        allowed = self.assigner.work.allowed_flavors
        if allowed is not None and flavor not in allowed:
            self.reasons.append(barred_flavor(flavor))
            if self.assigner.trace is not None:
                self._trace_barred(flavor, list(self.step.resources), self.reasons[-1])
            return None
        reason = self._ineligibility(flavor)
        if reason:
            self.reasons.append(reason)
            self.severe.append(Severity.NO_MATCH)
            if not reason.startswith(SKIPPED):
                self.considered.append(Attempt(flavor, WORST, (reason,)))
            if self.assigner.trace is not None:
                self._trace_barred(flavor, list(self.step.resources), reason)
            return None
        preference, ranking = self.assigner.queue.spec.preference, self.assigner.ranking
        whole, each, severe = BEST, {}, Severity.WAITING
        said = len(self.reasons)
        for resource in self.step.resources:
            leaves = self.plan.replaced is not None and self._leaves(flavor, resource)
            granted, severity = self._fit_resource(flavor, resource)
            if leaves:
                granted, severity = WORST, Severity.NO_MATCH
            each[resource] = granted
            severe = max(severe, severity)
            if preferred(whole, granted, preference, ranking):
                whole = granted
        if whole.mode is Mode.NO_FIT:
            self.severe.append(severe)
        highest = max(granted.borrow for granted in each.values())
        if highest or whole.mode is not Mode.FIT:
            worst = FlavorFit(whole.mode, highest)
            self.considered.append(Attempt(flavor, worst, (*self.reasons[said:],)))
        return whole, each

    def _ineligibility(self, flavor: str) -> str:
        trigger = self.step.trigger
        nominated = self.assigner.nominated(self.index, trigger)
        if nominated is not None and nominated != flavor:
            return (
                f"{SKIPPED} {flavor} as it is not found in the nomination "
                f"mapping for resource {trigger}"
            )
        return self.assigner.ineligibility(self.members, flavor, self.step)

    def _leaves(self, flavor: str, resource: str) -> bool:
        """Return whether a slice would leave the flavor of the one before it.

        Source: docs/semantics/kueue-elastic-jobs.md#flavors-of-a-slice.
        """
        assert self.plan.replaced is not None
        held = self.plan.replaced.flavors.get(resource, "")
        if held == flavor:
            return False
        self.reasons.append(other_flavor(flavor, held))
        if self.assigner.trace is not None:
            self._trace_barred(flavor, [resource], self.reasons[-1])
        return True

    def _trace_barred(self, flavor: str, resources: list[str], reason: str) -> None:
        assert self.assigner.trace is not None
        self.assigner.trace.note(
            "barred",
            podSet=self.plan.name,
            flavor=flavor,
            resources=resources,
            reason=reason,
        )

    def _fit_resource(self, flavor: str, resource: str) -> tuple[FlavorFit, Severity]:
        resource_node = self.assigner.queue.resource_nodes[flavor, resource]
        assigned = self.used.get(resource_node, 0)
        amount = assigned + self.plan.requests[resource]
        replaced = self.plan.replaced
        if replaced is not None and replaced.flavors.get(resource, "") == flavor:
            amount -= self.plan.held(resource)
        granted, reason, severity = self.assigner.fits_resource_quota(
            resource_node, amount, assigned
        )
        if reason:
            self.reasons.append(reason)
        if self.assigner.trace is not None:
            self.assigner.trace.flavor(
                self.plan.name,
                resource_node,
                amount,
                assigned,
                granted.mode.name,
                granted.borrow,
                reason,
            )
        return granted, severity

    def store(self) -> None:
        """Write what was found into the plan."""
        last = self.at == len(self.flavors) - 1
        for resource, (flavor, granted) in self.found.items():
            self.plan.flavors[resource] = flavor
            self.plan.fits[resource] = granted
            self.plan.tried[resource] = -1 if last else self.at
        if self.best.mode is not Mode.FIT:
            self.plan.reasons.extend(self.reasons)


# ------------------------------------------------------------------------
# Whether a flavor's nodes could run a pod: taints and node affinity.


def ineligibility_of(
    shape: PodShape, flavor: Flavor, keys: Collection[str] | None = None
) -> str:
    """Return why the flavor cannot run such a pod, or "".

    Only these label keys count; None: those that the flavor has.
    Source: docs/semantics/kueue.md#flavor-eligibility.
    """
    taint = _untolerated(shape, flavor)
    if taint is not None:
        return f"untolerated taint {taint} in flavor {flavor.name}"
    if not _matches(shape, flavor.labels, flavor.labels if keys is None else keys):
        return f"flavor {flavor.name} doesn't match node affinity"
    return ""


def _untolerated(shape: PodShape, flavor: Flavor) -> Taint | None:
    tolerations = (*shape.tolerations, *flavor.tolerations)
    for taint in flavor.taints:
        if taint.effect in HARD_EFFECTS and not tolerated(taint, tolerations):
            return taint
    return None


def _matches(shape: PodShape, labels: Mapping[str, str], keys: Collection[str]) -> bool:
    for key, value in shape.selector.items():
        if key in keys and labels.get(key) != value:
            return False
    if shape.affinity is None:
        return True
    terms = [_kept(term, keys) for term in shape.affinity]
    # A term with nothing left matches any node, and terms are alternatives.
    if not all(terms):
        return True
    return any(all(r.matches(labels) for r in term) for term in terms)


def _kept(term: Iterable[Requirement], keys: Collection[str]) -> list[Requirement]:
    return [requirement for requirement in term if requirement.key in keys]


# ------------------------------------------------------------------------
# In which order the resources of a podset are looked at, and by which group.


_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_64_BITS = 2**64 - 1


@lru_cache(maxsize=4096)
def fnv1a(name: str) -> int:
    """Return the 64 bit FNV-1a hash of a resource name."""
    value = _FNV_OFFSET
    for byte in name.encode():
        value = ((value ^ byte) * _FNV_PRIME) & _64_BITS
    return value


def in_order(names: Iterable[str]) -> list[str]:
    """Return resource names in the order in which Kueue looks at them.

    Source: docs/semantics/kueue.md#order-of-resources.
    """
    return sorted(names, key=lambda name: (fnv1a(name), name))


def group_searches_of(
    queue: ClusterQueue, names: Iterable[str]
) -> tuple[GroupSearch, ...]:
    """Return the searches for these resources in a ClusterQueue; remembered there."""
    known = frozenset(names)
    steps = queue.group_searches.get(known)
    if steps is None:
        steps = queue.group_searches[known] = tuple(_steps(queue, in_order(known)))
    return steps


def _steps(queue: ClusterQueue, names: list[str]) -> Iterable[GroupSearch]:
    searched: set[int] = set()
    for name in names:
        index = queue.group_of.get(name)
        if index is None:
            yield GroupSearch(None, name, (name,))
        elif index not in searched:
            searched.add(index)
            resources = tuple(n for n in names if queue.group_of.get(n) == index)
            yield GroupSearch(queue.spec.groups[index], name, resources)


# ------------------------------------------------------------------------
# Preemption simulated while flavors are searched: the victims that one resource would
# need.


class PreemptionOracle:
    """Answers for one workload in one state of the quota tree; keeps what it found."""

    __slots__ = ("queue", "search", "simulated", "trace", "work")

    def __init__(
        self,
        work: WorkloadInfo,
        queue: ClusterQueue,
        search: TargetSearch,
        trace: Trace | None,
    ) -> None:
        self.work = work
        self.queue = queue
        self.search = search
        self.trace = trace
        self.simulated: dict[tuple[ResourceNode, int], list[Target]] = {}

    def simulate(self, resource_node: ResourceNode, amount: int) -> FlavorFit:
        """Return how `amount` would be served by preemption."""
        targets = self.simulated.get((resource_node, amount))
        if targets is None:
            needed = frozenset((resource_node.flavor_resource,))
            targets = self._searched("flavor", {resource_node: amount}, needed)
            self.simulated[resource_node, amount] = targets
        if not targets:
            return FlavorFit(
                Mode.NO_CANDIDATES, borrowing_height(resource_node, amount)[0]
            )
        return FlavorFit(
            _mode(targets, self.queue), _height_without(targets, resource_node, amount)
        )

    def targets(
        self,
        requests: dict[ResourceNode, int],
        needed: set[FlavorResource],
        placement: TopologyPlacement | None,
    ) -> list[Target]:
        """Return the workloads to preempt so that all of it fits and places are free."""
        known = self._simulated_whole(requests, needed) if placement is None else None
        if known is not None:
            return known
        return self._searched("assignment", requests, frozenset(needed), placement)

    def _searched(
        self,
        what: str,
        requests: dict[ResourceNode, int],
        needed: frozenset[FlavorResource],
        placement: TopologyPlacement | None = None,
    ) -> list[Target]:
        if self.trace is not None:
            self.trace.search(what, requests, needed)
        return self.search(self.work, self.queue, requests, needed, placement)

    def _simulated_whole(
        self, requests: Mapping[ResourceNode, int], needed: set[FlavorResource]
    ) -> list[Target] | None:
        """Return the targets already found for exactly this, if it was simulated."""
        if len(requests) != 1 or len(needed) != 1:
            return None
        ((resource_node, amount),) = requests.items()
        if resource_node.flavor_resource not in needed:
            return None
        return self.simulated.get((resource_node, amount))


def _mode(targets: Sequence[Target], queue: ClusterQueue) -> Mode:
    own = any(target.work.cluster_queue is queue for target in targets)
    return Mode.PREEMPT if own else Mode.RECLAIM


def _height_without(
    targets: Sequence[Target], resource_node: ResourceNode, amount: int
) -> int:
    for target in targets:
        remove_usages(target.work.usage)
    height = borrowing_height(resource_node, amount)[0]
    for target in reversed(targets):
        add_usages(target.work.usage)
    return height
