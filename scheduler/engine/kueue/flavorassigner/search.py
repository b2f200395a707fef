"""One walk over the flavors of a resource group, for one podset.

Source: docs/semantics/kueue.md#flavor-search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from scheduler.engine.kueue.flavorassigner.assignment import PodSetPlan, Severity
from scheduler.engine.kueue.flavorassigner.modes import (
    BEST,
    WORST,
    FlavorFit,
    Mode,
    Ranking,
    preferred,
    should_try_next,
)
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.tree import ClusterQueue, GroupSearch, ResourceNode
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.reasons import barred_flavor, other_flavor
from scheduler.model.workload import PodSet


class QuotaFit(Protocol):
    """What a search asks of the FlavorAssigner that it belongs to."""

    work: WorkloadInfo
    queue: ClusterQueue
    ranking: Ranking
    trace: Trace | None

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


class FlavorSearch:
    """One walk over the flavors of a resource group for one podset.

    Source: docs/semantics/kueue.md#flavor-search.
    """

    __slots__ = ("amounts", "assigner", "at", "best", "found", "group", "index",
                 "members", "plan", "reasons", "severe", "start", "step", "used")  # fmt: skip

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
        self.index = index
        self.used = used
        self.reasons: list[str] = []
        self.severe: list[Severity] = []
        self.found: dict[str, tuple[str, FlavorFit]] = {}
        self.best = WORST
        self.start = 0
        self.at = -1

    def run(self) -> None:
        """Try the flavors in order until one is good enough."""
        spec, ranking = self.assigner.queue.spec, self.assigner.ranking
        flavors = self.group.flavors
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
            if self.assigner.trace is not None:
                self._trace_barred(flavor, list(self.step.resources), reason)
            return None
        preference, ranking = self.assigner.queue.spec.preference, self.assigner.ranking
        whole, each, severe = BEST, {}, Severity.WAITING
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
        return whole, each

    def _ineligibility(self, flavor: str) -> str:
        trigger = self.step.trigger
        nominated = self.assigner.nominated(self.index, trigger)
        if nominated is not None and nominated != flavor:
            return (
                f"skipping flavor {flavor} as it is not found in the nomination "
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
        last = self.at == len(self.group.flavors) - 1
        for resource, (flavor, granted) in self.found.items():
            self.plan.flavors[resource] = flavor
            self.plan.fits[resource] = granted
            self.plan.tried[resource] = -1 if last else self.at
        if self.best.mode is not Mode.FIT:
            self.plan.reasons.extend(self.reasons)
