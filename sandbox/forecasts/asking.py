"""A forecast is asked for: the one that is kept, or a new one; how far it is."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Sum
from django.utils import timezone

from sandbox.access import limits
from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.base.errors import BusyError, NotFoundError, NotYetError, SandboxError
from sandbox.base.refusals import Absent
from sandbox.explain import forecasting
from sandbox.explain.forecasting import ForecastOptions
from sandbox.forecasts import parts
from sandbox.forecasts.outcomes import kept_of, record_of
from sandbox.forecasts.parts import options_of
from sandbox.forecasts.work import WORK
from sandbox.models import ForecastPart, KeptForecast, Revision, Sandbox
from sandbox.models.fields import Sayings
from sandbox.process import idle_flag
from sandbox.retention.retention import drop_oldest
from sandbox.world import history
from scheduler.analysis.forecast.present import check_stack
from scheduler.analysis.forecast.starts import Forecast
from scheduler.analysis.forecast.track_record import TrackRecord
from scheduler.analysis.forecast.world import check_futures
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import RequestProblem
from scheduler.model.problems.forms import joined
from scheduler.model.sentence import Sentence, plain

#: Who asked looks again within this; a forecast that nobody looks at is cancelled.
WANTED_S = 15.0
_SLACK_S = 1.0
_LOOK_S = 0.05


class ForecastState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A kept forecast as it is looked at."""

    id: int
    state: str  # running, done, failed, cancelled
    tick: int
    revision: int
    now_ms: int
    asked: int  # futures
    ended: int  # so far
    error: str  # why it failed
    said: Sentence | None  # the same with its code, where it has one
    forecast: Forecast | None  # when it is done


def ask(
    sandbox: Sandbox,
    tick: int | None,
    options: ForecastOptions,
    user: User | None = None,
) -> KeptForecast:
    """Return the forecast of the present or of a tick; begun if none is kept.

    Workers read the world and run its futures, until its seconds of the wall are over.
    It counts as a job of `user`. Raises SchedulerError for no futures and under a stack without Kueue, and
    TooManyError when as many jobs of the user run as may.
    """
    check_futures(options.futures)
    now = tick is None or tick == sandbox.tick
    options = forecasting.settled(sandbox, options)
    revision = sandbox.revision if now else history.revision_at(sandbox, tick or 0)
    kept = _kept(sandbox, revision, options)
    if kept is not None:
        return kept
    if now:
        check_stack(sandbox.stack)
    return _begin(sandbox, revision, options, user)


def result(kept: KeptForecast) -> Forecast:
    """Return the forecast when it is done, waiting for it; workers run its futures.

    What is still at work a lease after its time is left out. Raises NotYetError when
    it takes longer than `ANSWER_WAIT_S`, BusyError when no future came to its end in the
    time given, and SchedulerError for what cannot be forecast.
    """
    begun = time.monotonic()
    over = begun + kept.until - database_seconds() + parts.LEASE_S
    while kept.state == KeptForecast.RUNNING and time.monotonic() < over:
        if time.monotonic() >= begun + settings.ANSWER_WAIT_S:
            place = f"sandboxes/{kept.sandbox_id}/forecast?id={kept.pk}"
            raise NotYetError(kept.pk, place)
        want(kept)
        if not settings.ANSWER_INLINE or not WORK.work(1.0, kept.pk):
            time.sleep(_LOOK_S)
        kept.refresh_from_db(fields=["state", "answer", "error"])
    if kept.state == KeptForecast.RUNNING:
        parts.close(kept.pk)
        WORK.work(1.0, kept.pk)
        kept.refresh_from_db(fields=["state", "answer", "error"])
    if kept.state != KeptForecast.DONE:
        said = Sayings.of(kept.error).said
        problem = (
            joined(said) if said else plain("the forecast was given up; ask again")
        )
        if any(one.code == RequestProblem.NO_END.value for one in said):
            raise BusyError(problem)
        raise SchedulerError(problem)
    return msgspec.convert(kept.answer, Forecast)


def find(sandbox: Sandbox, forecast_id: int) -> KeptForecast:
    """Return a kept forecast of the sandbox. Raises NotFoundError."""
    found = KeptForecast.objects.filter(sandbox=sandbox, pk=forecast_id)
    kept = found.defer("world", "given").first()
    if kept is None:
        raise NotFoundError(
            Absent.FORECAST.said(forecast=forecast_id, sandbox=sandbox.pk)
        )
    return kept


def want(kept: KeptForecast, seconds: float = WANTED_S) -> None:
    """Let a forecast that runs go on for so long."""
    until = DatabaseTime() + seconds
    # Who waits asks many times a second; once is enough to write.
    lapsing = parts.running(kept.pk).filter(wanted_until__lt=until - _SLACK_S)
    lapsing.update(wanted_until=until)


def is_running(kept: KeptForecast) -> bool:
    """Return whether a forecast still runs, and keep it running."""
    want(kept)
    running = KeptForecast.objects.filter(pk=kept.pk, state=KeptForecast.RUNNING)
    return running.exists()


