"""Why a node's kubelet rejects a pod that is bound to it."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.model.node import CPU, MEMORY, PODS, STORAGE, Node
from scheduler.model.pod import Pod

MISMATCH = "node(s) didn't match Pod's node affinity/selector"
_REASONS = {
    PODS: "OutOfpods",
    CPU: "OutOfcpu",
    MEMORY: "OutOfmemory",
    STORAGE: "OutOfephemeral-storage",
}


def rejection(
    pod: Pod, node: Node, used: Mapping[str, int], pods: int
) -> tuple[str, str] | None:
    """Return reason and message of a kubelet that rejects the pod, None when it admits it.

    `used` is what the `pods` others on the node request, in canonical units. A resource
    that the node does not state is not looked at. O(resources + node terms).
    Source: docs/semantics/kube-scheduler.md#what-a-kubelet-rejects.
    """
    asked = pod.shape.requests.asked
    needs = {PODS: 1, **{name: asked[name] for name in _REASONS if name in asked}}
    for name, amount in (needs | asked).items():
        if name not in node.allocatable:
            continue
        taken = pods if name == PODS else used.get(name, 0)
        capacity = node.allocatable.get(name, 0)
        if amount > capacity - taken:
            return _REASONS.get(name, f"OutOf{name}"), (
                f"Node didn't have enough resource: {name}, requested: {amount}, "
                f"used: {taken}, capacity: {capacity}"
            )
    if not pod.shape.selects(node.name, node.labels):
        return "NodeAffinity", f"Predicate NodeAffinity failed: {MISMATCH}"
    return None
