"""What a queue holds, waits for and may still take."""

from __future__ import annotations

from typing import Self

from scheduler.engine.yunikorn.objects.queue_tree import QueueTree
from scheduler.model.hierarchy import QueueConfig
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts


class QueueUsage(QueueTree):
    """Sums over a queue's subtree, kept up to date along the path to the root.

    `preempting` is the part of `allocated` that was asked to end and has not.
    """

    __slots__ = (
        "allocated",
        "fair_max",
        "has_pending",
        "mixed_max",
        "pending",
        "preempting",
        "quota_due_ms",
    )

    def __init__(self, spec: QueueConfig, parent: Self | None = None) -> None:
        self.allocated: Amounts = {}
        self.pending: Amounts = {}
        self.preempting: Amounts = {}
        self.has_pending = False  # pending is strictly greater than zero
        self.fair_max: Amounts | None = None
        self.mixed_max = False  # children differ in fair-max
        self.quota_due_ms: int | None = None
        super().__init__(spec, parent)

    # -- limits

    def effective_max(self) -> Amounts | None:
        """Return the component-wise minimum of the max values up to the root."""
        found: Amounts | None = None
        for queue in self.route:
            found = resources.least(found, queue.max)
        return found

    def headroom(self, *, cluster: bool = True) -> Amounts | None:
        """Return the headroom: minimum over the path of max - used.

        A type named in no max is unlimited; without `cluster` the size of the
        cluster does not count.
        Source: docs/semantics/yunikorn.md#usage-and-headroom
        """
        headroom: Amounts | None = None
        for queue in self.route:
            if queue.max is None or not (cluster or queue.parent):
                continue
            if headroom is None:
                headroom = {}
            allocated = queue.allocated
            for name, limit in queue.max.items():
                left = limit - allocated.get(name, 0)
                other = headroom.get(name)
                if other is None or left < other:
                    headroom[name] = left
        return headroom

    def spread_fair_max(self) -> None:
        """Update the fair-max of everything below from one's own.

        A child's max replaces the values of the types it names.
        Source: docs/semantics/yunikorn.md#usage-and-headroom
        """
        self.order_key = None
        self.mixed_max = False
        for child in self.children.values():
            if child.max is None:
                child.fair_max = self.fair_max
            else:
                child.fair_max = {**(self.fair_max or {}), **child.max}
                self.mixed_max = True
            child.spread_fair_max()

    # -- bookkeeping; the caller sorts applications anew where that matters

    def add_pending(self, resource: Amounts, *, positive: bool) -> None:
        """Count a resource as waiting, here and above.

        `positive`: something of it is above zero.
        """
        for queue in self.route:
            resources.add_to(queue.pending, resource)
            queue.has_pending = queue.has_pending or positive

    def remove_pending(self, resource: Amounts) -> None:
        """Count a resource as waiting no longer."""
        for queue in self.route:
            pending = queue.pending
            for name, value in resource.items():
                pending[name] -= value
            queue.has_pending = any(pending.values())

    def allocate(self, resource: Amounts) -> None:
        """Move a resource from pending to allocated, here and above."""
        items = resource.items()
        for queue in self.route:
            pending, allocated = queue.pending, queue.allocated
            for name, value in items:
                pending[name] -= value
                allocated[name] = allocated.get(name, 0) + value
            queue.has_pending = any(pending.values())
            queue.order_key = None

    def add_allocated(self, resource: Amounts) -> None:
        """Count a resource as held, here and above."""
        for queue in self.route:
            resources.add_to(queue.allocated, resource)
            queue.order_key = None

    def release(self, resource: Amounts) -> None:
        """Count a resource as held no longer; zero types are dropped."""
        for queue in self.route:
            resources.take_and_prune(queue.allocated, resource)
            queue.order_key = None

    def mark_preempting(self, resource: Amounts) -> None:
        """Count something held as asked to end."""
        for queue in self.route:
            resources.add_to(queue.preempting, resource)

    def unmark_preempting(self, resource: Amounts) -> None:
        """Count something as ended, or as staying after all."""
        for queue in self.route:
            resources.take_and_prune(queue.preempting, resource)
