"""A worker's part: take up a run, run it in memory, write what came out."""

from __future__ import annotations

import logging
import time

import msgspec
from django.conf import settings
from django.db import DatabaseError, OperationalError

from sandbox.experiments import claims, searching
from sandbox.experiments.bases import base_of
from sandbox.experiments.claims import RunClaim
from sandbox.models import Experiment
from sandbox.process import watchdog
from scheduler.analysis.experiments.runs import CancelledError, Plan, run
from scheduler.model.errors import SchedulerError
from scheduler.model.sentence import plain

logger = logging.getLogger(__name__)

#: How often a running run shows that it is alive, and hears that it is not wanted.
RENEW_S = 2.0


def work(worker: str, seconds: float, experiment_id: str = "") -> int:
    """Run runs, one after the other, for about so long; return how many ended.

    A run that was begun is brought to its end. A search whose runs have all ended
    goes on.
    """
    end, ended = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        claim = claims.take(worker, experiment_id)
        if claim is None:
            if searching.go_on_with_due(experiment_id):
                continue
            break
        ended += execute(claim)
    return ended


def execute(claim: RunClaim) -> bool:
    """Run what was claimed and write its result; False when it came to nothing."""
    try:
        plan = plan_of(claim.experiment_id)
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
        return claims.fail(claim, error.said)
    except Exception as error:  # a defect of ours stops one run, and is reported
        logger.exception("a run failed", extra={"run": claim.run_id})
        return claims.fail(claim, plain(f"{type(error).__name__}: {error}"))
    return claims.finish(claim, result, msgspec.to_builtins(result))


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
            return claims.renew(self.claim)
        except DatabaseError:
            # The database is away; the result will show whether it was in vain.
            logger.warning("a lease was not renewed", extra={"run": self.claim.run_id})
            return True
