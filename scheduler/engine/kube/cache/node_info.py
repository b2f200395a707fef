"""One node with what is on it: the sums that filters and scores read."""

from __future__ import annotations

from scheduler.model.node import CPU, MEMORY, PODS, Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

Port = tuple[str, str, int]
ANY_IP = "0.0.0.0"


class NodeInfo:
    """A node's pods and their sums in canonical units.

    `requested` is the plain sum, `assumed_cpu` and `assumed_memory` the sums
    with the defaults for containers that ask for nothing.
    Source: docs/semantics/kube-scheduler.md#sums-of-a-node.
    """

    __slots__ = (
        "assumed_cpu",
        "assumed_memory",
        "node",
        "pods",
        "ports",
        "requested",
        "row",
    )

    def __init__(self, node: Node, row: int = -1) -> None:
        self.node = node
        self.row = row
        self.pods: dict[Key, Pod] = {}
        self.requested: dict[str, int] = {}
        self.assumed_cpu = 0
        self.assumed_memory = 0
        self.ports: dict[Port, int] = {}

    def add(self, pod: Pod) -> None:
        """Put a pod on the node."""
        self.pods[pod.key] = pod
        self._grow(pod, 1)

    def remove(self, pod: Pod) -> None:
        """Take a pod off the node."""
        del self.pods[pod.key]
        self._grow(pod, -1)

    def _grow(self, pod: Pod, sign: int) -> None:
        asked = pod.shape.requests
        requested = self.requested
        for name, amount in asked.exact.items():
            requested[name] = requested.get(name, 0) + sign * amount
        self.assumed_cpu += sign * asked.assumed_cpu
        self.assumed_memory += sign * asked.assumed_memory
        for port in pod.shape.ports:
            count = self.ports.get(port, 0) + sign
            if count > 0:
                self.ports[port] = count
            else:
                self.ports.pop(port, None)

    def copy(self) -> NodeInfo:
        """Return a copy of the node, to try removals on."""
        other = NodeInfo(self.node, self.row)
        other.pods = dict(self.pods)
        other.requested = dict(self.requested)
        other.assumed_cpu = self.assumed_cpu
        other.assumed_memory = self.assumed_memory
        other.ports = dict(self.ports)
        return other

    def capacity(self, resource: str) -> int:
        """Return the node's capacity of the resource."""
        return self.node.allocatable.get(resource, 0)

    @property
    def pod_limit(self) -> int:
        """Return how many pods the node takes."""
        return self.node.allocatable.get(PODS, 0)

    def taken(self, resource: str, *, defaults: bool) -> int:
        """Return the sum of the pods' requests; with `defaults`, default requests included."""
        if defaults and resource == CPU:
            return self.assumed_cpu
        if defaults and resource == MEMORY:
            return self.assumed_memory
        return self.requested.get(resource, 0)

    def conflicts(self, wanted: tuple[Port, ...]) -> bool:
        """Return whether a wanted host port is taken."""
        return ports_conflict(wanted, self.ports)


def ports_conflict(wanted: tuple[Port, ...], taken: dict[Port, int]) -> bool:
    """Return whether two sets of host ports meet; 0.0.0.0 meets every address.

    Source: docs/semantics/kube-scheduler.md#host-ports.
    """
    return any(
        protocol == held_protocol
        and number == held_number
        and (address == held or ANY_IP in (address, held))
        for address, protocol, number in wanted
        for held, held_protocol, held_number in taken
    )
