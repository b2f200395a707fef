"""Who runs what: a run is taken up by a conditional UPDATE, and held by a lease."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from sandbox.base.database_time import DatabaseTime
from sandbox.models import Experiment, Run
from sandbox.models.fields import Sayings
from sandbox.process import watchdog
from scheduler.analysis.experiments.runs import Result
from scheduler.model.problems.runs import RunProblem
from scheduler.model.sentence import Sentence, shortened

LEASE_S = 15.0
#: A run whose worker was lost this often is given up: it may be the reason.
MOST_TRIES = 2
_GLANCE = 8


@dataclass(frozen=True, slots=True)
class RunClaim:
    """The right to write the result of one run, while the fence is the newest."""

    run_id: int
    experiment_id: str
    variant: int
    seed: int
    fence: int


def open_runs() -> QuerySet[Run]:
    """Return the runs that anybody may take up."""
    waits = Q(state=Run.WAITING)
    lost = Q(state=Run.RUNNING, lease_until__lt=DatabaseTime())
    return Run.objects.filter(waits | lost, experiment__state=Experiment.RUNNING)


def take(worker: str, experiment_id: str = "") -> RunClaim | None:
    """Take up a run, of any experiment unless one is named; None when none waits.

    Experiments are served by run number, so a small one is not kept
    behind a large one.
    """
    runs = open_runs()
    if experiment_id:
        runs = runs.filter(experiment_id=experiment_id)
    while found := list(runs.order_by("number", "experiment_id")[:_GLANCE]):
        for run in found:
            if run.tries >= MOST_TRIES:
                _give_up(run)
            elif _won(run, worker):
                return RunClaim(
                    run.pk, run.experiment_id, run.variant, run.seed, run.fence + 1
                )
    return None


def _won(run: Run, worker: str) -> bool:
    same = Run.objects.filter(pk=run.pk, fence=run.fence)
    taken = same.exclude(state__in=(Run.DONE, Run.FAILED, Run.CANCELLED)).update(
        state=Run.RUNNING,
        fence=run.fence + 1,
        tries=run.tries + 1,
        lease_until=DatabaseTime() + LEASE_S,
        worker=worker[:64],
    )
    return taken == 1


def _give_up(run: Run) -> None:
    error = RunProblem.LOST.said(count=run.tries)
    claim = RunClaim(run.pk, run.experiment_id, run.variant, run.seed, run.fence)
    fail(claim, error)


def renew(claim: RunClaim) -> bool:
    """Hold on for longer; False when the run is lost or no longer wanted."""
    lease_until = DatabaseTime() + LEASE_S
    back = watchdog.tries_taken_back()
    return _mine(claim).update(lease_until=lease_until, **back) == 1


def finish(claim: RunClaim, result: Result, document: dict[str, Any]) -> bool:
    """Write a result; False when another worker has the run by now."""
    return _end(claim, failed=0, state=Run.DONE, result=document, hash=result.hash)


def fail(claim: RunClaim, error: Sentence) -> bool:
    """Write why there is no result; False when another worker has the run."""
    return _end(
        claim, failed=1, state=Run.FAILED, error=Sayings([shortened(error, 4000)])
    )


def _mine(claim: RunClaim) -> QuerySet[Run]:
    return Run.objects.filter(pk=claim.run_id, fence=claim.fence, state=Run.RUNNING)


def _end(claim: RunClaim, *, failed: int, **columns: Any) -> bool:
    experiment = Experiment.objects.filter(pk=claim.experiment_id)
    with transaction.atomic():
        # The experiment first: its row is the queue in which runs end.
        experiment.update(done=F("done") + 1, failed=F("failed") + failed)
        order = experiment.values_list("done", flat=True).first()
        if order is None or _mine(claim).update(ended=order, **columns) != 1:
            transaction.set_rollback(True)
            return False
        experiment.filter(
            done=F("total"), state=Experiment.RUNNING, searching=False
        ).update(state=Experiment.DONE, finished_at=timezone.now())
    return True
