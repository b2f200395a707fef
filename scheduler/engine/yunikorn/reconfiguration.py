"""A new queues.yaml for a partition that runs."""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.queue_building import build
from scheduler.engine.yunikorn.preemption import quota_change
from scheduler.model.hierarchy import PartitionSpec, QueueConfig


def reconfigure(partition: Partition, spec: PartitionSpec) -> None:
    """Take a new configuration; applications and allocations stay where they are.

    Queues that it no longer names are drained: they take no new application.
    """
    before = {
        queue.path: (queue.max, queue.properties.quota_delay_ms)
        for queue in partition.root.walk()
    }
    _apply(partition.root, spec.root)
    partition.configure(spec)
    partition.limits.recount(partition.apps.values())
    for queue in partition.root.walk():
        old_max, old_delay_ms = before.get(queue.path, (None, 0))
        quota_change.update_clock(queue, old_max, old_delay_ms, partition.now_ms)


def _apply(queue: Queue, spec: QueueConfig) -> None:
    queue.configure(spec)
    queue.managed = True
    named = {child.name: child for child in spec.queues}
    for name, child in queue.children.items():
        if name in named:
            _apply(child, named[name])
        elif child.managed:
            child.state = "Draining"
    for name, child_spec in named.items():
        if name not in queue.children:
            queue.children[name] = build(child_spec, queue)
