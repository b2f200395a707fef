"""Gang scheduling: placeholders hold the resources of a task group for its pods."""

from __future__ import annotations

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.gang_state import GangState
from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    Queue,
    SchedulingNode,
    State,
)
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model.reasons import RESERVATION_TIMEOUT
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts


def declare(partition: Partition, app: Application, gang: GangState) -> str:
    """Give an application its task groups; return why it has to be rejected, or "".

    The leaf must be first in, first out, and the configured max values of its
    path must hold the whole gang; the present cluster is not looked at.
    Source: docs/semantics/yunikorn.md#gang-scheduling
    """
    leaf = app.queue
    total = resources.needs_of(gang.total())
    sort = partition.laws.sort_name(leaf.properties.sort_policy)
    limit: Amounts | None = None
    for queue in leaf.route[:-1]:
        limit = resources.least(limit, queue.max)
    if sort != "fifo":
        return messages.unsupported_sort(app.id, leaf.path)
    if not resources.fits_undefined(limit, total):
        return messages.gang_too_large(app.id, leaf.path, gang.total(), limit or {})
    app.gang = gang
    partition.gang_count += 1
    return ""


def add_placeholders(partition: Partition, app: Application, priority: int) -> None:
    """Ask for a placeholder per member of every task group."""
    assert app.gang is not None
    for group in app.gang.groups.values():
        for number, own in enumerate(group.each()):
            ask = Ask(
                key=f"tg-{app.id}-{group.name}-{number}",
                app=app,
                resource=own.resource,
                priority=priority,
                create_ms=partition.now_ms // 1000 * 1000,
                group=group.name,
                placeholder=True,
                predicate=own.predicate,
            )
            partition.add_ask(ask)


def waits(app: Application, ask: Ask) -> bool:
    """Return whether an ask waits to take over a placeholder of its group."""
    gang = app.gang
    return ask.held or (
        gang is not None
        and not ask.placeholder
        and bool(ask.group)
        and app.state is not State.RESUMING
        and gang.waiting_for(ask.group)
    )


def delete_with(partition: Partition, app: Application, origin: str) -> None:
    """Delete the placeholders of a gang with the pod that owns them."""
    if app.gang is None or app.gang.origin != origin:
        return
    for holder in _unused(app):
        if holder.node is None:
            partition.drop_ask(holder)
        else:
            _cancel(partition, holder, messages.PLACEHOLDER_DELETED)


def replace(partition: Partition, leaf: Queue) -> bool:
    """Let one real pod of a leaf replace a placeholder; return whether one did.

    Not before the whole gang has its places: the shim holds real pods back
    until the application runs.
    Source: docs/semantics/yunikorn.md#placeholder-replacement
    """
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
            if ask.predicate is None or ask.predicate(node) is None:
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


def _swap(partition: Partition, ask: Ask, holder: Ask, node: SchedulingNode) -> None:
    """Let the pod take over; what the placeholder held too much comes back."""
    note_used(holder, replaced=True)
    partition.listener.releasing(holder, "Replaced", messages.replacing(ask.key))
    # The real pod is placed first, so that the application never looks empty.
    partition.place(ask, node)
    partition.release(holder)


def _swap_elsewhere(partition: Partition, ask: Ask, holder: Ask) -> bool:
    for node in partition.nodes:
        if node.reservations or not node.schedulable or not node.fits(ask.needs):
            continue
        if ask.predicate is None or ask.predicate(node) is None:
            _swap(partition, ask, holder, node)
            return True
    return False


def note_used(holder: Ask, *, replaced: bool = False) -> None:
    """Count a placeholder as replaced or given up."""
    if holder.app.gang is not None:
        holder.app.gang.note_used(holder.group, replaced=replaced)


def _cancel(partition: Partition, holder: Ask, message: str) -> None:
    """Give up one placeholder, placed or not."""
    note_used(holder)
    partition.listener.releasing(holder, "Cancelled", message)
    if holder.node is None:
        partition.drop_ask(holder)
    else:
        partition.release(holder)


def advance(partition: Partition) -> None:
    """Let gangs whose time has run out go on, or fail, without placeholders.

    Source: docs/semantics/yunikorn.md#placeholder-timeout
    """
    if not partition.gang_count:
        return
    for app in list(partition.apps.values()):
        at = ends_ms(app)
        if at is not None and partition.now_ms >= at:
            timeout_placeholders(partition, app)


def ends_ms(app: Application) -> int | None:
    """Return when the placeholders of an application run out, or None."""
    gang = app.gang
    if gang is None or gang.first_ms is None or not _unused(app):
        return None
    return gang.first_ms + gang.timeout_ms


def due(partition: Partition) -> int | None:
    """Return the next instant at which a gang times out."""
    if not partition.gang_count:
        return None
    ends = (ends_ms(app) for app in partition.apps.values())
    return min((at for at in ends if at is not None), default=None)


def _unused(app: Application) -> list[Ask]:
    pods = [*app.requests, *app.allocations.values()]
    return [pod for pod in pods if pod.placeholder]


def timeout_placeholders(partition: Partition, app: Application) -> None:
    """Give up the placeholders of an application whose time has run out.

    Source: docs/semantics/yunikorn.md#placeholder-timeout
    """
    gang = app.gang
    assert gang is not None
    if app.state is not State.RUNNING:
        soft = gang.style == "Soft"
        partition.set_state(app, State.RESUMING if soft else State.FAILING)
    for holder in _unused(app):
        _cancel(partition, holder, messages.PLACEHOLDER_TIMEOUT)
    if app.state is State.FAILING:
        for ask in list(app.requests):
            partition.log_failure(ask, RESERVATION_TIMEOUT)
        partition.set_state(app, State.FAILED)
