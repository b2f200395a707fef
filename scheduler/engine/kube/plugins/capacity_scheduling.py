"""CapacityScheduling: namespaces borrow what others leave of their ElasticQuotas."""

from __future__ import annotations

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.pod_group import QuotaUse, add, requests
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import CountingPlugin, Hint
from scheduler.engine.kube.framework.status import (
    OK,
    CycleState,
    Status,
    Verdicts,
    unschedulable,
)
from scheduler.engine.kube.plugins.default_preemption import DefaultPreemption
from scheduler.engine.kube.preemption.dry_run import (
    NAME,
    NEVER,
    TERMINATING,
    Demand,
    QuotaVictimSearch,
)
from scheduler.model.pod import Pod
from scheduler.model.registry import register


@register(
    "plugin",
    "CapacityScheduling",
    label="Elastic quotas (CapacityScheduling)",
    help="Keeps namespaces within the max of their ElasticQuota and all of them within "
    "the sum of min; takes back by preemption what was borrowed.",
    parameters=DefaultPreemption.args_type,
)
class CapacityScheduling(CountingPlugin, DefaultPreemption):
    """Cost of a cycle: the pods on nodes.

    Source: docs/semantics/kube-scheduler.md#elastic-quotas.
    """

    name = NAME
    idle_points = ()

    def prepares_alike(self, pod: Pod) -> bool:
        """Return whether no namespace has a quota."""
        return not self.handle.cluster.quotas

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Reject a pod beyond its quota's max, or beyond what all are sure of."""
        demand = state.data[NAME] = self._demand(pod)
        if pod.namespace not in demand.use.quotas:
            return OK, None
        start = f"Pod {pod.key.path} is rejected in PreFilter because"
        if demand.use.over_maximum(pod.namespace, demand.with_own):
            quota = f"ElasticQuota {pod.namespace} is more than Max"
            return unschedulable(f"{start} {quota}"), None
        if demand.use.over_all(demand.with_all):
            total = "total ElasticQuota used is more than min"
            return unschedulable(f"{start} {total}"), None
        return OK, None

    def _demand(self, pod: Pod) -> Demand:
        cluster = self.handle.cluster
        use = QuotaUse(cluster.quotas, (held for held, _ in cluster.placed.values()))
        asked = requests(pod)
        demand = Demand(use, asked, dict(asked), dict(asked))
        if pod.namespace in use.quotas:
            for name in cluster.node_infos:
                for other in self.handle.nominations.on(name):
                    self._count_nominated(demand, pod, other)
        return demand

    def _count_nominated(self, demand: Demand, pod: Pod, other: Pod) -> None:
        if other.key == pod.key or other.namespace not in demand.use.quotas:
            return
        if other.namespace != pod.namespace:
            if not demand.use.over_minimum(other.namespace, {}):
                add(demand.with_all, requests(other), 1)
        elif other.priority >= pod.priority:
            add(demand.with_own, requests(other), 1)
            add(demand.with_all, requests(other), 1)

    def count(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo, by: int
    ) -> None:
        """Count the use of quota of a pod that comes to a node or goes."""
        demand = state.data[NAME]
        assert isinstance(demand, Demand)
        demand.use.count(other, by)

    def fails_alike(self) -> bool:
        """Return False: what a pod may take is its namespace's, and quotas change."""
        return False

    def preemption(self) -> QuotaVictimSearch:
        """Return the search over the cluster as it is now."""
        handle = self.handle
        return QuotaVictimSearch(
            handle.framework,
            handle.cluster,
            handle.nominations,
            now_us=handle.context.now_us,
        )

    def refusal(self, pod: Pod, verdicts: Verdicts) -> str:
        """Return why the pod may not preempt, "" when it may."""
        if pod.shape.never_preempts:
            return NEVER
        node = self.handle.nominations.node(pod.key) or pod.nominated
        node_info = self.handle.cluster.node_infos.get(node)
        if node_info is None:
            return ""
        if verdicts.rejected is None and verdicts.codes[node_info.row] == 2:
            return ""
        demand = self._demand(pod)
        leaving = (other for other in node_info.pods.values() if other.terminating)
        return TERMINATING if any(demand.may_remove(pod, o) for o in leaving) else ""

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a pod goes, or a quota comes or changes."""
        return {plugin.POD_DELETED: None, plugin.QUOTA_CHANGED: None}
