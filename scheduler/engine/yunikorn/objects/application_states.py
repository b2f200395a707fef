"""What time alone does to applications: Starting and Completing run out."""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import Application, State
from scheduler.engine.yunikorn.objects.partition import Partition

STARTING_MS = 5 * 60_000
COMPLETING_MS = 30_000

_LENGTH = {State.STARTING: STARTING_MS, State.COMPLETING: COMPLETING_MS}
_NEXT = {State.STARTING: State.RUNNING, State.COMPLETING: State.COMPLETED}
_OVER = (State.COMPLETED, State.FAILED, State.REJECTED)


def advance(partition: Partition) -> None:
    """Move on every application whose state has run out by now.

    Completed ones are removed. Source: docs/semantics/yunikorn.md#application-states
    """
    for app in list(partition.timed_apps.values()):
        if app.state in _OVER:
            del partition.timed_apps[app.id]
            if not app.requests and not app.allocations:
                partition.remove_application(app)
        elif app.state not in _NEXT:
            del partition.timed_apps[app.id]
        elif partition.now_ms >= ends_ms(app):
            partition.set_state(app, _NEXT[app.state])


def ends_ms(app: Application) -> int:
    """Return when a timed_apps state of an application runs out."""
    return app.state_ms + _LENGTH.get(app.state, 0)


def due(partition: Partition) -> int | None:
    """Return the next instant at which `advance` has something to do."""
    return min((ends_ms(app) for app in partition.timed_apps.values()), default=None)
