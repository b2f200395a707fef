"""A worker's part: run futures, write what came of them, put the answer together."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from django.conf import settings
from django.db import DatabaseError, OperationalError
from django.db.models import F

from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import SandboxError
from sandbox.explain import forecasting
from sandbox.forecasts import parts
from sandbox.forecasts.outcomes import correction_of
from sandbox.forecasts.parts import PartClaim, options_of
from sandbox.models import ForecastPart, KeptForecast
from sandbox.models.fields import Sayings
from sandbox.page.packing import pack_world, unpack_world
from sandbox.process import idle_flag, watchdog
from sandbox.process.calls import PartWork
from sandbox.world.kept import Kept
from scheduler.analysis.forecast.present import (
    ForecastWorld,
    Future,
    Level,
    drawn_of,
    given_of,
    present_of,
    waiting,
)
from scheduler.analysis.forecast.track_record import corrected
from scheduler.analysis.forecast.world import forecast as forecast_of
from scheduler.analysis.forecast.world import forecast_from, futures_of, some_of
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key

logger = logging.getLogger(__name__)

#: How often a part that runs shows that it is alive, and hears that it is not wanted.
RENEW_S = 1.0


def execute(claim: PartClaim) -> bool:
    """Run what was claimed and write its result; False when it came to nothing."""
    with _failure_shown(claim.forecast_id):
        forecast = _forecast(claim.forecast_id)
        options = options_of(forecast)
        with watchdog.renewing(lambda: parts.renew(claim), RENEW_S):
            present = _present(forecast)
        if present is None:
            return True
        watch = _Watch(claim, forecast)
        found = futures_of(
            present,
            claim.numbers,
            seed=options.seed,
            horizon_ms=options.horizon_ms,
            go_on=watch.go_on,
        )
        if not watch.lost and parts.finish(claim, _as_stored(present, found)):
            _put_together(forecast)
            return True
    return False


def _present(forecast: KeptForecast) -> ForecastWorld | None:
    """Return what its futures begin from, which the first part makes.

    None where nothing waits: that is the answer.
    """
    if KeptForecast.objects.filter(pk=forecast.pk, world=None).exists():
        world = forecasting.world_of(forecast.sandbox, forecast.revision)
        if not waiting(world):
            _end_empty(forecast, world)
            return None
        parts.running(forecast.pk).update(world=pack_world(world))
        idle_flag.clear_after_commit()  # workers are called to the other parts
    return _present_of(forecast)


def _end_empty(forecast: KeptForecast, world: World) -> None:
    options = options_of(forecast)
    nothing = forecast_of(
        world,
        futures=options.futures,
        seed=options.seed,
        horizon_ms=options.horizon_ms,
        continued=bool(options.continued),
    )
    nothing = msgspec.structs.replace(nothing, revision=forecast.revision)
    _end(forecast.pk, state=KeptForecast.DONE, answer=msgspec.to_builtins(nothing))


@contextmanager
def _failure_shown(forecast_id: int) -> Iterator[None]:
    """Leave what the database was away for; a defect of ours stops the forecast."""
    try:
        yield
    except (OperationalError, KeptForecast.DoesNotExist):
        logger.warning("a forecast was left", exc_info=True)
    except (SchedulerError, SandboxError) as error:
        _end(forecast_id, state=KeptForecast.FAILED, error=Sayings([error.said]))
    except Exception as error:
        logger.exception("a forecast failed")
        _end(forecast_id, state=KeptForecast.FAILED, error=str(error)[:4000])


def _forecast(forecast_id: int) -> KeptForecast:
    """Return it while it runs, with the seconds that are left to it as `left`."""
    left = F("until") - DatabaseTime()
    # Its world is read once per process, not once per part.
    return parts.running(forecast_id).defer("world").annotate(left=left).get()


class StoredFuture(msgspec.Struct, array_like=True):
    """A future as a part holds it: starts in the order of what waits, and curves."""

    starts: list[int | None]
    levels: list[Level]


def _as_stored(present: ForecastWorld, found: list[Future]) -> list[StoredFuture]:
    order = waiting(present.world)
    return [
        StoredFuture([one.starts.get(key) for key in order], list(one.levels))
        for one in found
    ]


def _future(order: Sequence[Key], found: list[Any]) -> Future:
    stored = msgspec.convert(found, StoredFuture)
    pairs = zip(order, stored.starts, strict=True)
    return Future({key: at for key, at in pairs if at is not None}, stored.levels)


def _put_together(forecast: KeptForecast) -> None:
    """Write the answer when this was the last part."""
    stored = ForecastPart.objects.filter(forecast=forecast)
    if stored.filter(futures=None).exists():
        return
    lists = stored.order_by("number").values_list("futures", flat=True)
    ended = some_of([one for futures in lists for one in futures or ()])
    options, present = options_of(forecast), _present_of(forecast)
    order = waiting(present.world)
    found = [_future(order, one) for one in ended]
    answer = forecast_from(
        present,
        found,
        asked=options.futures,
        seed=options.seed,
        horizon_ms=options.horizon_ms,
        within=options.within_ms,
    )
    answer = msgspec.structs.replace(answer, revision=forecast.revision)
    given = given_of(present, found)
    if forecast.sandbox.is_real:
        correction = correction_of(forecast.sandbox, forecast.now_ms)
        answer, given = corrected(answer, given, correction)
    _end(
        forecast.pk,
        state=KeptForecast.DONE,
        answer=msgspec.to_builtins(answer),
        given=msgspec.to_builtins(drawn_of(given, seed=options.seed)),
    )


def _end(forecast_id: int, **columns: object) -> None:
    parts.end(parts.running(forecast_id), **columns)


class _Watch:
    """Says whether a part goes on: until the time is up, or nobody wants it."""

    def __init__(self, claim: PartClaim, forecast: KeptForecast) -> None:
        now = time.monotonic()
        self.claim, self.lost = claim, False
        self.end = now + forecast.left  # type: ignore[attr-defined]
        self.next = now  # a short part hears, too, that it is not wanted

    def go_on(self) -> bool:
        now = time.monotonic()
        if now >= self.end:
            return False
        if now >= self.next and not self.lost:
            self.next = now + RENEW_S
            watchdog.goes_on(settings.STANDSTILL_S)
            try:
                self.lost = not parts.renew(self.claim)
            except DatabaseError:
                logger.warning("a lease was not renewed", exc_info=True)
        return not self.lost


#: What the newest forecasts begin from: parts follow one another.
_presents = Kept[ForecastWorld](2)


def _present_of(forecast: KeptForecast) -> ForecastWorld:
    def read() -> ForecastWorld:
        if forecast.world is None:  # somebody ended it just now
            raise KeptForecast.DoesNotExist
        world = unpack_world(bytes(forecast.world))
        return present_of(world, continued=bool(options_of(forecast).continued))

    return _presents.made(read, forecast.sandbox_id, forecast.revision, forecast.pk)


def _put_ended_together(forecast_id: int | None) -> bool:
    """Put answers together whose parts have all ended, should nobody be at it."""
    for pk in parts.all_ended(forecast_id):
        with _failure_shown(pk):
            _put_together(_forecast(pk))
    return False


WORK = PartWork(
    task="sandbox.forecasts",
    take=parts.take,
    execute=execute,
    running=lambda: KeptForecast.objects.filter(state=KeptForecast.RUNNING),
    open_parts=parts.open_parts,
    end_lapsed=parts.end_lapsed,
    go_on=_put_ended_together,
)
