"""The task groups of an application, and how far they got."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
    further: tuple[TaskGroup, ...] = ()  # others that were declared with its name

    @property
    def count(self) -> int:
        """Return the members of all groups of this name."""
        return self.members + sum(group.members for group in self.further)

    def each(self) -> Iterator[TaskGroup]:
        """Yield for each member the group that declared it."""
        for group in (self, *self.further):
            for _ in range(group.members):
                yield group


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
        """Return the total request of all placeholders."""
        total: Amounts = {}
        for group in self.declared():
            for name, value in group.resource.items():
                total[name] = total.get(name, 0) + value * group.members
        return total

    def declared(self) -> Iterator[TaskGroup]:
        """Yield the groups as they were declared, one name after the other."""
        for _, group in sorted(self.groups.items()):
            yield from (group, *group.further)

    def outcome(self) -> tuple[tuple[str, int, int, int], ...]:
        """Return of each group its name, members, replaced and given up."""
        return tuple(
            (
                name,
                group.count,
                self.replaced.get(name, 0),
                self.used.get(name, 0) - self.replaced.get(name, 0),
            )
            for name, group in sorted(self.groups.items())
        )

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
        return found is not None and found.count > self.used.get(group, 0)


def by_name(groups: Iterable[TaskGroup]) -> dict[str, TaskGroup]:
    """Return task groups by their names; those of one name add up."""
    found: dict[str, TaskGroup] = {}
    for group in groups:
        first = found.get(group.name)
        found[group.name] = (
            group if first is None else replace(first, further=(*first.further, group))
        )
    return found
