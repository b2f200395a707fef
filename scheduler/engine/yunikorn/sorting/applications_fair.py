"""Fair applications: the one that uses least of its queue's guarantee first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.engine.yunikorn.objects.model import Application, Queue
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
