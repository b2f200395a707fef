"""Which pods to remove so that another fits: dry runs, then the least harm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import NodeInfo, Nominations
from scheduler.engine.kube.cache.pod_group import (
    Amounts,
    PodDisruptionBudget,
    QuotaUse,
    disruptions_allowed,
)
from scheduler.engine.kube.framework.plugin import Candidate, PodFilters
from scheduler.engine.kube.framework.status import (
    CycleState,
    Status,
    Verdicts,
    error,
    unresolvable,
    unschedulable,
)
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."

_SHIFT = 2**31  # makes every priority positive before they are summed


@dataclass(slots=True)
class DryRun:
    """What trying the potential nodes came to."""

    candidates: list[Candidate] = field(default_factory=list)
    failed: dict[str, Status] = field(default_factory=dict)
    without_victims: int = 0  # nodes that were not tried, as none can have any


class VictimSearch:
    """Looks for victims on copies of nodes; changes nothing.

    Source: docs/semantics/kube-scheduler.md#default-preemption.
    """

    def __init__(
        self,
        framework: PodFilters,
        cluster: ClusterCache,
        nominations: Nominations,
        *,
        now_us: int,
    ) -> None:
        self.framework = framework
        self.cluster = cluster
        self.nominations = nominations
        self.now_us = now_us

    def is_vain(self, pod: Pod) -> bool:
        """Return whether no node can have a victim: nobody is of a lower priority."""
        return not self.cluster.has_lower_priority(pod.priority)

    def try_nodes(
        self, state: CycleState, pod: Pod, names: Iterable[str], wanted: int
    ) -> DryRun:
        """Dry-run nodes in order; stop once enough were found.

        Enough: `wanted` candidates, one of them without a protected victim.
        """
        run, free = DryRun(), False
        nobody = unresolvable(NO_VICTIMS)
        rivals = self.nominations.rivals(pod)
        for name in names:
            node_info = self.cluster.node_infos[name]
            if all(other.priority >= pod.priority for other in node_info.pods.values()):
                run.failed[name] = nobody
                continue
            found = self.victims_on(
                state.copy(), pod, node_info.copy(), rivals.get(name, [])
            )
            if isinstance(found, Status):
                run.failed[name] = found
                continue
            run.candidates.append(found)
            free = free or not found.violations
            if free and len(run.candidates) >= wanted:
                break
        return run

    def victims_on(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, rivals: list[Pod]
    ) -> Candidate | Status:
        """Remove all lesser pods, then give back all that can stay."""
        lower = self.removable(state, pod, node_info)
        for other in lower:
            self.framework.remove_pod(state, pod, other, node_info)
        status = self.fits(state, pod, node_info, rivals)
        if not status.ok:
            return status
        lower.sort(key=self.importance)
        protected, others = self._protected(lower)
        kept_out = self._reprieve(state, pod, node_info, rivals, protected)
        violations = len(kept_out)
        kept_out += self._reprieve(state, pod, node_info, rivals, others)
        if not kept_out:
            return error(
                f"expected at least one victim pod on node {node_info.node.name}"
            )
        kept_out.sort(key=self.importance)
        return Candidate(node_info.node.name, tuple(kept_out), violations)

    def removable(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> list[Pod]:
        """Return the pods on a node that may be removed for the pod."""
        return [p for p in node_info.pods.values() if p.priority < pod.priority]

    def fits(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, rivals: list[Pod]
    ) -> Status:
        """Return whether the pod fits on a node that all these were taken off."""
        return self.framework.filter_with(state, pod, node_info, rivals)

    def _reprieve(
        self,
        state: CycleState,
        pod: Pod,
        node_info: NodeInfo,
        rivals: list[Pod],
        removed: list[Pod],
    ) -> list[Pod]:
        """Put pods back while the preemptor still fits; return those left out."""
        victims = []
        for other in removed:
            if not self.put_back(state, pod, node_info, rivals, other).ok:
                self.framework.remove_pod(state, pod, other, node_info)
                victims.append(other)
        return victims

    def put_back(
        self,
        state: CycleState,
        pod: Pod,
        node_info: NodeInfo,
        rivals: list[Pod],
        other: Pod,
    ) -> Status:
        """Put a removed pod on the node again; return whether the preemptor fits."""
        self.framework.add_pod(state, pod, other, node_info)
        return self.framework.filter_with(state, pod, node_info, rivals)

    def importance(self, pod: Pod) -> tuple[int, int, Key]:
        """Return the sort key of victims, the most important first."""
        return -pod.priority, self.started(pod), pod.key

    def started(self, pod: Pod) -> int:
        """Return when the pod started; one that has not counts as now."""
        return self.now_us if pod.started_us is None else pod.started_us

    def _protected(self, pods: list[Pod]) -> tuple[list[Pod], list[Pod]]:
        """Part the pods into those whose budget is used up, and the others."""
        left = self.allowed()
        protected: list[Pod] = []
        others: list[Pod] = []
        for pod in pods:
            broken = False
            for key, budget in self.cluster.budgets.items():
                if guards(budget, pod):
                    left[key] -= 1
                    broken = broken or left[key] < 0
            (protected if broken else others).append(pod)
        return protected, others

    def allowed(self) -> dict[Key, int]:
        """Return how many more pods each disruption budget lets go."""
        found = {}
        for key, budget in self.cluster.budgets.items():
            healthy = self.cluster.matching(budget.key.namespace, budget.selector)
            found[key] = disruptions_allowed(budget, sum(healthy.values()))
        return found

    def least_harm(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates that no rule ranks below the best one."""
        for rule in self.rules().values():
            if len(candidates) > 1:
                best = min(rule(c) for c in candidates)
                candidates = [c for c in candidates if rule(c) == best]
        return candidates

    def rules(self) -> dict[str, Callable[[Candidate], int]]:
        """Return the criteria that compare candidates, in order; the lowest stay.

        Source: docs/semantics/kube-scheduler.md#default-preemption.
        """
        return {
            "violations": lambda c: c.violations,
            "highestPriority": lambda c: max(pod.priority for pod in c.victims),
            "prioritySum": lambda c: sum(pod.priority + _SHIFT for pod in c.victims),
            "victims": lambda c: len(c.victims),
            "latestStart": lambda c: -self._earliest_of_highest(c),
        }

    def _earliest_of_highest(self, candidate: Candidate) -> int:
        highest = max(pod.priority for pod in candidate.victims)
        return min(
            self.started(pod) for pod in candidate.victims if pod.priority == highest
        )


