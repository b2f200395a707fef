"""The queue tree: what each queue is promised, may take, holds and waits for."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Protocol

from scheduler.records.hierarchy import Limit, QueueSpec, Template
from scheduler.yunikorn import resources
from scheduler.yunikorn.objects import properties as props
from scheduler.yunikorn.objects.application import Application, Ask
from scheduler.yunikorn.objects.properties import MIN_PRIORITY, Properties
from scheduler.yunikorn.resources import Amounts

ROOT = "root"
QueueState = Literal["Active", "Draining", "Stopped"]


class ApplicationSort(Protocol):
    """A way to order the applications of a leaf."""

    by_usage: bool  # the key depends on what the application holds

    def key(self, app: Application, leaf: Queue) -> tuple[Any, ...]:
        """Return what the application sorts by, ascending."""

    def candidates(self, leaf: Queue) -> Iterable[Application]:
        """Return the applications to serve, in order."""


class Queue:
    """One queue. Sums (allocated, pending, preempting) are over its subtree.

    `preempting` is the part of `allocated` that was told to go. A leaf keeps
    its applications with pending requests in `order`.
    """

    __slots__ = (
        "allocated",
        "apps",
        "children",
        "fair_max",
        "guaranteed",
        "leaf",
        "limits",
        "managed",
        "max",
        "max_applications",
        "mixed_max",
        "name",
        "order",
        "order_key",
        "own_delay_ms",
        "own_texts",
        "parent",
        "path",
        "pending",
        "preempting",
        "priorities",
        "priority",
        "properties",
        "published",
        "quota_due_ms",
        "quota_ran",
        "reserved",
        "route",
        "running",
        "sort",
        "state",
        "template",
        "texts",
        "wants",
    )

    def __init__(self, spec: QueueSpec, parent: Queue | None = None) -> None:
        self.name = spec.name
        self.parent = parent
        self.path: str = f"{parent.path}.{spec.name}" if parent else spec.name
        self.route: tuple[Queue, ...] = (self, *(parent.route if parent else ()))
        self.children: dict[str, Queue] = {}
        self.leaf = not spec.parent and parent is not None
        self.managed = True  # configured; False when a placement rule made it
        self.state: QueueState = "Active"
        self.allocated: Amounts = {}
        self.pending: Amounts = {}
        self.preempting: Amounts = {}
        self.wants = False  # pending is strictly greater than zero
        self.apps: dict[str, Application] = {}
        self.running: set[str] = set()  # applications past Accepted, by id
        self.order: list[tuple[Any, ...]] = []
        self.reserved: dict[str, Application] = {}
        self.priorities: dict[int, int] = {}  # leaf: priority -> applications
        self.priority = MIN_PRIORITY
        self.published = MIN_PRIORITY
        self.fair_max: Amounts | None = None
        self.mixed_max = False  # children differ in fair-max
        self.order_key: tuple[int, float] | tuple[float, int] | None = None
        self.quota_due_ms: int | None = None
        self.quota_ran = False
        self.max: Amounts | None = None  # of root: the sum of its nodes
        self.configure(spec)

    def configure(self, spec: QueueSpec) -> None:
        """Take over what the specification says; usage stays as it is."""
        self.guaranteed = _own(spec.guaranteed)
        if self.parent is not None:
            self.max = _own(spec.max)
        self.max_applications = spec.max_applications
        self.limits: tuple[Limit, ...] = spec.limits
        self.template: Template | None = spec.template
        above = self.parent.texts if self.parent else {}
        self.own_texts = dict(spec.properties)
        #: The queue's own delay, whatever is set above it.
        self.own_delay_ms = props.read(self.own_texts).delay_ms
        self.texts: dict[str, str] = props.inherit(above, self.own_texts)
        self.properties: Properties = props.read(self.texts)
        self.sort: ApplicationSort | None = None
        self.order_key = None

    def __repr__(self) -> str:
        return f"Queue({self.path})"

    # -- limits

    def effective_max(self) -> Amounts | None:
        """Return the component-wise minimum of the max values up to the root."""
        found: Amounts | None = None
        for queue in self.route:
            found = resources.least(found, queue.max)
        return found

    def headroom(self, *, cluster: bool = True) -> Amounts | None:
        """Return what may still be placed: minimum over the path of max - used.

        A type named in no max is unlimited; without `cluster` the size of the
        cluster does not count. Source: YUNIKORN.md 3.
        """
        room: Amounts | None = None
        for queue in self.route:
            if queue.max is None or not (cluster or queue.parent):
                continue
            if room is None:
                room = {}
            allocated = queue.allocated
            for name, limit in queue.max.items():
                left = limit - allocated.get(name, 0)
                other = room.get(name)
                if other is None or left < other:
                    room[name] = left
        return room

    def can_run(self, app: Application) -> bool:
        """Tell whether an accepted application may start under maxapplications.

        Source: YUNIKORN.md 3.
        """
        for queue in self.route:
            limit = queue.max_applications
            if limit and app.id not in queue.running and len(queue.running) >= limit:
                return False
        return True

    # -- bookkeeping; the caller sorts applications anew where that matters

    def add_pending(self, ask: Ask) -> None:
        """Count an ask as waiting, here and above."""
        for queue in self.route:
            resources.add_to(queue.pending, ask.resource)
            queue.wants = queue.wants or bool(ask.needs)

    def drop_pending(self, ask: Ask) -> None:
        """Count an ask as waiting no longer."""
        for queue in self.route:
            pending = queue.pending
            for name, value in ask.resource.items():
                pending[name] -= value
            queue.wants = any(pending.values())

    def allocate(self, ask: Ask) -> None:
        """Count an ask as placed: from pending to allocated, here and above."""
        items = ask.resource.items()
        for queue in self.route:
            pending, allocated = queue.pending, queue.allocated
            for name, value in items:
                pending[name] -= value
                allocated[name] = allocated.get(name, 0) + value
            queue.wants = any(pending.values())
            queue.order_key = None

    def add_allocated(self, resource: Amounts) -> None:
        """Count something as held, here and above."""
        for queue in self.route:
            resources.add_to(queue.allocated, resource)
            queue.order_key = None

    def release(self, resource: Amounts) -> None:
        """Count something as held no longer; zero types are forgotten."""
        for queue in self.route:
            resources.take_and_prune(queue.allocated, resource)
            queue.order_key = None

    def mark_preempting(self, resource: Amounts) -> None:
        """Count something held as told to go."""
        for queue in self.route:
            resources.add_to(queue.preempting, resource)

    def unmark_preempting(self, resource: Amounts) -> None:
        """Count something as gone, or as staying after all."""
        for queue in self.route:
            resources.take_and_prune(queue.preempting, resource)

    # -- applications of a leaf

    def in_order(self) -> Iterator[Application]:
        """Yield the applications with pending requests, in the leaf's order."""
        for slot in self.order:
            yield slot[2]

    def resort(self, app: Application) -> None:
        """Put an application where its priority, time and use belong now."""
        old = app.slot
        sort = self.sort
        assert sort is not None
        new = (sort.key(app, self), app.id, app) if app.wants else None
        if old is not None:
            if new is not None and new[0] == old[0]:
                return
            del self.order[bisect_left(self.order, old)]
        app.slot = new
        if new is not None:
            insort(self.order, new)

    def reprioritize(self, old: int, new: int) -> None:
        """Note that an application's priority went from old to new.

        Only applications with something pending count; the published priority
        travels up. Source: YUNIKORN.md 4.
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
        """Take a new raw priority and tell the parent when it shows."""
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
        """Return what the parent sees: the offset added, or alone behind a fence."""
        if raw == MIN_PRIORITY:
            return MIN_PRIORITY
        if self.properties.priority_fence:
            return self.properties.priority_offset
        return props.clamp_priority(raw + self.properties.priority_offset)

    # -- the tree

    def leaves(self) -> Iterator[Queue]:
        """Yield the leaves below, children in name order."""
        if self.leaf:
            yield self
        for name in sorted(self.children):
            yield from self.children[name].leaves()

    def walk(self) -> Iterator[Queue]:
        """Yield this queue and all below it, parents first, in name order."""
        yield self
        for name in sorted(self.children):
            yield from self.children[name].walk()

    def spread_fair_max(self) -> None:
        """Work out the fair-max of everything below from one's own.

        A child's max replaces the values of the types it names.
        Source: YUNIKORN.md 3.
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


def _own(amounts: Any) -> Amounts | None:
    return resources.is_set(dict(amounts)) if amounts is not None else None


def build(spec: QueueSpec, parent: Queue | None = None) -> Queue:
    """Return the tree of queues that the specification describes."""
    queue = Queue(spec, parent)
    for child in spec.queues:
        queue.children[child.name] = build(child, queue)
    return queue
