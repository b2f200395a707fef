"""A worker's part: take up a run, run it in memory, write what came out."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from celery import current_task
from django.conf import settings
from django.db import DatabaseError, OperationalError, transaction
from django.db.models import Case, F, Q, QuerySet, Subquery, Value, When
from django.utils import timezone

from sandbox.base.database_time import DatabaseTime
from sandbox.experiments import searching
from sandbox.experiments.bases import base_of
from sandbox.models import Experiment, Run
from sandbox.models.fields import Sayings
from sandbox.process import watchdog
from sandbox.process.calls import PartWork
from scheduler.analysis.experiments.runs import CancelledError, Plan, Result, run
from scheduler.model.errors import SchedulerError
from scheduler.model.problems.runs import RunProblem
from scheduler.model.sentence import Sentence, plain, shortened

logger = logging.getLogger(__name__)

#: How often a running run shows that it is alive, and hears that it is not wanted.
RENEW_S = 2.0


def execute(claim: RunClaim) -> bool:
    """Run what was claimed and write its result; False when it came to nothing."""
    try:
        plan = _plan(claim.experiment_id, claim.total)
        result = run(
            base_of(claim.experiment_id),
            plan,
            claim.variant,
            claim.seed,
            keep_on=_Pulse(claim).keep_on,
            clock=time.process_time,
        )
    except CancelledError:
        return False
    except (OperationalError, Experiment.DoesNotExist):
        logger.warning("a run was left", extra={"run": claim.run_id}, exc_info=True)
        return False
    except SchedulerError as error:
        return fail(claim, error.said)
    except Exception as error:  # a defect of ours stops one run, and is reported
        logger.exception("a run failed", extra={"run": claim.run_id})
        return fail(claim, plain(f"{type(error).__name__}: {error}"))
    return finish(claim, result, msgspec.to_builtins(result))


@lru_cache(maxsize=8)
def _plan(experiment_id: str, _total: int) -> Plan:
    """Return what the experiment runs while it has so many runs: a search adds some."""
    return plan_of(experiment_id)


def plan_of(experiment_id: str) -> Plan:
    """Return what the experiment runs."""
    document = Experiment.objects.values_list("plan", flat=True).get(pk=experiment_id)
    return msgspec.convert(document, Plan)


class _Pulse:
    """Renews the claim now and then."""

    def __init__(self, claim: RunClaim) -> None:
        self.claim = claim
        self.next = time.monotonic() + RENEW_S

    def keep_on(self) -> bool:
        now = time.monotonic()
        if now < self.next:
            return True
        self.next = now + RENEW_S
        watchdog.goes_on(settings.STANDSTILL_S)
        try:
            return renew(self.claim)
        except DatabaseError:
            # The database is away; the result will show whether it was in vain.
            logger.warning("a lease was not renewed", extra={"run": self.claim.run_id})
            return True


# ------------------------------------------------------------------------
# Who runs what: a run is taken up by a conditional UPDATE, and held by a lease.


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
    total: int


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
    runs = runs.annotate(total=F("experiment__total"))
    while found := list(runs.order_by("number", "experiment_id")[:_GLANCE]):
        for one in found:
            if one.tries >= MOST_TRIES:
                _give_up(one)
            elif _won(one, worker):
                return _claim(one, fence=one.fence + 1)
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
    fail(_claim(run, fence=run.fence), error)


def _claim(run: Run, *, fence: int) -> RunClaim:
    """Return the claim of a row that has `total`, the number of runs of its experiment."""
    total: int = vars(run)["total"]
    return RunClaim(run.pk, run.experiment_id, run.variant, run.seed, fence, total)


def renew(claim: RunClaim) -> bool:
    """Extend the claim; return False when another worker has the run or nobody wants it."""
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
    last = Q(done=F("total") - 1, state=Experiment.RUNNING, searching=False)
    with transaction.atomic():
        # The experiment first: its row is the queue in which runs end.
        experiment.update(
            done=F("done") + 1,
            failed=F("failed") + failed,
            state=Case(When(last, then=Value(Experiment.DONE)), default=F("state")),
            finished_at=Case(
                When(last, then=Value(timezone.now())), default=F("finished_at")
            ),
        )
        order = Subquery(experiment.values("done")[:1])
        if _mine(claim).update(ended=order, **columns) != 1:
            transaction.set_rollback(True)
            return False
    return True


def _take_here(experiment_id: str | None) -> RunClaim | None:
    """Take up a run; its row names the worker that serves this task, or a command."""
    request = getattr(current_task, "request", None)
    worker = getattr(request, "hostname", None) or "command"
    return take(worker, experiment_id or "")


WORK = PartWork(
    task="sandbox.experiments",
    take=_take_here,
    execute=execute,
    running=lambda: Experiment.objects.filter(state=Experiment.RUNNING),
    open_parts=open_runs,
    # A search whose runs have all ended goes on.
    go_on=lambda experiment_id: searching.go_on_with_due(experiment_id or ""),
)
