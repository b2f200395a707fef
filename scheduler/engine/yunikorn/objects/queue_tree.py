"""The shape of the queue tree: configuration, properties and priorities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

from scheduler.model.hierarchy import Limit, QueueConfig, Template
from scheduler.model.yunikorn import properties as props
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.properties import MIN_PRIORITY, Properties
from scheduler.model.yunikorn.resources import Amounts

ROOT = "root"
#: The queue of applications that ran before a restart and fit no rule.
RECOVERY = "@recovery@"
QueueState = Literal["Active", "Draining", "Stopped"]


class QueueTree:
    """One queue with its place in the tree: base of the queue with its usage.

    `route` is the path from this queue up to the root. `priority` is the
    highest of what is pending below, `published` what the parent sees of it.
    """

    __slots__ = (
        "admin_acl",
        "children",
        "guaranteed",
        "leaf",
        "limits",
        "managed",
        "max",
        "max_applications",
        "name",
        "order_key",
        "own_delay_ms",
        "own_texts",
        "parent",
        "path",
        "priorities",
        "priority",
        "properties",
        "published",
        "route",
        "state",
        "submit_acl",
        "template",
        "texts",
    )

    parent: Self | None
    route: tuple[Self, ...]
    children: dict[str, Self]

    def __init__(self, spec: QueueConfig, parent: Self | None = None) -> None:
        self.name = spec.name
        self.parent = parent
        self.path: str = f"{parent.path}.{spec.name}" if parent else spec.name
        self.route = (self, *(parent.route if parent else ()))
        self.children = {}
        self.leaf = not spec.parent and parent is not None
        self.managed = True  # configured; False when a placement rule made it
        self.state: QueueState = "Active"
        self.priorities: dict[int, int] = {}  # leaf: priority -> applications
        self.priority = MIN_PRIORITY
        self.published = MIN_PRIORITY
        self.order_key: tuple[int, float] | tuple[float, int] | None = None
        self.max: Amounts | None = None  # of root: the sum of its nodes
        self.configure(spec)

    def configure(self, spec: QueueConfig) -> None:
        """Apply the specification; the usage stays."""
        self.guaranteed = _own(spec.guaranteed)
        if self.parent is not None:
            self.max = _own(spec.max)
        self.max_applications = spec.max_applications
        self.submit_acl, self.admin_acl = spec.submit_acl, spec.admin_acl
        self.limits: tuple[Limit, ...] = spec.limits
        self.template: Template | None = spec.template
        above = self.parent.texts if self.parent else {}
        self.own_texts = dict(spec.properties)
        #: The queue's own delay, whatever is set above it.
        self.own_delay_ms = props.read(self.own_texts).delay_ms
        self.texts: dict[str, str] = props.inherit(above, self.own_texts)
        self.properties: Properties = props.read(self.texts)
        self.order_key = None

    def __repr__(self) -> str:
        return f"Queue({self.path})"

    # -- priorities

    def reprioritize(self, old: int, new: int) -> None:
        """Note that an application's priority went from old to new.

        Only applications with something pending count; the published priority
        travels up. Source: docs/semantics/yunikorn.md#priorities-of-queues
        """
        counts = self.priorities
        if old != MIN_PRIORITY:
            counts[old] -= 1
            if not counts[old]:
                del counts[old]
        if new != MIN_PRIORITY:
            counts[new] = counts.get(new, 0) + 1
        self.publish(max(counts, default=MIN_PRIORITY))

    def publish(self, raw: int) -> None:
        """Take a new raw priority and update the parent when it shows."""
        self.priority = raw
        published = self.published_for(raw)
        if published == self.published:
            return
        self.published = published
        self.order_key = None
        if self.parent is not None:
            children = self.parent.children.values()
            self.parent.publish(max(c.published for c in children))

    def published_for(self, raw: int) -> int:
        """Return the priority that the parent sees: with the offset added, or alone behind a fence."""
        if raw == MIN_PRIORITY:
            return MIN_PRIORITY
        if self.properties.priority_fence:
            return self.properties.priority_offset
        return props.clamp_priority(raw + self.properties.priority_offset)

    # -- the tree

    def leaves(self) -> Iterator[Self]:
        """Yield the leaves below, children in name order."""
        if self.leaf:
            yield self
        for name in sorted(self.children):
            yield from self.children[name].leaves()

    def walk(self) -> Iterator[Self]:
        """Yield this queue and all below it, parents first, in name order."""
        yield self
        for name in sorted(self.children):
            yield from self.children[name].walk()


def _own(amounts: Any) -> Amounts | None:
    return resources.is_set(dict(amounts)) if amounts is not None else None


# ------------------------------------------------------------------------
# What a queue holds, waits for and may still take.


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
