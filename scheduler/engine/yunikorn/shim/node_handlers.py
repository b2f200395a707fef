"""Nodes that come and change."""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import SchedulingNode
from scheduler.engine.yunikorn.shim import pods
from scheduler.engine.yunikorn.shim.pod_handlers import PodHandlers
from scheduler.model.objects import Object

POD = "Pod"
NODE = "Node"
PRIORITY_CLASS = "PriorityClass"


class NodeHandlers(PodHandlers):
    """The part of YuniKorn's Kubernetes shim that decides: objects to the core."""

    def _put_node(self, obj: Object, *, restore: bool) -> None:
        record = pods.read_node_object(obj)
        capacity = pods.capacity_of(record)
        partition = self.partition
        node = partition.nodes.by_name.get(record.name)
        if node is None:
            node = SchedulingNode(record.name, capacity)
            node.record = record
            partition.add_node(node)
            score = obj.state.get(self.name, {}).get("score") if restore else None
            if score is not None:
                self.stored_scores[record.name] = score
        elif node.capacity != capacity:
            partition.resize_node(node, capacity)
        node.record = record
        if self.predicate_context is not None:
            self.predicate_context.put_node(record)
        if record.taints and not self.tainted:
            self._use_taints()
        if node.schedulable is record.unschedulable:
            partition.cordon(node, schedulable=not record.unschedulable)
        for pod in self.waiting_for_node.pop(record.name, {}).values():
            self._put_pod(pod, restore=False)
        partition.changed()
