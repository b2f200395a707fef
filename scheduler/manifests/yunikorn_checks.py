"""What a tree of queues may promise. Source: YUNIKORN.md 2."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.manifests.yunikorn_fields import Fields
from scheduler.records.hierarchy import QueueSpec
from scheduler.yunikorn import resources
from scheduler.yunikorn.resources import Amounts


@dataclass(slots=True, kw_only=True)
class Checker:
    """Refuses a tree in which a queue is promised more than it can have."""

    fields: Fields

    def check(self, queue: QueueSpec, path: str, ceiling: Amounts | None) -> Amounts:
        """Return what the queue guarantees, its own or the sum of its children."""
        limit = dict(queue.max) if queue.max is not None else None
        if limit is not None and ceiling is not None:
            self.within(limit, ceiling, f"{path}.resources.max", "its parent's max")
        effective = resources.least(limit, ceiling)
        total: Amounts = {}
        for index, child in enumerate(queue.queues):
            part = self.check(child, f"{path}.queues[{index}]", effective)
            resources.add_to(total, part)
        at = f"{path}.resources.guaranteed"
        if queue.guaranteed is not None:
            own = dict(queue.guaranteed)
            self.within(total, own, at, "the guarantee above its children's sum")
            total = own
        if effective is not None:
            self.within(total, effective, at, "the max")
        return total

    def within(self, amounts: Amounts, limit: Amounts, path: str, whose: str) -> None:
        """Refuse an amount above its limit."""
        for name, value in amounts.items():
            if name in limit and value > limit[name]:
                given = resources.text_of(name, value)
                allowed = resources.text_of(name, limit[name])
                raise self.fields.error(
                    path, f"{name} {given} is more than {whose} allows ({allowed})"
                )
