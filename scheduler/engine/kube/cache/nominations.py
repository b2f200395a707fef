"""Pods that were promised a node after preempting there."""

from __future__ import annotations

from scheduler.model.objects import Key
from scheduler.model.pod import Pod


class Nominations:
    """Who is nominated where; a pod is nominated to one node at most."""

    def __init__(self) -> None:
        self._node: dict[Key, str] = {}
        self._pods: dict[str, dict[Key, Pod]] = {}

    def put(self, pod: Pod, node: str) -> None:
        """Nominate the pod to the node, and nowhere else."""
        self.remove(pod.key)
        if node:
            self._node[pod.key] = node
            self._pods.setdefault(node, {})[pod.key] = pod

    def remove(self, key: Key) -> None:
        """Forget the pod's nomination."""
        node = self._node.pop(key, None)
        if node is not None:
            del self._pods[node][key]
            if not self._pods[node]:
                del self._pods[node]

    def node(self, key: Key) -> str:
        """Return where the pod is nominated, "" for nowhere."""
        return self._node.get(key, "")

    def __bool__(self) -> bool:
        """Return whether a pod is nominated anywhere."""
        return bool(self._node)

    def on(self, node: str) -> list[Pod]:
        """Return the pods nominated to a node, in key order."""
        pods = self._pods.get(node)
        return [pods[key] for key in sorted(pods)] if pods else []

    def rivals(self, pod: Pod) -> dict[str, list[Pod]]:
        """Return per node the others whose priority is at least the pod's.

        Source: docs/semantics/kube-scheduler.md#nominated-pods.
        """
        found = {}
        for node in self._pods:
            others = [
                other
                for other in self.on(node)
                if other.priority >= pod.priority and other.key != pod.key
            ]
            if others:
                found[node] = others
        return found
