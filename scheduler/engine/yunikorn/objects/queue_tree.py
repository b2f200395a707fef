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
