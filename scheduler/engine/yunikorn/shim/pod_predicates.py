"""Predicates that look at other pods: kube-scheduler's own plug-ins are asked.

YuniKorn's shim runs them as predicates: host ports, topology spread, affinity
between pods. Made only once a pod of the world needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from scheduler.engine.kube.cache.cluster import ClusterCache, label_class
from scheduler.engine.kube.framework.plugin import Handle, Plugin
from scheduler.engine.kube.framework.status import Code, CycleState
from scheduler.engine.kube.plugins.inter_pod_affinity import (
    InterPodAffinity,
    InterPodAffinityArgs,
)
from scheduler.engine.kube.plugins.node_ports import NodePorts
from scheduler.engine.kube.plugins.pod_topology_spread import (
    PodTopologySpread,
    PodTopologySpreadArgs,
)
from scheduler.engine.kube.plugins.taint_toleration import TaintToleration
from scheduler.engine.stage import Context
from scheduler.engine.yunikorn.objects.model import Predicate, SchedulingNode
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.shim.recorder import ShimState
from scheduler.model.hierarchy import PartitionSpec
from scheduler.model.kube.profiles import NoArgs
from scheduler.model.node import Node as NodeRecord
from scheduler.model.node_admission import MISMATCH
from scheduler.model.objects import Key
from scheduler.model.pod import Pod, Shape
from scheduler.model.policy import Policy
from scheduler.model.selectors import tolerated

if TYPE_CHECKING:
    from scheduler.engine.yunikorn.objects.model import Ask


# ------------------------------------------------------------------------
# Predicates that look at the node alone: selector, required affinity, taints.


class NodePredicate:
    """Where pods of one shape may run: selector, affinity and taints."""

    __slots__ = ("shape",)

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def __call__(self, node: SchedulingNode, gone: Sequence[Ask] = ()) -> str | None:
        """Return why a node is not for this shape, or None.

        `gone`: pods on the node that would have left; they do not matter here.
        """
        record = node.record
        if not isinstance(record, NodeRecord):
            return None
        shape = self.shape
        if not shape.selects(record.name, record.labels):
            return MISMATCH
        for taint in record.taints:
            hard = taint.effect in ("NoSchedule", "NoExecute")
            if hard and not tolerated(taint, shape.tolerations):
                return TaintToleration.reason
        return None


def predicate_of(shape: Shape, *, tainted: bool) -> Predicate | None:
    """Return the predicate of a shape; None when it may run anywhere.

    `tainted`: whether any node has a taint.
    """
    if shape.node_selector or shape.node_required is not None or tainted:
        return NodePredicate(shape)
    return None


# ------------------------------------------------------------------------
# Predicates that look at other pods: kube-scheduler's own plug-ins are asked.


def needs_pod_predicates(shape: Shape) -> bool:
    """Return whether placement of this pod depends on other pods, or theirs on it."""
    return bool(shape.has_pod_terms or shape.spread or shape.ports)


class PluginHandle:
    """What these plug-ins see of a scheduler: the nodes and their pods."""

    def __init__(self, cluster: ClusterCache) -> None:
        self.cluster = cluster


class PredicateContext:
    """The nodes and the pods on them, kept up to date from the partition.

    `version` moves with every change. `records` are the pods by ask key.
    """

    def __init__(self, partition: Partition, records: Mapping[str, Pod]) -> None:
        self.partition = partition
        self.records = records
        self.cluster = ClusterCache()
        self.version = 0
        self.placed: dict[str, Key] = {}
        self._classes: dict[object, PodPredicate] = {}
        sight = cast("Handle", PluginHandle(self.cluster))
        self.plugins: tuple[Plugin, ...] = (
            NodePorts(NoArgs(), sight),
            PodTopologySpread(PodTopologySpreadArgs(), sight),
            InterPodAffinity(InterPodAffinityArgs(), sight),
        )
        partition.changed_keys = dict.fromkeys(partition.asks)

    def predicate(self, pod: Pod) -> PodPredicate:
        """Return the predicate of a pod; pods without a difference share it."""
        known = (pod.shape.ordinal, label_class(pod))
        return self._classes.setdefault(known, PodPredicate(pod, self))

    def put_node(self, record: NodeRecord) -> None:
        """Take a node that is new or changed."""
        self.version += 1
        self.cluster.put_node(record)

    def remove_node(self, name: str) -> None:
        """Remove a node."""
        self.version += 1
        self.sync()
        self.cluster.remove_node(name)

    def put_namespaces(self, labels: Mapping[str, dict[str, str]]) -> None:
        """Take the labels of all namespaces."""
        self.version += 1
        self.cluster.namespaces = dict(labels)

    def note_edited(self, key: str) -> None:
        """Note that a placed pod was edited."""
        assert self.partition.changed_keys is not None
        self.partition.changed_keys[key] = None

    def put_foreign_pod(self, pod: Pod, node: str) -> None:
        """Take a pod of another scheduler; no node when it is gone."""
        self.version += 1
        if node:
            self.cluster.place(pod, node)
        else:
            self.cluster.unplace(pod.key)

    def sync(self) -> None:
        """Apply what changed in the partition since the last call."""
        moved = self.partition.changed_keys
        if not moved:
            return
        self.version += 1
        for key in moved:
            gone = self.placed.pop(key, None)
            if gone is not None:
                self.cluster.unplace(gone)
            ask, pod = self.partition.asks.get(key), self.records.get(key)
            if pod is not None and ask is not None and ask.node is not None:
                self.cluster.place(pod, ask.node.name)
                self.placed[key] = pod.key
        moved.clear()

    def prepare(self, pod: Pod) -> tuple[CycleState, list[Plugin]]:
        """Return the plug-ins that apply to the pod, prepared."""
        state = CycleState()
        active = [
            plugin
            for plugin in self.plugins
            if plugin.pre_filter(state, pod)[0].code is not Code.SKIP
        ]
        return state, active


class PodPredicate(NodePredicate):
    """Where a pod may run: by its node's labels and taints, and among other pods."""

    __slots__ = ("_active", "_seen", "_state", "pod", "predicate_context")

    def __init__(self, pod: Pod, predicate_context: PredicateContext) -> None:
        super().__init__(pod.shape)
        self.pod = pod
        self.predicate_context = predicate_context
        self._seen = -1
        self._state = CycleState()
        self._active: list[Plugin] = []

    def __call__(self, node: SchedulingNode, gone: Sequence[Ask] = ()) -> str | None:
        """Return why a node is not for this pod, or None.

        `gone`: pods on the node that would have left.
        Source: docs/semantics/yunikorn.md#choice-of-the-preempted-node
        """
        return super().__call__(node) or self._filter(node.name, gone)

    def _filter(self, name: str, gone: Sequence[Ask]) -> str | None:
        predicate_context = self.predicate_context
        predicate_context.sync()
        if self._seen != predicate_context.version:
            self._seen = predicate_context.version
            self._state, self._active = predicate_context.prepare(self.pod)
        host = predicate_context.cluster.node_infos.get(name)
        if host is None or not self._active:
            return None
        state = self._state
        if gone:
            state, host = state.copy(), host.copy()
            for ask in gone:
                other = host.pods.get(
                    predicate_context.placed.get(ask.key, self.pod.key)
                )
                if other is not None:
                    host.remove(other)
                    for plugin in self._active:
                        plugin.remove_pod(state, self.pod, other, host)
        for plugin in self._active:
            status = plugin.filter(state, self.pod, host)
            if not status.ok:
                return ", ".join(status.reasons)
        return None


