"""First in, first out: applications by the time they came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.engine.yunikorn.objects.model import Application, Queue
from scheduler.model.registry import register


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
