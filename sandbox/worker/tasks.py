"""Celery tasks: what is due, and one sandbox brought forward. Safe to deliver twice."""

from __future__ import annotations

import logging
import secrets
import time

from celery import shared_task
from celery.signals import worker_process_init
from django.conf import settings
from django.db import InterfaceError, InternalError, OperationalError
from django.db.models import Case, Exists, F, OuterRef, QuerySet, Value, When

from sandbox.actions import do_clear, do_end_guests, do_fail, do_ticks, do_trim
from sandbox.answers import work as answers
from sandbox.base import counters
from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.base.errors import OvertakenError
from sandbox.base.memory import collect_seldom
from sandbox.experiments import work as experiments
from sandbox.forecasts import asking
from sandbox.forecasts import work as forecasts
from sandbox.models import Lesson, Sandbox
from sandbox.process import calls, idle_flag, services, watchdog
from sandbox.process.celery import LESSONS, TICKS, app, own_queue
from sandbox.retention.retention import BATCH, beginning, candidates, prune
from sandbox.worker import running
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
#: A tick that its process has not begun after this is sent to all of them.
EXPIRES_S = 3.0
#: There a message may be lost after this, where fewer are in the queue than were sent.
EXPIRES_FOR_ALL_S = 4.0
#: Away or busy or full; its connection closed meanwhile; taking no changes (PostgreSQL).
DATABASE_AWAY = (OperationalError, InterfaceError, InternalError)
#: Sandboxes that one pulse sends; the next follows in 50 ms.
MOST_SENT = 500


@worker_process_init.connect
def _make_ready(**_: object) -> None:
    collect_seldom()
    start_forgetting()


@shared_task(name="sandbox.pulse", ignore_result=True)
def pulse() -> int:
    """Send every sandbox that is due to a worker; return how many.

    A fixed number of statements. A message to all is sent again only where more sandboxes
    wait than messages: those in the queue keep their place, however long it takes, or
    under load each would be worth nothing when its turn comes. While nothing plays or
    runs there is nothing to look for.
    """
    if idle_flag.mark_if_idle():
        return 0
    now = DatabaseTime()
    due = Sandbox.objects.filter(playing=True, due_at__lte=now, lease_until__lt=now)
    sent = due.exclude(queued_until=0)
    new, late = due.filter(queued_until=0), sent.filter(queued_until__lt=now)
    first = list(new.order_by("due_at").values_list("pk", flat=True)[:MOST_SENT])
    oldest = late.order_by("queued_until", "due_at")
    expired = list(oldest.values_list("pk", "warm")[:MOST_SENT])
    count = _send_marked(new, first, EXPIRES_S)
    # Its process did not begin it: it goes to whoever is there, once.
    own = [pk for pk, warm in expired if warm]
    count += _send_marked(late, own, EXPIRES_FOR_ALL_S, warm="")
    if to_all := [pk for pk, warm in expired if not warm]:
        lost = max(0, sent.filter(warm="").count() - _waiting_for_all())
        count += _send_marked(late, to_all[:lost], EXPIRES_FOR_ALL_S)
    asking.look()
    calls.look((experiments.WORK, forecasts.WORK, answers.WORK))
    return count


def _send_marked(
    those: QuerySet[Sandbox], keys: list[str], seconds: float, **columns: str
) -> int:
    """Note in the rows of what is due that a message is on its way, and send it.

    The ticket is of this call alone: of two pulses each sends what it marked, and marks
    what is still one of `those`.
    """
    if not keys:
        return 0
    ticket = database_seconds() + seconds + secrets.randbelow(10**6) * 1e-9
    those.filter(pk__in=keys).update(queued_until=ticket, **columns)
    mine = Sandbox.objects.filter(pk__in=keys, queued_until=ticket).order_by("due_at")
    held = Exists(Lesson.objects.running().filter(sandbox=OuterRef("pk")))
    marked = list(mine.annotate(held=held).values_list("pk", "warm", "held"))
    for pk, warm, lesson in marked:
        send(pk, warm, ticket, lesson=lesson)
    return len(marked)


def _waiting_for_all() -> int:
    bus = services.bus_client(settings.BUS_URL)
    try:
        return int(bus.llen(TICKS)) + int(bus.llen(LESSONS))
    finally:
        bus.close()


def send(sandbox_id: str, warm: str, ticket: float, *, lesson: bool = False) -> None:
    """Ask a process to advance the sandbox; the one that holds its world if any.

    Processes take from their queues in turn: a lesson waits for one message of each other
    queue, however many are in them.
    """
    app.send_task(
        "sandbox.advance",
        (sandbox_id, ticket),
        retry=False,
        queue=own_queue(warm, lesson=lesson) if warm else LESSONS if lesson else TICKS,
    )


@shared_task(name="sandbox.advance", ignore_result=True, bind=True)
def advance(self: object, sandbox_id: str, ticket: float | None = None) -> int:
    """Tick a sandbox that is due, for one visit; return how many ticks were made.

    Does nothing when somebody else holds it: delivered twice, it ticks once. The
    ticket is the row's `queued_until` of this message; once that has changed, a
    later message was sent and this one is worth nothing. An expiry of the message
    itself would be judged by the clock of whichever host takes it.
    """
    if ticket is not None and not _newest(sandbox_id, ticket):
        return 0
    claim = leases.take(sandbox_id)
    if claim is None:
        return 0
    name = getattr(getattr(self, "request", None), "hostname", None) or ""
    try:
        if _count_try(claim, name) > MOST_TRIES:
            # Pause a sandbox whose tick cost as many workers as may be, and say so.
            problem = (
                f"its worker was lost, or stood still for {settings.STANDSTILL_S} s, "
                f"{MOST_TRIES} times; change what is unusual in it, then play"
            )
            _pause(claim, problem)
            return 0
        if running.take_over(claim):
            return 0
        with leases.renewed(claim), watchdog.ended_after(settings.STANDSTILL_S):
            return _visit(claim)
    finally:
        leases.release(claim)


def _count_try(claim: Claim, worker: str) -> int:
    """Note that somebody begins here; return how often since anything was committed.

    It is written before the work: a process that is lost writes nothing any longer.
    """
    mine = Sandbox.objects.filter(pk=claim.sandbox_id)
    same = When(tried_at=F("revision"), then=F("tries") + 1)
    mine.update(
        queued_until=0,
        warm=worker,
        tries=Case(same, default=Value(1)),
        tried_at=F("revision"),
    )
    return mine.values_list("tries", flat=True).first() or 0


def _newest(sandbox_id: str, ticket: float) -> bool:
    return Sandbox.objects.filter(pk=sandbox_id, queued_until=ticket).exists()


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
    for sandbox in candidates().iterator():
        try:
            if beginning(sandbox) is not None:
                _trim(sandbox.pk)
            while time.monotonic() < end and (count := do_clear(sandbox.pk, BATCH)):
                gone += count
                time.sleep(0.02)
        except DATABASE_AWAY:
            raise
        except Exception:  # the history of one is kept; that of the others goes
            logger.exception("not tidied", extra={"sandbox": sandbox.pk})
    do_end_guests()
    return gone + prune()


def _trim(sandbox_id: str) -> None:
    claim = leases.take(sandbox_id)
    if claim is None:
        return  # somebody is at it; there is a next time
    try:
        do_trim(claim)
    except OvertakenError:
        logger.info("somebody else went on", extra={"sandbox": sandbox_id})
    finally:
        leases.release(claim)
