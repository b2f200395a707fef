"""Gang scheduling: placeholders hold the room of a task group for its pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scheduler.yunikorn import messages, resources
from scheduler.yunikorn.objects.application import (
    Application,
    Ask,
    Refusal,
    State,
)
from scheduler.yunikorn.objects.node import Node
from scheduler.yunikorn.objects.partition import Partition
from scheduler.yunikorn.resources import Amounts

DEFAULT_TIMEOUT_MS = 15 * 60_000
RESERVATION_TIMEOUT = "ResourceReservationTimeout"
Style = Literal["Soft", "Hard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """Pods that are wanted together: how many, how large, where."""

    name: str
    members: int
    resource: Amounts
    refusal: Refusal | None = None
    source: Mapping[str, Any] = field(default_factory=dict)  # as declared


@dataclass(slots=True, kw_only=True)
class Gang:
    """The task groups of one application and how far they got."""

    groups: Mapping[str, TaskGroup]
    style: Style = "Soft"
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    first_ms: int | None = None  # when the first placeholder got its node
    used: dict[str, int] = field(default_factory=dict)  # replaced or given up

    def total(self) -> Amounts:
        """Return what all placeholders ask for together."""
        total: Amounts = {}
        for group in self.groups.values():
            for name, value in group.resource.items():
                total[name] = total.get(name, 0) + value * group.members
        return total

    def complete(self, app: Application) -> bool:
        """Tell whether every placeholder has its node."""
        return app.placeholders == self.total()

    def note_used(self, group: str) -> None:
        """Count a placeholder as replaced or given up."""
        self.used[group] = self.used.get(group, 0) + 1

    def waiting_for(self, group: str) -> bool:
        """Tell whether placeholders of the group are still to be replaced."""
        found = self.groups.get(group)
        return found is not None and found.members > self.used.get(group, 0)


def form(partition: Partition, app: Application, gang: Gang, priority: int) -> bool:
    """Give an application its placeholders; False when it has to be rejected.

    The leaf must be first in, first out, and its max must hold the whole gang.
    Source: YUNIKORN.md 18.
    """
    leaf = app.queue
    total = resources.needs_of(gang.total())
    sort = partition.laws.sort_name(leaf.properties.sort_policy)
    limit = leaf.effective_max() if partition.root.max else None
    if sort != "fifo" or not resources.fits_undefined(limit, total):
        return False
    app.gang = gang
    partition.ganged += 1
    for group in gang.groups.values():
        for number in range(group.members):
            ask = Ask(
                key=f"tg-{app.id}-{group.name}-{number}",
                app=app,
                resource=group.resource,
                priority=priority,
                create_ms=partition.now_ms // 1000 * 1000,
                group=group.name,
                placeholder=True,
                refusal=group.refusal,
            )
            partition.add_ask(ask)
    return True


def waits(app: Application, ask: Ask) -> bool:
    """Tell whether an ask waits to take over a placeholder of its group."""
    gang: Gang | None = app.gang
    return (
        gang is not None
        and not ask.placeholder
        and bool(ask.group)
        and app.state is not State.RESUMING
        and gang.waiting_for(ask.group)
    )


def replace(partition: Partition) -> bool:
    """Let one real pod take over a placeholder; tell whether one did.

    Not before the whole gang has its places: the shim holds real pods back
    until the application runs.
    """
    for leaf in partition.root.leaves():
        for app in list(leaf.in_order()):
            ready = app.state is State.RUNNING and app.placeholders
            if app.gang is not None and ready and _replace(partition, app):
                return True
    return False


def _replace(partition: Partition, app: Application) -> bool:
    first: tuple[Ask, Ask] | None = None
    for ask in list(app.requests):
        if ask.placeholder or not ask.group:
            continue
        for holder in _holders(app, ask.group):
            if not resources.fits(holder.resource, ask.needs):
                _cancel(partition, holder, messages.PLACEHOLDER_INCOMPATIBLE)
                continue
            first = first or (ask, holder)
            node = holder.node
            assert node is not None
            if ask.refusal is None or ask.refusal(node) is None:
                _swap(partition, ask, holder, node)
                return True
    if first is None or first[1].node is None:
        return False
    return _swap_elsewhere(partition, *first)


def _holders(app: Application, group: str) -> list[Ask]:
    return sorted(
        (
            pod
            for pod in app.allocations.values()
            if pod.placeholder and pod.group == group and not pod.preempted
        ),
        key=lambda pod: (pod.create_ms, pod.key),
    )


def _swap(partition: Partition, ask: Ask, holder: Ask, node: Node) -> None:
    """Let the pod take over; what the placeholder held too much comes back."""
    gang: Gang = ask.app.gang
    gang.note_used(holder.group)
    partition.listener.releasing(holder, "Replaced", messages.replacing(ask.key))
    # The real pod is placed first, so that the application never looks empty.
    partition.place(ask, node)
    partition.release(holder)


def _swap_elsewhere(partition: Partition, ask: Ask, holder: Ask) -> bool:
    for node in partition.nodes:
        if node.reservations or not node.schedulable or not node.has_room(ask.needs):
            continue
        if ask.refusal is None or ask.refusal(node) is None:
            _swap(partition, ask, holder, node)
            return True
    return False


def _cancel(partition: Partition, holder: Ask, message: str) -> None:
    """Give up one placeholder, placed or not."""
    gang: Gang = holder.app.gang
    gang.note_used(holder.group)
    partition.listener.releasing(holder, "Cancelled", message)
    if holder.node is None:
        partition.drop_ask(holder)
    else:
        partition.release(holder)


def advance(partition: Partition) -> None:
    """Let gangs whose time has run out go on, or fail, without placeholders.

    Source: YUNIKORN.md 18, placeholder timeout.
    """
    if not partition.ganged:
        return
    for app in list(partition.apps.values()):
        at = ends_ms(app)
        if at is not None and partition.now_ms >= at:
            _time_out(partition, app)


def ends_ms(app: Application) -> int | None:
    """Return when the placeholders of an application run out, or None."""
    gang: Gang | None = app.gang
    if gang is None or gang.first_ms is None or not _unused(app):
        return None
    return gang.first_ms + gang.timeout_ms


def due(partition: Partition) -> int | None:
    """Return the next instant at which a gang times out."""
    if not partition.ganged:
        return None
    ends = (ends_ms(app) for app in partition.apps.values())
    return min((at for at in ends if at is not None), default=None)


def _unused(app: Application) -> list[Ask]:
    pods = [*app.requests, *app.allocations.values()]
    return [pod for pod in pods if pod.placeholder]


def _time_out(partition: Partition, app: Application) -> None:
    gang: Gang = app.gang
    if app.state is not State.RUNNING:
        soft = gang.style == "Soft"
        partition.enter(app, State.RESUMING if soft else State.FAILING)
    for holder in _unused(app):
        _cancel(partition, holder, messages.PLACEHOLDER_TIMEOUT)
    if app.state is State.FAILING:
        for ask in app.requests:
            partition.refuse(ask, RESERVATION_TIMEOUT)
        partition.enter(app, State.FAILED)
