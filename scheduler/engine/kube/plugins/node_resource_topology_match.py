"""NodeResourceTopologyMatch: containers or the pod must fit in one NUMA zone."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from scheduler.engine.kube.cache.node_info import Codes, NodeInfo, View
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import (
    MAX_SCORE,
    Event,
    Handle,
    Hint,
    Plugin,
)
from scheduler.engine.kube.framework.status import OK, CycleState, Status, unschedulable
from scheduler.engine.kube.noderesources.scoring import ResourceSpec
from scheduler.engine.kube.numa.topology import (
    SINGLE,
    Zone,
    fitting,
    is_looked_at,
    score,
    subtract,
)
from scheduler.model.pod import GUARANTEED, Pod
from scheduler.model.registry import register

Strategy = Literal[
    "LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"
]


class ZoneScoring(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How zones score, and the weight of each resource (1 where none is given)."""

    type: Strategy = "LeastAllocated"
    resources: list[ResourceSpec] = []


class NodeResourceTopologyMatchArgs(
    msgspec.Struct, rename="camel", forbid_unknown_fields=True
):
    """The arguments of NodeResourceTopologyMatch; those of its cache decide nothing."""

    api_version: str = ""
    kind: str = ""
    scoring_strategy: ZoneScoring | None = None
    cache_resync_period_seconds: int = 0
    discard_reserved_nodes: bool = False
    cache: dict[str, Any] | None = None


@register(
    "plugin",
    "NodeResourceTopologyMatch",
    label="NUMA zones (NodeResourceTopologyMatch)",
    help="Filters out nodes of which no NUMA zone has room for a container, or the "
    "pod, by their NodeResourceTopology; scores by how full the zones would be, or by "
    "how many the pod needs.",
    parameters=NodeResourceTopologyMatchArgs,
)
class NodeResourceTopologyMatch(Plugin):
    """Source: docs/semantics/kube-scheduler.md#numa-zones."""

    name = "NodeResourceTopologyMatch"
    args_type = NodeResourceTopologyMatchArgs
    idle_points = ("pre_filter", "post_bind")

    def __init__(self, args: NodeResourceTopologyMatchArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        strategy = args.scoring_strategy or ZoneScoring()
        for resource in strategy.resources:
            resource.check(self.name)
        self._strategy = strategy.type
        self._weights = {r.name: r.weight for r in strategy.resources}

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Ask node by node, where there is anything to ask."""
        if not self.handle.cluster.topologies.by_node or not is_looked_at(pod):
            return np.zeros(view.size, dtype=np.int8)
        return super().filter_rows(state, pod, view)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node that aligns to one zone and has none for the pod."""
        topology = self.handle.cluster.topologies.by_node.get(node_info.node.name)
        if topology is None or topology.policy != SINGLE or not is_looked_at(pod):
            return OK
        zones = topology.free(pod.key)
        if not topology.by_pod:
            return _containers(pod, zones, node_info)
        asked = pod.shape.requests.asked
        fit = fitting(zones, asked, pod.qos, node_info.node.allocatable)
        return OK if fit is not None or not asked else unschedulable("cannot align pod")

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Score the zones for a Guaranteed pod; any node is good for another."""
        if pod.qos != GUARANTEED:
            return MAX_SCORE
        topology = self.handle.cluster.topologies.by_node.get(node_info.node.name)
        if topology is None:
            return 0
        return score(topology, pod, self._strategy, self._weights)

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Take the zones at once, so that the next pod sees them taken."""
        touch = self.handle.context.journal.touch
        self.handle.cluster.topologies.admit(pod, node, touch)
        return OK

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Give the zones back."""
        touch = self.handle.context.journal.touch
        self.handle.cluster.topologies.release(pod, node, touch)

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a pod goes, a node comes or grows, or zones change."""
        return {
            plugin.POD_DELETED: None,
            plugin.NODE_ADDED: None,
            plugin.NODE_CHANGED: _other_allocatable,
            plugin.TOPOLOGY_CHANGED: None,
        }


def _containers(pod: Pod, zones: list[Zone], node_info: NodeInfo) -> Status:
    """Align one container after the other; the init ones leave what they took."""
    for container in pod.shape.containers:
        asked = container.asked
        fit = fitting(zones, asked, pod.qos, node_info.node.allocatable)
        if fit is None and asked:
            kind = "init container" if container.init else "container"
            return unschedulable(f"cannot align {kind}")
        if fit is not None and not container.init:
            subtract([fit], asked, pod.qos)
    return OK


def _other_allocatable(pod: Pod, event: Event) -> bool:
    before = event.old_node
    return before is None or before.allocatable != event.node.allocatable