def state_of(kept: KeptForecast, *, whole: bool = True) -> ForecastState:
    """Return how far it is, with the answer when `whole` and it is done."""
    options, done = options_of(kept), kept.state == KeptForecast.DONE
    said = Sayings.of(kept.error).said
    return ForecastState(
        id=kept.pk,
        state=kept.state,
        tick=kept.tick,
        revision=kept.revision,
        now_ms=kept.now_ms,
        asked=options.futures,
        ended=kept.answer["futures"] if done else _ended(kept),
        error=str(kept.error),
        said=joined(said) if said else None,
        forecast=msgspec.convert(kept.answer, Forecast) if done and whole else None,
    )


def _ended(kept: KeptForecast) -> int:
    ended = ForecastPart.objects.filter(forecast=kept.pk).exclude(futures=None)
    return ended.aggregate(all=Sum("count"))["all"] or 0


def _asked_as(options: ForecastOptions) -> str:
    """Return all that the answer depends on beside the world."""
    within = ",".join(map(str, options.within_ms))
    return (
        f"futures={options.futures} seed={options.seed} within={within} "
        f"horizon={options.horizon_ms} continued={options.continued}"
    )


def _kept(
    sandbox: Sandbox, revision: int, options: ForecastOptions
) -> KeptForecast | None:
    """Return the one that is kept; one whose time ran out sooner is asked anew."""
    states = (KeptForecast.RUNNING, KeptForecast.DONE)
    asked = {"revision": revision, "asked_as": _asked_as(options), "state__in": states}
    found = KeptForecast.objects.filter(sandbox=sandbox, **asked).defer("world").first()
    if found is None:
        return None
    few = found.answer and found.answer["futures"] < options.futures
    if few and options_of(found).seconds < options.seconds:
        found.delete()
        return None
    want(found)
    return found


def _begin(
    sandbox: Sandbox, revision: int, options: ForecastOptions, user: User | None
) -> KeptForecast:
    limits.check_jobs(user)
    at = history.rows_of(Revision, sandbox, whole=True).filter(number=revision)
    tick, now_ms = at.values_list("tick", "t_ms").get()
    now = database_seconds()
    kept = KeptForecast(
        sandbox=sandbox,
        asked_by=user,
        revision=revision,
        tick=tick,
        now_ms=now_ms,
        options=msgspec.to_builtins(options),
        asked_as=_asked_as(options),
        until=now + options.seconds,
        wanted_until=now + WANTED_S,
    )
    try:
        with transaction.atomic():
            limits.check_jobs(user, alone=True)
            kept.save()
            drop_oldest(KeptForecast, sandbox)
            parts.split(kept, options.futures)
            idle_flag.clear_after_commit()
    except IntegrityError:  # somebody asked the same just now
        same = _kept(sandbox, revision, options)
        return same or _begin(sandbox, revision, options, user)
    return kept


# ------------------------------------------------------------------------
# A sandbox's forecasts as they are listed, with its track record.


class Forecasts(msgspec.Struct, frozen=True, kw_only=True):
    """The forecasts that are kept of a sandbox, newest first, and how they came out."""

    items: list[ForecastState]  # without what they forecast
    record: TrackRecord


def forecasts_of(sandbox: Sandbox, most: int) -> Forecasts:
    """Return the newest so many forecasts, and the sandbox's track record."""
    found = kept_of(sandbox).defer("world", "given")
    items = [state_of(one, whole=False) for one in found.order_by("-pk")[:most]]
    return Forecasts(items=items, record=record_of(sandbox))


# ------------------------------------------------------------------------
# Twins that forecast themselves, as often as the operator says.


logger = logging.getLogger(__name__)

#: At one look so many twins begin a forecast; the others at the next.
MOST_AT_ONCE = 4
_LOOK_EVERY_S = 1.0
_last = 0.0  # monotonic seconds of this process's last look


def look() -> None:
    """Begin a forecast of each twin that plays and has none young enough."""
    global _last
    every = settings.TWIN_FORECAST_EVERY_S
    if not every or time.monotonic() < _last + _LOOK_EVERY_S:
        return
    _last = time.monotonic()
    for sandbox in due(every)[:MOST_AT_ONCE]:
        begin(sandbox, every)


def due(every_s: int) -> list[Sandbox]:
    """Return the twins that play and were last forecast so long ago, or never."""
    young = KeptForecast.objects.filter(
        created_at__gt=timezone.now() - timedelta(seconds=every_s)
    )
    playing = Sandbox.objects.filter(playing=True).exclude(source={})
    return list(playing.exclude(pk__in=young.values("sandbox_id")).order_by("pk"))


def begin(sandbox: Sandbox, every_s: int) -> None:
    """Begin the forecast of a twin; it is kept until the next one is due."""
    try:
        found = ask(sandbox, None, ForecastOptions(seconds=min(every_s, 60)))
        want(found, every_s)
    except (SchedulerError, SandboxError) as error:
        logger.info("not forecast: %s", error, extra={"sandbox": sandbox.pk})
    except DatabaseError:
        raise
    except Exception:  # the others get theirs
        logger.exception("not forecast", extra={"sandbox": sandbox.pk})
