"""How the service stands: who waits for what, what is late, connections, processors, refusals.

Read for the page of the operator and for Prometheus, so that both say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import Count, F, Q, QuerySet

from sandbox.base.database_time import DatabaseTime
from sandbox.experiments.work import open_runs
from sandbox.forecasts.parts import open_parts
from sandbox.models import ForecastPart, KeptForecast, Question, Run, Sandbox

#: A sandbox whose tick is this overdue does not keep the speed that was chosen.
LATE_S = 1.0


class Wait(NamedTuple):
    """The work of one kind that one person asked for, and that has not ended."""

    person: str
    work: str  # the kind of a question; "run" of an experiment; "future"
    waiting: int
    under_way: int


def waits() -> list[Wait]:
    """Return who waits for what, most first. Five statements."""
    held = Q(lease_until__gte=DatabaseTime())
    runs = Run.objects.filter(held, state=Run.RUNNING)
    futures = ForecastPart.objects.filter(
        held, futures=None, forecast__state=KeptForecast.RUNNING
    )
    asked = Question.objects.filter(state=Question.RUNNING)
    by = asked.values_list("asked_by__username", "kind")
    counts = by.annotate(n=Count("pk"), held=Count("pk", filter=held))
    found = [
        *(Wait(who, work, n - under, under) for who, work, n, under in counts),
        *_parts("run", "experiment__owner__username", open_runs(), runs),
        *_parts("future", "forecast__asked_by__username", open_parts(), futures),
    ]
    return sorted(found, key=lambda one: (-one.waiting, one.person, one.work))


def _parts(
    work: str, owner: str, waiting: QuerySet[Any], under_way: QuerySet[Any]
) -> Iterator[Wait]:
    of_waiting, of_held = (
        Counter(dict(rows.values_list(owner).annotate(n=Count("pk")).order_by()))
        for rows in (waiting, under_way)
    )
    for person in of_waiting | of_held:
        yield Wait(person or "", work, of_waiting[person], of_held[person])


def late(most: int) -> QuerySet[Any, Any]:
    """Return id, title, owner, speed and lag in seconds of what plays, latest first."""
    rows = playing_late().order_by("-late", "pk")
    return rows.values_list("pk", "title", "owner__username", "speed", "late")[:most]


def playing_late() -> QuerySet[Any]:
    """Return the sandboxes that are over LATE_S behind their speed, each with `late`."""
    return lags().filter(late__gt=LATE_S)


def lags() -> QuerySet[Any]:
    """Return what plays with a speed, each with the seconds that it is behind as `late`."""
    timed = Sandbox.objects.filter(playing=True, speed__gt=0)
    return timed.annotate(late=DatabaseTime() - F("due_at"))


def seconds_by_work(counts: dict[str, float]) -> dict[str, float]:
    """Return the processor seconds by kind of work: `advance` ticks, `web` answers pages."""
    none = dict.fromkeys(("advance", "answers", "experiments", "forecasts", "web"), 0.0)
    return none | _named(counts, "cpu_")


def refused_by_status(counts: dict[str, float]) -> dict[str, float]:
    """Return how many requests were refused since the bus began, by status."""
    return dict.fromkeys(("403", "429", "503"), 0.0) | _named(counts, "refused_")


def _named(counts: dict[str, float], prefix: str) -> dict[str, float]:
    return {
        name.removeprefix(prefix): value
        for name, value in counts.items()
        if name.startswith(prefix)
    }
