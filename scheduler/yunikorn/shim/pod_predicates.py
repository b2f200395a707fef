"""Predicates that look at other pods: kube-scheduler's own plug-ins are asked.

YuniKorn's shim runs them as predicates: host ports, topology spread, affinity
between pods. Made only once a pod of the world needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from scheduler.kube.cache.cluster import ClusterCache, label_class
from scheduler.kube.framework.handle import Handle
from scheduler.kube.framework.plugin import NoArgs, Plugin
from scheduler.kube.framework.status import Code, CycleState
from scheduler.kube.plugins.inter_pod_affinity import (
    InterPodAffinity,
    InterPodAffinityArgs,
)
from scheduler.kube.plugins.node_ports import NodePorts
from scheduler.kube.plugins.pod_topology_spread import (
    PodTopologySpread,
    PodTopologySpreadArgs,
)
from scheduler.records.node import Node as NodeRecord
from scheduler.records.objects import Key
from scheduler.records.pod import Pod, Shape
from scheduler.yunikorn.objects.node import Node
from scheduler.yunikorn.objects.partition import Partition
from scheduler.yunikorn.shim.node_predicates import Selective

if TYPE_CHECKING:
    from scheduler.yunikorn.objects.application import Ask


def minds_others(shape: Shape) -> bool:
    """Tell whether other pods decide where such a pod may stand, or it for them."""
    return bool(shape.has_pod_terms or shape.spread or shape.ports)


class Sight:
    """All that these plug-ins see of a scheduler: the nodes and their pods."""

    def __init__(self, cluster: ClusterCache) -> None:
        self.cluster = cluster


class Neighbours:
    """The nodes and who stands on them, kept up to date from the partition.

    `version` moves with every change. `records` are the pods by ask key.
    """

    def __init__(self, partition: Partition, records: Mapping[str, Pod]) -> None:
        self.partition = partition
        self.records = records
        self.cluster = ClusterCache()
        self.version = 0
        self.stood: dict[str, Key] = {}
        self._classes: dict[object, Among] = {}
        sight = cast("Handle", Sight(self.cluster))
        self.plugins: tuple[Plugin, ...] = (
            NodePorts(NoArgs(), sight),
            PodTopologySpread(PodTopologySpreadArgs(), sight),
            InterPodAffinity(InterPodAffinityArgs(), sight),
        )
        partition.moved = dict.fromkeys(partition.asks)

    def refusal(self, pod: Pod) -> Among:
        """Return the predicate of a pod; pods that nothing tells apart share it."""
        known = (pod.shape.ordinal, label_class(pod))
        return self._classes.setdefault(known, Among(pod, self))

    def put_node(self, record: NodeRecord) -> None:
        """Take a node that is new or changed."""
        self.version += 1
        self.cluster.put_node(record)

    def remove_node(self, name: str) -> None:
        """Forget a node."""
        self.version += 1
        self.look()
        self.cluster.remove_node(name)

    def put_namespaces(self, labels: Mapping[str, dict[str, str]]) -> None:
        """Take the labels of all namespaces."""
        self.version += 1
        self.cluster.namespaces = dict(labels)

    def relabelled(self, key: str) -> None:
        """Note that a pod which stands somewhere was edited."""
        assert self.partition.moved is not None
        self.partition.moved[key] = None

    def put_stranger(self, pod: Pod, node: str) -> None:
        """Take a pod of another scheduler; no node when it is gone."""
        self.version += 1
        if node:
            self.cluster.place(pod, node)
        else:
            self.cluster.unplace(pod.key)

    def look(self) -> None:
        """Take up who came and went in the partition since the last look."""
        moved = self.partition.moved
        if not moved:
            return
        self.version += 1
        for key in moved:
            gone = self.stood.pop(key, None)
            if gone is not None:
                self.cluster.unplace(gone)
            ask, pod = self.partition.asks.get(key), self.records.get(key)
            if pod is not None and ask is not None and ask.node is not None:
                self.cluster.place(pod, ask.node.name)
                self.stood[key] = pod.key
        moved.clear()

    def prepared(self, pod: Pod) -> tuple[CycleState, list[Plugin]]:
        """Return the plug-ins that have something to say of the pod, prepared."""
        state = CycleState()
        speaking = [
            plugin
            for plugin in self.plugins
            if plugin.pre_filter(state, pod)[0].code is not Code.SKIP
        ]
        return state, speaking


class Among(Selective):
    """Where a pod may stand: by its node's labels and taints, and among others."""

    __slots__ = ("_seen", "_speaking", "_state", "neighbours", "pod")

    def __init__(self, pod: Pod, neighbours: Neighbours) -> None:
        super().__init__(pod.shape)
        self.pod = pod
        self.neighbours = neighbours
        self._seen = -1
        self._state = CycleState()
        self._speaking: list[Plugin] = []

    def __call__(self, node: Node, gone: Sequence[Ask] = ()) -> str | None:
        """Return why a node is not for this pod, or None.

        `gone`: pods on the node that would have left. Source: YUNIKORN.md 10.8.
        """
        return super().__call__(node) or self._crowded(node.name, gone)

    def _crowded(self, name: str, gone: Sequence[Ask]) -> str | None:
        neighbours = self.neighbours
        neighbours.look()
        if self._seen != neighbours.version:
            self._seen = neighbours.version
            self._state, self._speaking = neighbours.prepared(self.pod)
        host = neighbours.cluster.node_infos.get(name)
        if host is None or not self._speaking:
            return None
        state = self._state
        if gone:
            state, host = state.copy(), host.copy()
            for ask in gone:
                other = host.pods.get(neighbours.stood.get(ask.key, self.pod.key))
                if other is not None:
                    host.remove(other)
                    for plugin in self._speaking:
                        plugin.remove_pod(state, self.pod, other, host)
        for plugin in self._speaking:
            status = plugin.filter(state, self.pod, host)
            if not status.ok:
                return ", ".join(status.reasons)
        return None
