"""State aware: running applications first, new ones let in one at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.engine.yunikorn.objects.model import Application, Queue, State
from scheduler.model.registry import register

_RUNNING = (State.RUNNING, State.RESUMING, State.COMPLETING)


@register(
    "application-sort",
    "stateaware",
    label="State aware",
    help="Running applications first; one that starts holds back all new ones.",
)
class StateAware:
    """Holds under the documented laws; released code reads it as fifo.

    Source: docs/semantics/yunikorn.md#state-aware-order-of-applications
    """

    by_usage = False

    def key(self, app: Application, leaf: Queue) -> tuple[Any, ...]:
        """Return the submission time; state is looked at when serving."""
        return (app.submit_ms,)

    def candidates(self, leaf: Queue) -> Iterable[Application]:
        """Return all running ones and at most one that starts or was accepted."""
        starting = self._newcomer(leaf, State.STARTING)
        newcomer = starting or self._newcomer(leaf, State.ACCEPTED)
        return [
            app for app in leaf.in_order() if app.state in _RUNNING or app is newcomer
        ]

    def _newcomer(self, leaf: Queue, state: State) -> Application | None:
        found = (app for app in leaf.apps.values() if app.state is state)
        return min(found, key=lambda app: (app.submit_ms, app.id), default=None)
