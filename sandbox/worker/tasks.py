"""Celery tasks: what is due, and one sandbox brought forward. Safe to deliver twice."""

from __future__ import annotations

import logging
import time

from celery import shared_task
from celery.signals import worker_process_init
from django.conf import settings
from django.db.models import F

from sandbox.actions import do_clear, do_end_guests, do_fail, do_ticks, do_trim
from sandbox.answers import work as answers
from sandbox.base import counters
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import OvertakenError
from sandbox.base.memory import collect_seldom
from sandbox.experiments import work as experiments
from sandbox.forecasts import asking
from sandbox.forecasts import work as forecasts
from sandbox.models import Sandbox
from sandbox.process import calls, watchdog
from sandbox.retention.retention import (
    BATCH,
    beginning,
    candidates,
    most_ticks,
    prune,
)
from sandbox.worker import running
from sandbox.worker.clock import DATABASE_AWAY, LOOK
from sandbox.world import leases
from sandbox.world.kept import start_forgetting
from sandbox.world.leases import Claim
from scheduler.model.problems.runs import GivenUp
from scheduler.model.sentence import shortened

logger = logging.getLogger(__name__)

#: One visit to a sandbox: then others are served.
VISIT_S = 0.4
#: A visitor waits this long for a tick that is nearly due, rather than go away.
NEARLY_S = 0.06
#: A tick at which so many workers in a row were lost is not begun again.
MOST_TRIES = 2
#: Clearing history away goes on for so long at a time.
TIDY_S = 2.0


@worker_process_init.connect
def _make_ready(**_: object) -> None:
    collect_seldom()
    start_forgetting()


@shared_task(name=LOOK, ignore_result=True)
def look() -> None:
    """Begin forecasts that are due, and call workers to the parts of all work that wait."""
    asking.look()
    calls.look((experiments.WORK, forecasts.WORK, answers.WORK))


@shared_task(name="sandbox.advance", ignore_result=True, bind=True)
def advance(self: object, sandbox_id: str, ticket: float | None = None) -> int:
    """Tick a sandbox that is due, for one visit; return how many ticks were made.

    Does nothing when somebody else holds it: delivered twice, it ticks once. The
    ticket is the row's `queued_until` of this message; once that has changed, a
    later message was sent and this one is worth nothing. An expiry of the message
    itself would be judged by the clock of whichever host takes it.
    """
    name = getattr(getattr(self, "request", None), "hostname", None) or ""
    taken = leases.take_to_tick(sandbox_id, ticket, name)
    if taken is None:
        return 0
    claim = taken.claim
    try:
        if taken.tries > MOST_TRIES:
            # Pause a sandbox whose tick cost as many workers as may be, and say so.
            problem = (
                f"its worker was lost, or stood still for {settings.STANDSTILL_S} s, "
                f"{MOST_TRIES} times; change what is unusual in it, then play"
            )
            _pause(claim, problem)
            return 0
        if taken.cluster and running.take_over(claim):
            return 0
        with leases.renewed(claim), watchdog.ended_after(settings.STANDSTILL_S):
            return _visit(claim)
    finally:
        leases.release(claim)


def _visit(claim: Claim) -> int:
    ticks, alone = 0, False
    end = time.monotonic() + VISIT_S
    while _await_due(claim, end):
        begun = time.monotonic()
        watchdog.goes_on(settings.STANDSTILL_S)
        try:
            made = len(do_ticks(claim, most=1 if alone else None))
            if not made:
                break
        except OvertakenError:
            break
        except DATABASE_AWAY:
            # It is not the sandbox's fault: the clock asks again.
            logger.warning("tick not committed", extra={"sandbox": claim.sandbox_id})
            break
        except Exception as error:  # whatever it is, the page must say it
            if not alone:
                alone = True  # those before it were well and are kept: one by one
                continue
            _stop(claim, error)
            break
        for _ in range(made):
            counters.observe_tick((time.monotonic() - begun) / made)
        ticks += made
    return ticks


def _await_due(claim: Claim, end: float) -> bool:
    """Return whether to tick now; waits for a tick that is nearly due."""
    row = (
        Sandbox.objects.filter(pk=claim.sandbox_id, fence=claim.fence, playing=True)
        .annotate(
            away=F("due_at") - DatabaseTime(),
            waited_for=F("waiting_until") - DatabaseTime(),
        )
        .values_list("away", "waited_for")
        .first()
    )
    if row is None or time.monotonic() >= end:
        return False
    away, waited_for = row
    if waited_for > 0 or away > NEARLY_S:
        return False
    if away > 0:
        time.sleep(away)
    return True


def _pause(claim: Claim, problem: str) -> None:
    do_fail(claim, shortened(GivenUp.TICK_FAILED.said(problem=problem), 1000))


def _stop(claim: Claim, error: Exception) -> None:
    counters.count("ticks_failed")
    logger.exception("tick failed", extra={"sandbox": claim.sandbox_id})
    try:
        _pause(claim, f"{type(error).__name__}: {error}")
    except OvertakenError:
        logger.warning("somebody else went on", extra={"sandbox": claim.sandbox_id})


@shared_task(name="sandbox.tidy", ignore_result=True)
def tidy() -> int:
    """Let history go that is no longer to be kept; return how many rows went.

    In batches, with pauses for who waits to write. What is not done in one visit
    is done in the next. Safe to deliver twice.
    """
    leases.mend_times()
    answers.WORK.end_lapsed()
    gone, end = 0, time.monotonic() + TIDY_S
    most = most_ticks()
    for sandbox in candidates(most).iterator():
        try:
            if beginning(sandbox, most) is not None:
                _trim(sandbox.pk, most)
            while time.monotonic() < end and (count := do_clear(sandbox.pk, BATCH)):
                gone += count
                time.sleep(0.02)
        except DATABASE_AWAY:
            raise
        except Exception:  # the history of one is kept; that of the others goes
            logger.exception("not tidied", extra={"sandbox": sandbox.pk})
    do_end_guests()
    return gone + prune()


def _trim(sandbox_id: str, most: int) -> None:
    claim = leases.take(sandbox_id)
    if claim is None:
        return  # somebody is at it; there is a next time
    try:
        do_trim(claim, most)
    except OvertakenError:
        logger.info("somebody else went on", extra={"sandbox": sandbox_id})
    finally:
        leases.release(claim)
