"""Forecasts of a world: its own engine runs many futures of it.

Each future is a copy of the world in which work ends when similar finished work did.
Arrivals are those that the world knows; nothing else comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from scheduler import streams
from scheduler.decisions import Admit, Decision
from scheduler.errors import SchedulerError
from scheduler.explain.fork import fork, freshen
from scheduler.forecast.futures import Draws
from scheduler.forecast.run_times import RunTime, RunTimes
from scheduler.forecast.starts import Forecast, start_forecast
from scheduler.forecast.workloads import elapsed_ms, finished_run_ms, waits, work_of
from scheduler.lifetime.runs import Due
from scheduler.records.annotations import RUNTIME
from scheduler.records.objects import Key
from scheduler.simulation import simulate
from scheduler.world import World

#: With fewer finished workloads a forecast says "not enough history".
LEAST_FINISHED = 5


class _TimeIsUpError(Exception):
    """A future was given up before its end."""


def forecast(
    world: World,
    *,
    futures: int,
    seed: int,
    horizon_ms: int,
    go_on: Callable[[], bool] = lambda: True,
) -> Forecast:
    """Return when each waiting workload starts, from so many futures of copies.

    The same world, seed and number of futures give the same forecast. `go_on` is
    asked at every instant of a future; after its no, those that came to their end
    count, and the forecast says how many. Raises SchedulerError when none did, or
    when the stack has no Kueue. Cost: `futures` copies, each run to `horizon_ms` or
    until all that waits has started.
    """
    _check(world, futures)
    freshen(world)
    history, finished = _history(world)
    wanted = sorted(key for key, obj in world.objects.items() if waits(obj))
    known = {key: _run_time(world, history, key) for key in _open(world)}
    found = _futures(world, known, wanted, futures, seed, horizon_ms, go_on)
    begin = world.context.now_ms
    return Forecast(
        tick=world.tick,
        now_ms=begin,
        seed=str(seed),
        asked=futures,
        futures=len(found),
        horizon_ms=horizon_ms,
        finished=finished,
        enough=finished >= LEAST_FINISHED,
        starts=[
            start_forecast(
                str(key),
                str(world.objects[key].spec.get("queueName") or ""),
                [one[key] - begin for one in found if key in one],
                futures=len(found),
                horizon_ms=horizon_ms,
                basis=known[key].step,
            )
            for key in wanted
        ],
    )


def _check(world: World, futures: int) -> None:
    if futures < 1:
        raise SchedulerError(f"expected at least 1 future, got {futures}")
    if world.kueue is None:
        stack = world.policy.spec.stack
        raise SchedulerError(
            f"stack {stack} runs without Kueue; workloads are forecast"
        )


def _history(world: World) -> tuple[RunTimes, int]:
    """Return the run times of what finished, oldest first, and of what runs."""
    history, ended = RunTimes(), []
    for ident, (key, obj) in enumerate(sorted(world.objects.items())):
        if key.kind != "Workload":
            continue
        if (found := finished_run_ms(world, obj)) is not None:
            ended.append((*found, ident, key))
        elif (elapsed := elapsed_ms(world, key)) is not None:
            history.begin(work_of(world, obj), world.context.now_ms - elapsed)
    for _, run, _, key in sorted(ended):
        history.add(work_of(world, world.objects[key]), run)
    return history, len(ended)


def _open(world: World) -> Iterator[Key]:
    """Yield the Workloads whose run time is not known yet."""
    for key, obj in sorted(world.objects.items()):
        if key.kind == "Workload" and (
            waits(obj) or elapsed_ms(world, key) is not None
        ):
            yield key


def _run_time(world: World, history: RunTimes, key: Key) -> RunTime:
    elapsed = elapsed_ms(world, key) or 0
    work = work_of(world, world.objects[key])
    return history.given(work, world.context.now_ms, elapsed)


def _futures(
    world: World,
    known: dict[Key, RunTime],
    wanted: list[Key],
    futures: int,
    seed: int,
    horizon_ms: int,
    go_on: Callable[[], bool],
) -> list[dict[Key, int]]:
    """Return the futures that came to their end; at least one, if anything waits."""

    def check(_: Sequence[Decision] = ()) -> None:
        if not go_on():
            raise _TimeIsUpError

    found: list[dict[Key, int]] = []
    try:
        for number in range(futures if wanted else 0):
            check()
            found.append(_one(world, known, wanted, number, seed, horizon_ms, check))
    except _TimeIsUpError:
        if not found:
            raise SchedulerError(
                "no future came to its end in the time given; "
                "give more time, or a shorter horizon"
            ) from None
    return found


def _one(
    world: World,
    known: dict[Key, RunTime],
    wanted: list[Key],
    number: int,
    seed: int,
    horizon_ms: int,
    check: Callable[[Sequence[Decision]], None],
) -> dict[Key, int]:
    """Return when each of `wanted` is admitted (ms) in one future, as far as it is."""
    random = Random(streams.bits(seed, "forecast", str(world.context.now_ms), number))
    draws = Draws(random)
    copy = fork(world)
    for key, run_time in known.items():
        _give(copy, key, draws.draw(run_time))
    starts: dict[Key, int] = {}
    left = set(wanted)

    def started(decision: Decision) -> bool:
        if isinstance(decision, Admit) and decision.subject in left:
            starts[decision.subject] = decision.at_ms
            left.discard(decision.subject)
        return not left

    simulate(copy, until_ms=world.context.now_ms + horizon_ms, stop=started, hear=check)
    return starts


def _give(copy: World, key: Key, length_ms: int) -> None:
    """Let a Workload take so long, from the readiness of its pods."""
    run = copy.lifetime.runs.get(key)
    if run is not None and run.active and run.ready_ms is not None:
        run.ends_ms = run.ready_ms + length_ms
        copy.lifetime.timers.add(run.ends_ms, Due.FINISH, key, run.attempt)
        return
    metadata = copy.objects[key].manifest["metadata"]
    given = metadata.get("annotations") or {}
    metadata["annotations"] = {**given, RUNTIME: f"{length_ms}ms"}
