"""Which nodes are under-used, and whether their pods would find other places.

Source: docs/semantics/capacity.md#scale-down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from scheduler.engine.autoscaling.bookings import Bookings
from scheduler.engine.autoscaling.packing import (
    Alike,
    NodeSpace,
    alike,
    place,
    space_of,
)
from scheduler.engine.autoscaling.supply import (
    LookTimes,
    NodeGroup,
    NodeSupply,
    by_number,
    held_back,
)
from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.pod_group import disruptions_allowed, read_budget
from scheduler.engine.kube.stage import KubeStage
from scheduler.model.node import CPU, MEMORY
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod, read_pod
from scheduler.model.policy import Autoscaler
from scheduler.model.yunikorn.resources import PODS, VCORE

if TYPE_CHECKING:
    from scheduler.engine.yunikorn.objects.model import Ask
    from scheduler.engine.yunikorn.stage import YunikornStage


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


# ------------------------------------------------------------------------
# Scale-down: nodes that were under-used for long go again.


Due = list[tuple[NodeGroup, str]]


class GivingBack:
    """Notes which nodes are under-used, and gives back those that were for long."""

    def __init__(
        self,
        supply: NodeSupply,
        looks: LookTimes,
        settings: Autoscaler,
        bookings: Bookings,
    ) -> None:
        self.bookings = bookings
        self.supply = supply
        self.looks = looks
        self.settings = settings

    def look(self, placing: Placing) -> None:
        """Note what is under-used, and give back what is due."""
        trial = Emptying(placing.nodes, self.supply.host.objects)
        booked = self.bookings.take([*trial.spaces.values()])
        due: Due = []
        for group in self.supply.in_order():
            found = [
                name
                for name in group.names()
                if name not in booked and _under_used(group, name, placing, trial)
            ]
            self._note_unneeded(group, found)
            due += self._long_unneeded(group)
        self._give_back(placing, due)
        self.looks.when_due(
            since + group.delay_ms
            for group in self.supply.in_order()
            for since in group.unneeded.values()
        )

    def _note_unneeded(self, group: NodeGroup, found: list[str]) -> None:
        now = self.looks.context.now_ms
        unneeded = {name: group.unneeded.get(name, now) for name in found}
        if unneeded != group.unneeded:
            group.unneeded = unneeded
            self.supply.touch(group)

    def _long_unneeded(self, group: NodeGroup) -> Due:
        """Return the nodes that may go now, without going below the minimum."""
        now = self.looks.context.now_ms
        if self.looks.just_added:
            return []
        due = [n for n, at in group.unneeded.items() if at + group.delay_ms <= now]
        due.sort(key=by_number)
        return [(group, name) for name in due[: group.size - group.spec.min_nodes]]

    def _give_back(self, placing: Placing, due: Due) -> None:
        """Remove empty nodes together, or drain a few; never both at once."""
        infos = placing.nodes.node_infos
        empty = [one for one in due if not movable(infos[one[1]])]
        if empty:
            for group, name in empty[: self.settings.max_empty_at_once]:
                why = f"{name} was empty for {group.delay_ms / 1000:g} s"
                self.supply.take_away(group, name, "ScaleDownEmpty", "removed", why)
        else:
            for group, name in due[: self.settings.max_drained_at_once]:
                why = f"{name} was under-used for {group.delay_ms / 1000:g} s"
                self.supply.take_away(group, name, "ScaleDown", "removed", why)


def _under_used(group: NodeGroup, name: str, placing: Placing, trial: Emptying) -> bool:
    info = placing.nodes.node_infos.get(name)
    if info is None or group.size <= group.spec.min_nodes:
        return False
    if utilisation(info) >= group.spec.scale_down_threshold and movable(info):
        return False
    return trial.may_go(info)


# ------------------------------------------------------------------------
# What the autoscaler sees of the scheduler that places pods: who waits, what is free.


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
