"""Which pods to remove so that another fits: dry runs, then the least harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.nominations import Nominations
from scheduler.engine.kube.cache.pod_group import (
    PodDisruptionBudget,
    disruptions_allowed,
)
from scheduler.engine.kube.framework.candidate import Candidate
from scheduler.engine.kube.framework.handle import PodFilters
from scheduler.engine.kube.framework.status import (
    CycleState,
    Status,
    error,
    unresolvable,
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

    def try_nodes(
        self, state: CycleState, pod: Pod, names: Iterable[str], wanted: int
    ) -> DryRun:
        """Dry-run nodes in order; stop once enough were found.

        Enough: `wanted` candidates, one of them without a protected victim.
        """
        run, free = DryRun(), False
        nobody = unresolvable(NO_VICTIMS)
        if not self.cluster.has_lower_priority(pod.priority):
            run.failed = dict.fromkeys(names, nobody)
            return run
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
