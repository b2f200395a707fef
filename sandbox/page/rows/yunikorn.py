"""YuniKorn's queues and applications, in its own resource names (vcore, memory)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from sandbox.page.wire import ApplicationRow, QueueRow, Row
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import Application, Queue
from scheduler.engine.yunikorn.sorting.queues import share_of
from scheduler.model.objects import Key

_LARGEST_SHARE = 1e9  # JSON has no infinity


def rows(world: World) -> Iterator[Row]:
    """Yield the rows of every queue and application."""
    if world.yunikorn is None:
        return
    partition = world.yunikorn.partition
    partition.refresh()
    for queue in partition.root.walk():
        yield queue_row(queue)
    for app in partition.apps.values():
        yield application_row(app)


def queue_row(queue: Queue) -> QueueRow:
    """Return the row of one queue; its name is the whole path."""
    properties = queue.properties
    return QueueRow(
        key=str(Key("Queue", "", queue.path)),
        name=queue.path,
        parent=queue.parent.path if queue.parent else "",
        leaf=queue.leaf,
        guaranteed=_resource_texts(queue.guaranteed),
        max=_resource_texts(queue.max),
        allocated=_sums(queue.allocated),
        pending=_sums(queue.pending),
        share=_finite(share_of(queue)),
        sort_policy=queue.sorted_by,
        preemption_policy=properties.preemption,
        preemption_delay_ms=properties.delay_ms,
        priority_policy="fence" if properties.priority_fence else "default",
        priority_offset=properties.priority_offset,
        applications=sum(len(leaf.apps) for leaf in queue.leaves()),
    )


def application_row(app: Application) -> ApplicationRow:
    """Return the row of one application."""
    return ApplicationRow(
        key=str(Key("Application", "", app.id)),
        name=app.id,
        queue=app.queue.path,
        state=str(app.state),
        user=app.user,
        submitted_ms=app.submit_ms,
        allocated=_sums(app.allocated),
        pending=_sums(app.pending),
        asks=len(app.asks),
        allocations=len(app.allocations),
    )


def queue_of(world: World, pod: Key) -> str:
    """Return the path of the queue that a pod's application is in; "" for none."""
    if world.yunikorn is None:
        return ""
    ask = world.yunikorn.partition.asks.get(pod.path)
    return ask.app.queue.path if ask is not None else ""


def _finite(share: float) -> float:
    return min(share, _LARGEST_SHARE) if math.isfinite(share) else _LARGEST_SHARE


def _resource_texts(values: Mapping[str, int] | None) -> dict[str, str]:
    return {name: str(amount) for name, amount in sorted((values or {}).items())}


def _sums(values: Mapping[str, int]) -> dict[str, str]:
    """Return a sum without its zeros: what was there once leaves one behind."""
    return _resource_texts({name: amount for name, amount in values.items() if amount})
