"""The partition as rows: queues, applications and nodes with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.yunikorn.objects.partition import Partition
from scheduler.yunikorn.sorting.queues import share_of

Row = dict[str, Any]


def queue_rows(partition: Partition) -> Iterator[Row]:
    """Yield every queue, parents first; amounts in YuniKorn's units."""
    partition.refresh()
    for queue in partition.root.walk():
        own = queue.properties
        yield {
            "path": queue.path,
            "parent": queue.parent.path if queue.parent else None,
            "leaf": queue.leaf,
            "managed": queue.managed,
            "state": queue.state,
            "guaranteed": queue.guaranteed,
            "max": queue.max,
            "allocated": dict(queue.allocated),
            "pending": {t: v for t, v in queue.pending.items() if v},
            "preempting": dict(queue.preempting),
            "headroom": queue.headroom(),
            "share": share_of(queue),
            "priority": queue.published,
            "sort": own.sort_policy,
            "preemption": own.preemption,
            "delayMs": partition.laws.delay_ms(queue),
            "running": len(queue.running),
            "maxApplications": queue.max_applications,
        }


def application_rows(partition: Partition) -> Iterator[Row]:
    """Yield every application, by id."""
    for _, app in sorted(partition.apps.items()):
        yield {
            "id": app.id,
            "queue": app.queue.path,
            "state": str(app.state),
            "user": app.user,
            "submitMs": app.submit_ms,
            "allocated": dict(app.allocated),
            "placeholders": dict(app.placeholders),
            "pending": {t: v for t, v in app.pending.items() if v},
            "waiting": len(app.requests),
            "placed": len(app.allocations),
            "reserved": len(app.reserved),
        }


def node_rows(partition: Partition) -> Iterator[Row]:
    """Yield every node in the order in which it is tried."""
    for node in partition.nodes:
        yield {
            "name": node.name,
            "score": node.entry[0],
            "used": partition.nodes.used_share(node),
            "capacity": dict(node.capacity),
            "available": dict(node.available),
            "occupied": dict(node.occupied),
            "schedulable": node.schedulable,
            "reservedFor": sorted(node.reservations),
            "pods": len(node.allocations),
        }
