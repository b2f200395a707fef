"""The task groups of an application, and how far they got."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scheduler.model.yunikorn.resources import Amounts

DEFAULT_TIMEOUT_MS = 15 * 60_000
Style = Literal["Soft", "Hard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """Pods that are wanted together: how many, how large, where."""

    name: str
    members: int
    resource: Amounts
    predicate: Callable[..., str | None] | None = None
    source: Mapping[str, Any] = field(default_factory=dict)  # as declared


@dataclass(slots=True, kw_only=True)
class GangState:
    """The task groups of one application and how far they got."""

    groups: Mapping[str, TaskGroup]
    style: Style = "Soft"
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    first_ms: int | None = None  # when the first placeholder got its node
    used: dict[str, int] = field(default_factory=dict)  # replaced or given up
    replaced: dict[str, int] = field(default_factory=dict)  # by a pod of the group
    #: Key of the pod that declared the groups; "" where all pods are asked for at once.
    origin: str = ""

    def total(self) -> Amounts:
        """Return what all placeholders ask for together."""
        total: Amounts = {}
        for group in self.groups.values():
            for name, value in group.resource.items():
                total[name] = total.get(name, 0) + value * group.members
        return total

    def note_used(self, group: str, *, replaced: bool = False) -> None:
        """Count a placeholder as replaced or given up."""
        self.used[group] = self.used.get(group, 0) + 1
        if replaced:
            self.replaced[group] = self.replaced.get(group, 0) + 1

    def reserves(self) -> bool:
        """Return whether the shim holds back all pods: placeholders come first.

        Asked while the application is not running yet.
        """
        return bool(self.origin) and any(map(self.waiting_for, self.groups))

    def waiting_for(self, group: str) -> bool:
        """Return whether placeholders of the group are still to be replaced."""
        found = self.groups.get(group)
        return found is not None and found.members > self.used.get(group, 0)
