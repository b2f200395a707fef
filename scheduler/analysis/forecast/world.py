"""Forecasts of a world: its own engine runs many futures of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from scheduler.analysis.forecast.present import (
    Check,
    ForecastWorld,
    Future,
    bands_of,
    baselines_of,
    curves_of,
    future_of,
    last_waits_of,
    played,
    present_of,
    random_of,
    waiting,
)
from scheduler.analysis.forecast.starts import Forecast, start_forecast
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import gc_paused
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.problems import RequestProblem, Wanted, expected

T = TypeVar("T")


class _TimeIsUpError(Exception):
    """A future was given up before its end."""


def forecast(
    world: World,
    *,
    futures: int,
    seed: int,
    horizon_ms: int,
    go_on: Callable[[], bool] = lambda: True,
    continued: bool = False,
    within_ms: Sequence[int] = (),
) -> Forecast:
    """Return when each pending workload starts, from a number of simulated futures.

    The same world, seed and number of futures give the same forecast. `go_on` is
    asked at every instant of a future; after its no, those that came to their end
    count, and the forecast says how many. With `continued` arrivals go on as they
    came. `within_ms` are further times to give the chance of. Raises SchedulerError
    when no future came to its end, or when the stack has no Kueue. Cost: `futures`
    copies, each run to `horizon_ms` or until all that waits has started.
    """
    check_futures(futures)
    present = present_of(world, continued=continued)
    numbers = range(futures if waiting(world) else 0)
    found = futures_of(present, numbers, seed=seed, horizon_ms=horizon_ms, go_on=go_on)
    return forecast_from(
        present,
        some_of(found) if numbers else [],
        asked=futures,
        seed=seed,
        horizon_ms=horizon_ms,
        within=within_ms,
    )


def futures_of(
    present: ForecastWorld,
    numbers: Iterable[int],
    *,
    seed: int,
    horizon_ms: int,
    go_on: Callable[[], bool] = lambda: True,
) -> list[Future]:
    """Return the futures of these numbers that came to their end.

    A future is the same whoever runs it, and beside whichever others.
    """
    one = partial(_one, present, waiting(present.world), seed, horizon_ms)
    return run_futures(numbers, one, go_on)


def forecast_from(
    present: ForecastWorld,
    found: Sequence[Future],
    *,
    asked: int,
    seed: int,
    horizon_ms: int,
    within: Sequence[int] = (),
) -> Forecast:
    """Return the forecast that some futures come to."""
    world = present.world
    begin, waits = world.context.now_ms, last_waits_of(world)
    return Forecast(
        **basis_of(present, seed),
        asked=asked,
        futures=len(found),
        horizon_ms=horizon_ms,
        starts=[
            start_forecast(
                str(key),
                str(world.objects[key].spec.get("queueName") or ""),
                [one.starts[key] - begin for one in found if key in one.starts],
                futures=len(found),
                horizon_ms=horizon_ms,
                basis=present.known[key].step,
                within_ms=within,
                baselines=baselines_of(world, key, waits),
            )
            for key in waiting(world)
        ],
        curves=bands_of(curves_of(world), [one.levels for one in found], horizon_ms),
    )


def basis_of(present: ForecastWorld, seed: int) -> dict[str, Any]:
    """Return the fields of a forecast that say what it begins from and rests on."""
    coming = present.coming
    return {
        "tick": present.world.tick,
        "now_ms": present.world.context.now_ms,
        "seed": str(seed),
        "finished": present.finished,
        "arrivals": "known" if coming is None else "continued",
        "came": 0 if coming is None else coming.batches,
        "enough": present.enough,
    }


def check_futures(futures: int) -> None:
    """Raise SchedulerError for no futures."""
    if futures < 1:
        raise SchedulerError(expected(Wanted.FUTURE, given=futures))


def some_of(found: Sequence[T]) -> Sequence[T]:
    """Return the futures that ended. Raises SchedulerError where none did."""
    if not found:
        raise SchedulerError(RequestProblem.NO_END.said())
    return found


def run_futures(
    numbers: Iterable[int], one: Callable[[int, Check], T], go_on: Callable[[], bool]
) -> list[T]:
    """Return the futures that came to their end before `go_on` said no."""

    def check(_: Sequence[Decision] = ()) -> None:
        if not go_on():
            raise _TimeIsUpError

    found: list[T] = []
    with suppress(_TimeIsUpError):
        for number in numbers:
            check()
            with gc_paused():
                future = one(number, check)
            found.append(future)
    return found


def _one(
    present: ForecastWorld,
    wanted: Sequence[Key],
    seed: int,
    horizon_ms: int,
    number: int,
    check: Check,
) -> Future:
    """Return what comes of one future until all of `wanted` are admitted."""
    until = present.world.context.now_ms + horizon_ms
    copy = future_of(present, random_of(present, number, seed), until)
    return played(copy, wanted, horizon_ms, check)
