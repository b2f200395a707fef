"""Celery task of forecasts: run futures that wait, for one visit. Safe to deliver twice."""

from __future__ import annotations

from celery import shared_task

from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.forecasts import by_itself, parts
from sandbox.forecasts.work import work
from sandbox.models import KeptForecast
from sandbox.process.celery import EXPERIMENTS, app

#: One visit: then ticks that wait are served. A part that was begun is ended.
VISIT_S = 0.3
#: How often the clock looks where futures wait; a visit sends its own successor.
LOOK_EVERY_S = 1.0
#: Calls sent at one look; who finds no part is done at once.
MOST_CALLS = 16


@shared_task(name="sandbox.forecasts", ignore_result=True)
def visit(until: float | None = None) -> int:
    """Run waiting parts for one visit; return how many ended.

    A call that is taken after `until`, by the database's clock, was made again since.
    """
    if until is not None and database_seconds() > until:
        return 0
    ended = work(VISIT_S)
    if ended and parts.open_parts().exists():
        call(1)
    return ended


def look() -> None:
    """Call workers to forecasts that have futures waiting or lost."""
    by_itself.look()
    now = DatabaseTime()
    due = KeptForecast.objects.filter(state=KeptForecast.RUNNING, look_at__lte=now)
    for pk, look_at in due.values_list("pk", "look_at")[:100]:
        mine = KeptForecast.objects.filter(pk=pk, look_at=look_at)
        if mine.update(look_at=now + LOOK_EVERY_S):
            waiting = parts.open_parts().filter(forecast_id=pk)
            # One when none waits: an answer may wait to be put together.
            call(len(waiting.values_list("pk")[:MOST_CALLS]) or 1)


def call(workers: int) -> None:
    """Ask so many worker processes for a visit; a bus that is away is waited for."""
    until = database_seconds() + 2 * LOOK_EVERY_S
    for _ in range(workers):
        app.send_task("sandbox.forecasts", (until,), retry=False, queue=EXPERIMENTS)
