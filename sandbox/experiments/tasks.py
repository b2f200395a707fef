"""Celery task of experiments: run what waits, for one visit. Safe to deliver twice."""

from __future__ import annotations

from celery import shared_task

from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.experiments import claims
from sandbox.experiments.work import work
from sandbox.models import Experiment
from sandbox.process.celery import EXPERIMENTS, app

#: One visit: then ticks that wait are served. A run that was begun is ended.
VISIT_S = 0.3
#: How often the clock looks where runs wait; a visit sends its own successor.
LOOK_EVERY_S = 1.0
#: Calls sent at one look; who finds no run is done at once.
MOST_CALLS = 16


@shared_task(name="sandbox.experiments", ignore_result=True, bind=True)
def visit(self: object, until: float | None = None) -> int:
    """Run waiting runs for one visit; return how many ended.

    A call that is taken after `until`, by the database's clock, was made again since.
    """
    if until is not None and database_seconds() > until:
        return 0
    worker = getattr(getattr(self, "request", None), "hostname", None) or ""
    ended = work(worker, VISIT_S)
    if ended and claims.open_runs().exists():
        call(1)
    return ended


def look() -> None:
    """Call workers to experiments that have runs waiting or lost."""
    now = DatabaseTime()
    due = Experiment.objects.filter(state=Experiment.RUNNING, look_at__lte=now)
    for pk, look_at in due.values_list("pk", "look_at")[:100]:
        mine = Experiment.objects.filter(pk=pk, look_at=look_at)
        if mine.update(look_at=now + LOOK_EVERY_S):
            runs = claims.open_runs().filter(experiment_id=pk)
            # One more than there are runs: a search may wait to be gone on with.
            call(len(runs.values_list("pk")[:MOST_CALLS]) or 1)


def call(workers: int) -> None:
    """Ask so many worker processes for a visit; a bus that is away is waited for."""
    until = database_seconds() + 2 * LOOK_EVERY_S
    for _ in range(workers):
        app.send_task(
            "sandbox.experiments",
            (until,),
            retry=False,
            queue=EXPERIMENTS,
        )
