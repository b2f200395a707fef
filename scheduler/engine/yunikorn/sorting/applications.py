"""Fair applications: the one that uses least of its queue's guarantee first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.engine.yunikorn.objects.model import Application, Queue, State
from scheduler.model.registry import register
from scheduler.model.yunikorn.resources import usage_shares


@register(
    "application-sort",
    "fair",
    label="Fair",
    help="The application that holds least is served first, over all resources.",
)
class Fair:
    """The application sort `fair`. Source: docs/semantics/yunikorn.md#order-of-applications"""

    by_usage = True

    def key(self, app: Application, leaf: Queue) -> tuple[Any, ...]:
        """Return the sort key of the application, ascending."""
        shares = usage_shares(app.allocated, leaf.guaranteed)
        if leaf.properties.by_priority:
            return (-app.priority, shares)
        return (shares, -app.priority)

    def candidates(self, leaf: Queue) -> Iterable[Application]:
        """Return the applications to serve, in order."""
        return leaf.in_order()


# ------------------------------------------------------------------------
# First in, first out: applications by the time they came.


@register(
    "application-sort",
    "fifo",
    label="FIFO",
    help="The application that came first is served first, priority before that.",
)
class Fifo:
    """The application sort `fifo`. Source: docs/semantics/yunikorn.md#order-of-applications"""

    by_usage = False  # the order does not change when pods are placed

    def key(self, app: Application, leaf: Queue) -> tuple[Any, ...]:
        """Return the sort key of the application, ascending."""
        if leaf.properties.by_priority:
            return (-app.priority, app.submit_ms)
        return (app.submit_ms, -app.priority)

    def candidates(self, leaf: Queue) -> Iterable[Application]:
        """Return the applications to serve, in order."""
        return leaf.in_order()


# ------------------------------------------------------------------------
# State aware: running applications first, new ones let in one at a time.


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