# ------------------------------------------------------------------------
# Which predicate a pod gets: none, of the node alone, or among other pods.


class PredicateSelection(ShimState):
    """Gives pods the cheapest predicate that decides for them."""

    def __init__(self, context: Context, policy: Policy, spec: PartitionSpec) -> None:
        super().__init__(context, policy, spec)
        self.tainted = False  # some node has a taint
        self._by_shape: dict[int, NodePredicate] = {}
        #: From the first pod on that needs predicates among pods.
        self.predicate_context: PredicateContext | None = None

    def _use_taints(self) -> None:
        """Give every pod a predicate, from the first tainted node on."""
        self.tainted = True
        for ask in self.partition.asks.values():
            if ask.pod is not None and ask.predicate is None:
                ask.predicate = self._predicate(self.records[ask.key])

    def _use_pod_predicates(self) -> None:
        """Give every pod predicates among pods, from the first on that needs them."""
        found = self.predicate_context = PredicateContext(self.partition, self.records)
        self._update_namespaces()
        for node in self.partition.nodes.by_name.values():
            if node.record is not None:
                found.put_node(node.record)
        for key, (name, _) in self.foreign.items():
            found.put_foreign_pod(self.records[key.path], name)
        for ask in self.partition.asks.values():
            if ask.pod is not None:
                ask.predicate = found.predicate(self.records[ask.key])

    def _update_namespaces(self) -> None:
        if self.predicate_context is not None:
            self.predicate_context.put_namespaces(self.namespaces)
            self.partition.changed()

    def _predicate(self, pod: Pod) -> Predicate | None:
        if self.predicate_context is not None:
            return self.predicate_context.predicate(pod)
        shape = pod.shape
        if predicate_of(shape, tainted=self.tainted) is None:
            return None
        return self._by_shape.setdefault(shape.ordinal, NodePredicate(shape))
