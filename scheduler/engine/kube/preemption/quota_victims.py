"""Victims under ElasticQuotas: who may be removed so that a namespace has its own.

Source: docs/semantics/kube-scheduler.md#elastic-quotas.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler.engine.kube.cache.elastic_quotas import Amounts, QuotaUse
from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.framework.candidate import Candidate
from scheduler.engine.kube.framework.status import (
    CycleState,
    Status,
    unresolvable,
    unschedulable,
)
from scheduler.engine.kube.preemption.dry_run import DryRun, VictimSearch
from scheduler.model.pod import Pod

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
