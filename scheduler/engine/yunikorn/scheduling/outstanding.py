"""Requests that quota lets in and no node takes: what an autoscaler is told of."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.yunikorn.gang import placeholders
from scheduler.engine.yunikorn.objects.model import Ask, Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.scheduling.node_fit import may_run
from scheduler.engine.yunikorn.sorting.queues import children_in_order
from scheduler.model.yunikorn.resources import Amounts, Needs, fits_undefined


def outstanding(partition: Partition, queue: Queue | None = None) -> Iterator[Ask]:
    """Yield them in the order of queues and applications that a cycle would take.

    Each takes its part of what its queue and user may still use, whatever the size
    of the cluster, so the order decides who is told of where that is not enough.
    Pods that must run on one node are left out, as further nodes do not help them.
    Source: docs/semantics/yunikorn.md#outstanding-requests
    """
    queue = queue or partition.root
    if not queue.leaf:
        for child in children_in_order(queue, positional=partition.laws.positional):
            yield from outstanding(partition, child)
        return
    assert queue.sort is not None
    room = queue.headroom(cluster=False)
    for app in queue.sort.candidates(queue):
        if not may_run(partition, app):
            continue
        limits = partition.limits
        user_room = limits.headroom(app) if limits.active else None
        for ask in app.requests:
            if placeholders.waits(app, ask):
                continue
            fits = fits_undefined(room, ask.needs)
            if fits and fits_undefined(user_room, ask.needs):
                _take(room, ask.needs)
                _take(user_room, ask.needs)
                if ask.required_node is None:
                    yield ask


def _take(room: Amounts | None, needs: Needs) -> None:
    for name, value in needs:
        if room is not None and name in room:
            room[name] -= value
