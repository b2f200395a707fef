"""Building the queue tree from its configuration."""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.model.hierarchy import QueueConfig


def build(spec: QueueConfig, parent: Queue | None = None) -> Queue:
    """Return the tree of queues that the specification describes."""
    queue = Queue(spec, parent)
    for child in spec.queues:
        queue.children[child.name] = build(child, queue)
    return queue
