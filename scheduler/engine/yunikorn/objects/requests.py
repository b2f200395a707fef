"""The requests of an application: pending asks in the order they are tried."""

from __future__ import annotations

from bisect import bisect_left

from scheduler.engine.yunikorn.objects.model import Application, Ask
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.properties import MIN_PRIORITY


def add(app: Application, ask: Ask, counter: int) -> None:
    """Put a pending ask in its place; `counter` grows with every call.

    A newcomer not better than the last goes to the end, otherwise in front
    of its equals. Source: docs/semantics/yunikorn.md#order-of-requests
    """
    requests = app.requests
    base = (-ask.priority, ask.create_ms)
    if not requests or base >= requests[-1].order[:2]:
        ask.rank = counter
    else:
        ask.rank = -counter
    insert(app, ask)


def insert(app: Application, ask: Ask) -> None:
    """Put a pending ask where its rank says, and count it as pending."""
    ask.order = (-ask.priority, ask.create_ms, ask.rank)
    requests = app.requests
    if not requests or requests[-1].order < ask.order:
        requests.append(ask)
    else:
        requests.insert(bisect_left(requests, ask.order, key=_order), ask)
    app.asks[ask.key] = ask
    app.priorities[ask.priority] = app.priorities.get(ask.priority, 0) + 1
    if ask.priority > app.priority:
        app.priority = ask.priority
    app.submit_ms = min(app.submit_ms, ask.create_ms)
    resources.add_to(app.pending, ask.resource)


def remove(app: Application, ask: Ask) -> None:
    """Take an ask out of the pending ones."""
    requests = app.requests
    if requests[0] is ask:
        del requests[0]
    else:
        del requests[bisect_left(requests, ask.order, key=_order)]
    del app.asks[ask.key]
    left = app.priorities[ask.priority] - 1
    if left:
        app.priorities[ask.priority] = left
    else:
        del app.priorities[ask.priority]
        app.priority = max(app.priorities, default=MIN_PRIORITY)
    pending = app.pending
    for name, value in ask.resource.items():
        pending[name] -= value


def _order(ask: Ask) -> tuple[int, int, int]:
    return ask.order
