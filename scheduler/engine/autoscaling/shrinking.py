"""Which nodes are under-used, and whether their pods would find other places.

Source: docs/semantics/capacity.md#scale-down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from scheduler.engine.autoscaling.packing import (
    Alike,
    NodeSpace,
    alike,
    place,
    space_of,
)
from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.pod_group import disruptions_allowed
from scheduler.model.node import CPU, MEMORY
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod

SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_GPU = "gpu"


def utilisation(info: NodeInfo) -> float:
    """Return the largest share of the node that its pods ask for.

    Of cpu and memory; of GPUs alone where it has some.
    """
    offered = info.node.allocatable
    gpus = [name for name in offered if _GPU in name and offered[name]]
    return max(
        (
            info.requested.get(name, 0) / offered[name]
            for name in (gpus or (CPU, MEMORY))
            if offered.get(name)
        ),
        default=0.0,
    )


def movable(info: NodeInfo) -> list[Pod]:
    """Return the pods that must go elsewhere: not those of DaemonSets."""
    return [
        info.pods[key]
        for key in sorted(info.pods)
        if info.pods[key].owner_kind != "DaemonSet"
    ]


Keeps = Callable[[Object | None], bool]


def _disabled(node: Object | None) -> bool:
    return node is not None and node.annotations.get(DISABLED) == "true"


class Emptying:
    """Tries out, node by node, whether pods would fit on the others."""

    def __init__(
        self,
        nodes: ClusterCache,
        objects: Mapping[Key, Object],
        *,
        keeps: Keeps | None = None,
    ) -> None:
        """Start from what is free now.

        `keeps` says whether a node, or a pod on it, is not to be disrupted; without
        it cluster-autoscaler's annotations do, and pods without an owner stay.
        """
        self.keeps = keeps
        self.nodes = nodes
        self.objects = objects
        self.spaces: dict[str, NodeSpace] = {
            name: space_of(nodes.node_infos[name]) for name in sorted(nodes.node_infos)
        }
        self._allowed = {
            key: disruptions_allowed(
                budget,
                sum(nodes.matching(budget.key.namespace, budget.selector).values()),
            )
            for key, budget in nodes.budgets.items()
        }

    def may_go(self, info: NodeInfo) -> bool:
        """Return whether the node can be emptied; its pods take their places then."""
        if self._held(info):
            return False
        kept = self.spaces.pop(info.node.name)
        if self._moved(alike(movable(info))):
            return True
        self.spaces[info.node.name] = kept
        return False

    def leftover(self, info: NodeInfo) -> list[Alike] | None:
        """Return the pods of the node that fit nowhere else; None if it must stay."""
        if self._held(info):
            return None
        others = [
            NodeSpace(space.node, dict(space.free), set(space.alone))
            for name, space in self.spaces.items()
            if name != info.node.name
        ]
        left = [place(group, others) for group in alike(movable(info))]
        return [Alike(pods) for pods in left if pods]

    def _held(self, info: NodeInfo) -> bool:
        """Return whether the node, or a pod on it, says that it stays."""
        node = self.objects.get(Key("Node", "", info.node.name))
        if node is None or (self.keeps or _disabled)(node):
            return True
        return any(self._stays(pod) for pod in movable(info))

    def _moved(self, groups: Iterable[Alike]) -> bool:
        before = {
            name: (dict(space.free), set(space.alone))
            for name, space in self.spaces.items()
        }
        for group in groups:
            if place(group, self.spaces.values()):
                for name, (free, alone) in before.items():
                    self.spaces[name].free, self.spaces[name].alone = free, alone
                return False
        return True

    def _stays(self, pod: Pod) -> bool:
        """Return whether this pod keeps its node from going."""
        obj = self.objects.get(pod.key)
        if self._keeps_pod(pod, obj):
            return True
        return any(
            budget.key.namespace == pod.namespace
            and budget.selector.matches(pod.labels)
            and self._allowed[key] <= 0
            for key, budget in self.nodes.budgets.items()
        )

    def _keeps_pod(self, pod: Pod, obj: Object | None) -> bool:
        """Return whether the pod's annotation, or nobody behind it, keeps it."""
        if self.keeps is not None:
            return self.keeps(obj)
        said = obj.annotations.get(SAFE) if obj is not None else None
        return said == "false" or (not pod.owner_kind and said != "true")