def guards(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Return whether a budget counts a pod among those that it keeps."""
    return (
        bool(pod.labels)
        and budget.key.namespace == pod.namespace
        and budget.selector.matches(pod.labels)
        and pod.name not in budget.disrupted
    )


def wanted_candidates(nodes: int, percentage: int, absolute: int) -> int:
    """Return how many candidates are enough among so many potential nodes."""
    return min(max(nodes * percentage // 100, absolute), nodes)


# ------------------------------------------------------------------------
# Victims under ElasticQuotas: who may be removed so that a namespace has its own.


#: Under which the plug-in keeps its state.
NAME = "CapacityScheduling"


@dataclass(slots=True)
class Demand:
    """The use of quotas, what the pod asks for, and what nominated pods do with it."""

    use: QuotaUse
    asked: Amounts
    with_own: Amounts  # and more important nominated pods of its namespace
    with_all: Amounts  # and those of namespaces within their minimum

    def copy(self) -> Demand:
        """Return a copy that a dry run may change."""
        return Demand(self.use.copy(), self.asked, self.with_own, self.with_all)

    def may_remove(self, pod: Pod, other: Pod) -> bool:
        """Return whether a pod may have another removed.

        Beyond its minimum a namespace removes its own of lower priority; within it,
        those of namespaces that use more than theirs, whatever their priority. Pods
        without a quota keep to themselves.
        """
        quotas = self.use.quotas
        if pod.namespace not in quotas:
            return other.namespace not in quotas and other.priority < pod.priority
        if other.namespace not in quotas:
            return False
        if self.use.over_minimum(pod.namespace, self.with_own):
            return other.namespace == pod.namespace and other.priority < pod.priority
        if other.namespace == pod.namespace:
            return False
        return self.use.over_minimum(other.namespace, {})

    def exceeds(self, pod: Pod, own: Amounts, everyone: Amounts) -> bool:
        """Return whether the quotas do not allow the pod."""
        if pod.namespace not in self.use.quotas:
            return False
        return self.use.over_maximum(pod.namespace, own) or self.use.over_all(everyone)


class QuotaVictimSearch(VictimSearch):
    """Looks for victims by quota first, and by priority within a namespace."""

    def is_vain(self, pod: Pod) -> bool:
        """Return False: what it may remove is not of a lower priority alone."""
        return False

    def try_nodes(
        self, state: CycleState, pod: Pod, names: Iterable[str], wanted: int
    ) -> DryRun:
        """Dry-run every node."""
        run, rivals = DryRun(), self.nominations.rivals(pod)
        for name in names:
            node_info = self.cluster.node_infos[name].copy()
            found = self.victims_on(state.copy(), pod, node_info, rivals.get(name, []))
            if isinstance(found, Candidate):
                run.candidates.append(found)
            else:
                run.failed[name] = found
        return run

    def victims_on(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, rivals: list[Pod]
    ) -> Candidate | Status:
        """Remove all that may be removed, then give back all that can stay."""
        if not self.removable(state, pod, node_info):
            node = node_info.node.name
            return unresolvable(
                f"No victims found on node {node} for preemptor pod {pod.name}"
            )
        return super().victims_on(state, pod, node_info, rivals)

    def removable(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> list[Pod]:
        """Return the pods on a node that the quotas let the pod remove."""
        demand = _demand(state)
        return [p for p in node_info.pods.values() if demand.may_remove(pod, p)]

    def fits(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, rivals: list[Pod]
    ) -> Status:
        """Return whether the pod fits, and its quota allows it."""
        status, demand = super().fits(state, pod, node_info, rivals), _demand(state)
        if status.ok and demand.exceeds(pod, demand.asked, demand.asked):
            return unschedulable("global quota max exceeded")
        return status

    def put_back(
        self,
        state: CycleState,
        pod: Pod,
        node_info: NodeInfo,
        rivals: list[Pod],
        other: Pod,
    ) -> Status:
        """Put a removed pod back; return whether the preemptor may still come."""
        status = super().put_back(state, pod, node_info, rivals, other)
        demand = _demand(state)
        if status.ok and demand.exceeds(pod, demand.with_own, demand.with_all):
            return unschedulable("global quota max exceeded")
        return status


def _demand(state: CycleState) -> Demand:
    demand = state.data[NAME]
    assert isinstance(demand, Demand)
    return demand


# ------------------------------------------------------------------------
# The same search for victims, with everything it tried written down.


#: Of the nodes that are not tried at most this many have their reasons kept.
MOST = 200


@dataclass(slots=True)
class NodeTrial:
    """What was tried on the copy of one node."""

    removed: list[Pod]  # the most important first
    protected: list[Pod] = field(default_factory=list)  # a budget is used up
    put_back: list[tuple[Pod, Status]] = field(default_factory=list)
    result: Candidate | Status | None = None


class TracedSearch(VictimSearch):
    """Decides as its parent does; an explanation reads what is kept here."""

    pod: Pod | None = None
    run: DryRun | None = None
    wanted = 0
    names: tuple[str, ...] = ()  # where removing pods may help, in the order tried
    compared: tuple[Candidate, ...] = ()
    tied: tuple[Candidate, ...] = ()
    unhelped: dict[str, str]  # node -> why removing pods may not help there
    budgets: dict[Key, int]
    nodes: dict[str, NodeTrial]

    def note_verdicts(self, verdicts: Verdicts, helpable: Collection[str]) -> None:
        """Keep why the other nodes are not even tried; the first few suffice."""
        others = [
            (row, name)
            for row, name in enumerate(verdicts.node_table.names)
            if name not in helpable
        ]
        self.unhelped = {
            name: ", ".join(verdicts.status(row).reasons) for row, name in others[:MOST]
        }

    def is_vain(self, pod: Pod) -> bool:
        """Return False: each node is told."""
        return False

    def try_nodes(
        self, state: CycleState, pod: Pod, names: Iterable[str], wanted: int
    ) -> DryRun:
        """Dry-run nodes, and keep what was asked and what came of it."""
        self.pod, self.names, self.wanted = pod, tuple(names), wanted
        self.budgets, self.nodes = self.allowed(), {}
        self.run = super().try_nodes(state, pod, self.names, wanted)
        return self.run

    def victims_on(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, rivals: list[Pod]
    ) -> Candidate | Status:
        """Try one node, and keep its pods of lower priority and the result."""
        lower = [p for p in node_info.pods.values() if p.priority < pod.priority]
        tried = NodeTrial(sorted(lower, key=self.importance))
        self.nodes[node_info.node.name] = tried
        tried.result = super().victims_on(state, pod, node_info, rivals)
        return tried.result

    def put_back(
        self,
        state: CycleState,
        pod: Pod,
        node_info: NodeInfo,
        rivals: list[Pod],
        other: Pod,
    ) -> Status:
        """Put a pod back, and keep whether the preemptor fits beside it."""
        status = super().put_back(state, pod, node_info, rivals, other)
        self.nodes[node_info.node.name].put_back.append((other, status))
        return status

    def _protected(self, pods: list[Pod]) -> tuple[list[Pod], list[Pod]]:
        protected, others = super()._protected(pods)
        list(self.nodes.values())[-1].protected = protected
        return protected, others

    def least_harm(self, candidates: list[Candidate]) -> list[Candidate]:
        """Compare candidates, and keep those compared and those left."""
        found = super().least_harm(candidates)
        self.compared, self.tied = tuple(candidates), tuple(found)
        return found
