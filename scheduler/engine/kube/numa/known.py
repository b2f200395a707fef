"""The zones of all nodes that report any, the same for every scheduler of a run."""

from __future__ import annotations

from collections.abc import Callable

from scheduler.engine.kube.numa.topology import NODE_TOPOLOGY, Topology
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

Touch = Callable[[Key], None]  # notes an object that is to be written


class Topologies:
    """Zones by the name of the node; empty where no object was given."""

    def __init__(self) -> None:
        self.by_node: dict[str, Topology] = {}

    def admit(self, pod: Pod, node: str, touch: Touch) -> None:
        """Give a pod with this node what it gets of the zones, once."""
        topology = self.by_node.get(node)
        if topology is not None and pod.key not in topology.holds:
            topology.admit(pod)
            touch(Key(NODE_TOPOLOGY, "", node))

    def release(self, pod: Pod, node: str, touch: Touch) -> None:
        """Take back what a pod got that does not have the node after all."""
        topology = self.by_node.get(node)
        if topology is not None and topology.release(pod.key):
            touch(Key(NODE_TOPOLOGY, "", node))

    def end(self, pod: Pod, node: str, touch: Touch) -> None:
        """Free what a pod had that ended, whenever it came."""
        topology = self.by_node.get(node)
        if topology is not None:
            if not topology.release(pod.key):
                topology.end_earlier(pod)
            touch(Key(NODE_TOPOLOGY, "", node))
