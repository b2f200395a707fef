"""What the autoscaler sees of the scheduler that places pods: who waits, what is free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from scheduler.engine.autoscaling.claims import held_back
from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.pod_group import read_budget
from scheduler.engine.kube.stage import KubeStage
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod, read_pod
from scheduler.model.yunikorn.resources import PODS, VCORE

if TYPE_CHECKING:
    from scheduler.engine.yunikorn.objects.model import Ask
    from scheduler.engine.yunikorn.stage import YunikornStage


class Placing(Protocol):
    """A scheduler that places pods, at one instant."""

    @property
    def nodes(self) -> ClusterCache:
        """Return the nodes with the pods on them."""

    def waiting(self) -> list[Pod]:
        """Return the pods that found no node, in the order in which they are seated."""


class KubePlacing:
    """kube-scheduler's pods, by name."""

    def __init__(self, kube: KubeStage) -> None:
        self.kube = kube

    @property
    def nodes(self) -> ClusterCache:
        """Return the nodes with the pods on them."""
        return self.kube.nodes

    def waiting(self) -> list[Pod]:
        """Return the pods that no node was found for, and none is held for."""
        kube = self.kube
        return [kube.pods[key] for key in sorted(kube.pods) if self._waits(key)]

    def _waits(self, key: Key) -> bool:
        kube = self.kube
        if key in kube.nodes.placed:
            return False
        scheduler = kube.responsible(kube.pods[key])
        queued = scheduler.queue.entries.get(key) if scheduler is not None else None
        if queued is None or scheduler is None or key in scheduler.assumed:
            return False
        pod = kube.pods[key]
        if queued.reason != "Unschedulable" or pod.terminating:
            return False
        return not held_back(scheduler.cluster, pod)


class YunikornPlacing:
    """YuniKorn's pods, in the order of its queues and applications.

    Placeholders of a gang wait and hold nodes as pods do: on a cluster they are some.
    Source: docs/semantics/capacity.md#under-yunikorn. Cost: O(pods), per look.
    """

    def __init__(self, yunikorn: YunikornStage, objects: Mapping[Key, Object]) -> None:
        self.yunikorn = yunikorn
        self.nodes = ClusterCache()
        partition = yunikorn.partition
        for node in partition.nodes.by_name.values():
            if node.record is not None:
                self.nodes.put_node(node.record)
        for key, (name, _) in yunikorn.foreign.items():
            self.nodes.place(yunikorn.records[key.path], name)
        for ask in partition.asks.values():
            if ask.node is not None:
                self.nodes.place(self._pod(ask), ask.node.name)
        for key, obj in objects.items():
            if key.kind == "PodDisruptionBudget":
                self.nodes.budgets[key] = read_budget(obj.manifest, {}, key.namespace)

    def waiting(self) -> list[Pod]:
        """Return the pods that quota lets in and no node takes."""
        return [self._pod(ask) for ask in self.yunikorn.outstanding()]

    def _pod(self, ask: Ask) -> Pod:
        known = self.yunikorn.records.get(ask.key)
        return known if known is not None else _stand_in(ask)


def _stand_in(ask: Ask) -> Pod:
    """Return a pod that asks for what a placeholder does."""
    requests = {n: str(value) for n, value in ask.resource.items() if n != PODS}
    if VCORE in requests:
        requests["cpu"] = f"{requests.pop(VCORE)}m"
    container = {"name": "pause", "image": "pause", "resources": {"requests": requests}}
    manifest = {
        "metadata": {"name": ask.key, "labels": {"placeholder": "true"}},
        "spec": {"containers": [container]},
    }
    return read_pod(manifest, {})
