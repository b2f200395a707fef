"""What fits where: pods of equal shape on nodes that are there, or might be.

Source: docs/semantics/capacity.md#estimate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.plugins.taint_toleration import refuses
from scheduler.model.node import CPU, HOSTNAME, MEMORY, PODS, Node
from scheduler.model.pod import Pod

Amounts = dict[str, int]


@dataclass(slots=True)
class NodeSpace:
    """A node, what is free on it, and which shapes may not come a second time."""

    node: Node
    free: Amounts
    alone: set[int]


@dataclass(slots=True)
class Alike:
    """Pods of one shape that wait for the same thing; `pods` in order of name."""

    pods: list[Pod]

    @property
    def first(self) -> Pod:
        """Return one that stands for all."""
        return self.pods[0]

    @property
    def needs(self) -> Amounts:
        """Return the requests of one of them, its pod slot included."""
        return {**self.first.shape.requests.asked, PODS: 1}


def alike(pods: Iterable[Pod]) -> list[Alike]:
    """Group pods by shape, in the order in which the first of each comes."""
    groups: dict[int, Alike] = {}
    for pod in pods:
        groups.setdefault(pod.shape.ordinal, Alike([])).pods.append(pod)
    return list(groups.values())


def space_of(info: NodeInfo) -> NodeSpace:
    """Return the free resources of an existing node."""
    free = dict(info.node.allocatable)
    for resource, amount in info.requested.items():
        free[resource] = free.get(resource, 0) - amount
    free[PODS] = free.get(PODS, 0) - len(info.pods)
    kept = {pod.shape.ordinal for pod in info.pods.values() if keeps_apart(pod)}
    return NodeSpace(info.node, free, kept)


def empty_node(node: Node) -> NodeSpace:
    """Return the resources of a new node."""
    return NodeSpace(node, dict(node.allocatable), set())


def suits(pod: Pod, node: Node) -> bool:
    """Return whether the pod may stand there, were all of it free."""
    if node.unschedulable or not pod.shape.selects(node.name, node.labels):
        return False
    return not refuses(node.taints, pod.shape.tolerations)


def keeps_apart(pod: Pod) -> bool:
    """Return whether no two pods of its shape share a node."""
    shape = pod.shape
    return bool(shape.ports) or any(
        term.topology_key == HOSTNAME and term.selector.matches(pod.labels)
        for term in shape.anti_affinity
    )


def fitting(pod: Pod, needs: Amounts, space: NodeSpace, most: int) -> int:
    """Return how many of these pods fit, up to `most`. Cost: O(resources)."""
    for resource, amount in needs.items():
        if amount > 0:
            most = min(most, space.free.get(resource, 0) // amount)
    if keeps_apart(pod):
        most = min(most, 0 if pod.shape.ordinal in space.alone else 1)
    return max(0, most)


def take(pod: Pod, needs: Amounts, space: NodeSpace, count: int) -> None:
    """Place `count` of these pods."""
    for resource, amount in needs.items():
        space.free[resource] = space.free.get(resource, 0) - amount * count
    if keeps_apart(pod):
        space.alone.add(pod.shape.ordinal)


def place(group: Alike, spaces: Iterable[NodeSpace]) -> list[Pod]:
    """Put pods into the spaces in their order; return those that fit nowhere."""
    left, needs, first = group.pods, group.needs, group.first
    for space in spaces:
        if not left:
            break
        if suits(first, space.node):
            count = fitting(first, needs, space, len(left))
            if count:
                take(first, needs, space, count)
                left = left[count:]
    return left


def left_of(groups: Iterable[Alike], spaces: list[NodeSpace]) -> list[Alike]:
    """Put all of them into the spaces; return what fits nowhere."""
    left = [place(group, spaces) for group in groups]
    return [Alike(pods) for pods in left if pods]


def pack(groups: Iterable[Alike], node: Node, most: int) -> tuple[list[NodeSpace], int]:
    """Fill new nodes of one kind, largest pods first; return them and the pods placed.

    No more than `most` nodes are taken. First fit over the nodes taken so far.
    """
    spaces: list[NodeSpace] = []
    placed = 0
    for group in sorted(groups, key=lambda one: -_size(one, node)):
        left = place(group, spaces)
        while left and len(spaces) < most:
            space = empty_node(node)
            count = fitting(group.first, group.needs, space, len(left))
            if not count:
                break
            take(group.first, group.needs, space, count)
            spaces.append(space)
            left = left[count:]
        placed += len(group.pods) - len(left)
    return spaces, placed


def _size(group: Alike, node: Node) -> float:
    """Return the share of a node's cpu and memory that one pod asks for, summed."""
    needs = group.needs
    return sum(
        needs.get(resource, 0) / node.allocatable[resource]
        for resource in (CPU, MEMORY)
        if node.allocatable.get(resource)
    )
