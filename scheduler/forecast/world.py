"""Forecasts of a world: its own engine runs many futures of it.

Each future is a copy of the world in which work ends when similar finished work did.
Arrivals are those that the world knows; nothing else comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import msgspec

from scheduler import streams
from scheduler.decisions import Admit, Decision
from scheduler.errors import SchedulerError
from scheduler.explain.fork import fork, freshen
from scheduler.forecast.futures import Draws
from scheduler.forecast.run_times import RunTime, RunTimes
from scheduler.forecast.scores import quantiles
from scheduler.forecast.workloads import elapsed_ms, finished_run_ms, waits, work_of
from scheduler.lifetime.runs import Due
from scheduler.records.annotations import RUNTIME
from scheduler.records.objects import Key
from scheduler.simulation import simulate
from scheduler.world import World

WITHIN_MS = (60_000, 300_000, 900_000, 3_600_000)
#: With fewer finished workloads a forecast says "not enough history".
LEAST_FINISHED = 5
_BAND = (0.1, 0.5, 0.9)


class StartChance(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How likely it is that a workload starts within a time."""

    within_ms: int
    chance: float


class StartForecast(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When one workload starts, in virtual ms from now; None is beyond the horizon."""

    workload: str
    queue: str
    p10_ms: int | None
    p50_ms: int | None
    p90_ms: int | None
    chances: list[StartChance]
    basis: str  # which finished work its own run time is compared with


class Forecast(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When each waiting workload starts, and what that rests on."""

    tick: int
    now_ms: int
    seed: str
    futures: int
    horizon_ms: int
    finished: int  # workloads that run times are compared with
    enough: bool  # of them, to go by
    starts: list[StartForecast]


def forecast(world: World, *, futures: int, seed: int, horizon_ms: int) -> Forecast:
    """Return when each waiting workload starts, from so many futures of copies.

    The same world and seed give the same forecast. Raises SchedulerError when the
    stack has no Kueue. Cost: `futures` copies, each run to `horizon_ms` or until
    all that waits has started.
    """
    if world.kueue is None:
        stack = world.policy.spec.stack
        raise SchedulerError(
            f"stack {stack} runs without Kueue; workloads are forecast"
        )
    freshen(world)
    history, finished = _history(world)
    wanted = sorted(key for key, obj in world.objects.items() if waits(obj))
    known = {key: _run_time(world, history, key) for key in _open(world)}
    begin = world.context.now_ms
    starts: dict[Key, list[int]] = {key: [] for key in wanted}
    for number in range(futures if wanted else 0):
        for key, at in _one(world, known, wanted, number, seed, horizon_ms).items():
            starts[key].append(at - begin)
    return Forecast(
        tick=world.tick,
        now_ms=begin,
        seed=str(seed),
        futures=futures,
        horizon_ms=horizon_ms,
        finished=finished,
        enough=finished >= LEAST_FINISHED,
        starts=[
            _start(world, key, sorted(starts[key]), futures, known[key].step)
            for key in wanted
        ],
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


def _one(
    world: World,
    known: dict[Key, RunTime],
    wanted: list[Key],
    number: int,
    seed: int,
    horizon_ms: int,
) -> dict[Key, int]:
    """Return when each of `wanted` is admitted (ms) in one future, as far as it is."""
    random = Random(streams.bits(seed, "forecast", str(world.context.now_ms), number))
    draws = Draws(random)
    copy = fork(world)
    for key, run_time in known.items():
        _give(copy, key, draws.draw(run_time))
    starts: dict[Key, int] = {}
    left = set(wanted)

    def heard(decision: Decision) -> bool:
        if isinstance(decision, Admit) and decision.subject in left:
            starts[decision.subject] = decision.at_ms
            left.discard(decision.subject)
        return not left

    simulate(copy, until_ms=world.context.now_ms + horizon_ms, stop=heard)
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


def _start(
    world: World, key: Key, starts: list[int], futures: int, basis: str
) -> StartForecast:
    queue = str(world.objects[key].spec.get("queueName") or "")
    beyond = [float("inf")] * (futures - len(starts))
    low, middle, high = map(_whole, _quantiles([*map(float, starts), *beyond]))
    return StartForecast(
        workload=str(key),
        queue=queue,
        p10_ms=low,
        p50_ms=middle,
        p90_ms=high,
        chances=[
            StartChance(
                within_ms=within,
                chance=sum(at <= within for at in starts) / max(futures, 1),
            )
            for within in WITHIN_MS
        ],
        basis=basis,
    )


def _quantiles(ordered: list[float]) -> list[float]:
    """Return p10, p50, p90; infinite where the futures next to it are."""
    largest = 1e18
    capped = [min(value, largest) for value in ordered]
    return quantiles(capped, _BAND) if capped else [largest] * len(_BAND)


def _whole(value: float) -> int | None:
    return None if value > 1e14 else round(value)
