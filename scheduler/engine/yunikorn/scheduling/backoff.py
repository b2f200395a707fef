"""Back-off of applications whose requests cannot be scheduled.

Source: docs/semantics/yunikorn.md#back-off-of-unschedulable-asks
"""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import Application
from scheduler.engine.yunikorn.objects.partition import Partition


def pauses(partition: Partition, app: Application) -> bool:
    """Return whether an application is left out of the normal pass now."""
    until = app.backoff_ms
    if until is None:
        return False
    if partition.now_ms >= until:
        app.backoff_ms = None
        return False
    _cycle_at(partition, until)
    return True


def begins(partition: Partition, app: Application, unschedulable: int) -> bool:
    """Return whether this visit ends here; if so the application pauses.

    `unschedulable`: how many of its requests found nothing in this visit.
    """
    own = app.queue.properties
    if not own.backoff_count or unschedulable < own.backoff_count:
        return False
    if not partition.rules.backoff:
        return False
    app.backoff_ms = partition.now_ms + own.backoff_delay_ms
    _cycle_at(partition, app.backoff_ms)
    return True


def _cycle_at(partition: Partition, at_ms: int) -> None:
    """Run a cycle when the pause ends: it may begin anew though nothing changed."""
    if partition.due_ms is None or at_ms < partition.due_ms:
        partition.due_ms = at_ms
