"""What a world knows at the instant of a forecast, and one future of it.

A future is a copy of the world in which work ends when similar finished work did, run
by the world's own engine. Arrivals are those that the world knows; with `coming` they
go on as they came.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from scheduler.analysis.forecast.coming import (
    LEAST_BATCHES,
    FittedArrivals,
    arriving,
    fit,
)
from scheduler.analysis.forecast.curves import (
    LEAST,
    Level,
    curves_of,
    instants,
    level_of,
)
from scheduler.analysis.forecast.futures import Draws
from scheduler.analysis.forecast.run_times import RunTime, RunTimes
from scheduler.analysis.forecast.workloads import (
    elapsed_ms,
    finished_job_ms,
    finished_run_ms,
    jobs_with_workloads,
    waits,
    work_of,
)
from scheduler.engine.forking import fork
from scheduler.engine.lifetime.runs import Due
from scheduler.engine.simulation import simulate
from scheduler.engine.world import World
from scheduler.model import streams
from scheduler.model.annotations import RUNTIME
from scheduler.model.decisions import Admit, Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.problems import RequestProblem

#: With fewer finished workloads a forecast says "not enough history".
LEAST_FINISHED = 5
#: Then all run times of one future are off by one factor: at most this, or 1 by this.
MOST_OFF = 4.0

Starts = dict[Key, int]


class Future(NamedTuple):
    """What came of one future."""

    starts: Starts  # when (ms) workloads were admitted
    levels: Sequence[Level] = ()  # of `curves_of` its world, at the first instants


Check = Callable[[Sequence[Decision]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastWorld:
    """A world, and what is known of the run times of what is open in it."""

    world: World
    history: RunTimes
    finished: int
    known: Mapping[Key, RunTime]
    coming: FittedArrivals | None

    @property
    def enough(self) -> bool:
        """Return whether there is history to go by."""
        few = self.coming is not None and self.coming.batches < LEAST_BATCHES
        return self.finished >= LEAST_FINISHED and not few


def present_of(world: World, *, continued: bool) -> ForecastWorld:
    """Return the present state of `world`. Raises SchedulerError for a stack without Kueue."""
    check_stack(world.policy.spec.stack)
    world.freshen()
    history, finished = _history(world)
    return ForecastWorld(
        world=world,
        history=history,
        finished=finished,
        known={key: _run_time(world, history, key) for key in _open(world)},
        coming=fit(world) if continued else None,
    )


def check_stack(stack: str) -> None:
    """Raise SchedulerError for a stack without Kueue."""
    if stack != "kueue":
        raise SchedulerError(RequestProblem.WITHOUT_KUEUE.said(stack=stack))


def waiting(world: World) -> list[Key]:
    """Return the Workloads that have come and wait to be admitted."""
    return sorted(
        key
        for key, obj in world.objects.items()
        if waits(obj) and not world.lifetime.waits(key)
    )


def _history(world: World) -> tuple[RunTimes, int]:
    """Return the run times of what finished, oldest first, and of what runs.

    A Job of a dump that was over when it was read counts, too, where its Workload is
    not in the dump.
    """
    history, ended = RunTimes(), []
    queued = jobs_with_workloads(world)
    for ident, (key, obj) in enumerate(sorted(world.objects.items())):
        if key.kind == "Job" and (key.namespace, obj.uid) not in queued:
            if (over := finished_job_ms(world, obj)) is not None:
                ended.append((*over, ident, key))
            continue
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
    """Yield the Workloads whose run time is not known yet, and the jobs to come."""
    for key, obj in sorted(world.objects.items()):
        if key.kind == "Workload":
            if waits(obj) or elapsed_ms(world, key) is not None:
                yield key
        elif world.lifetime.waits(key) and RUNTIME in obj.annotations:
            yield key


def _run_time(world: World, history: RunTimes, key: Key) -> RunTime:
    elapsed = elapsed_ms(world, key) or 0
    work = work_of(world, world.objects[key])
    return history.given(work, world.context.now_ms, elapsed)


def random_of(present: ForecastWorld, number: int, seed: int) -> Random:
    """Return the random stream of one future: the same number gives the same future."""
    now = str(present.world.context.now_ms)
    return Random(streams.bits(seed, "forecast", now, number))


def future_of(present: ForecastWorld, random: Random, until_ms: int) -> World:
    """Return a copy of the world with the run times and arrivals of one future."""
    draws, copy = Draws(random), fork(present.world)
    factor = _factor(present, random)
    for key, run_time in present.known.items():
        _give(copy, key, round(draws.draw(run_time) * factor))
    if present.coming is not None:
        _let_come(present, copy, draws, factor, until_ms)
    return copy


def _factor(present: ForecastWorld, random: Random) -> float:
    """Return by how much what little is known of run times may be off."""
    if present.finished >= LEAST_FINISHED:
        return 1.0
    return math.exp(random.uniform(-1.0, 1.0) * math.log(MOST_OFF))


def _let_come(
    present: ForecastWorld, copy: World, draws: Draws, factor: float, until_ms: int
) -> None:
    assert present.coming is not None
    world = present.world
    for number, (at, like) in enumerate(present.coming.future(draws.random, until_ms)):
        run_time = present.history.given(
            work_of(world, world.objects[like]), world.context.now_ms
        )
        length = max(round(draws.draw(run_time) * factor), 1)
        name = f"forecast-arrival-{number}"
        copy.put(arriving(world.objects[like], name, at, length))


def starts_in(
    copy: World, wanted: Sequence[Key], until_ms: int, check: Check
) -> Starts:
    """Run a future until all of `wanted` are admitted; return when (ms) each is."""
    awaited = _Awaited(wanted)
    simulate(copy, until_ms=until_ms, stop=awaited.ends, hear=check)
    return awaited.starts


def played(copy: World, wanted: Sequence[Key], horizon_ms: int, check: Check) -> Future:
    """Run a future until all of `wanted` are admitted, and look at it on the way.

    It goes on for a part of its horizon even where all are admitted sooner, so that
    its curves show something.
    """
    begin = copy.context.now_ms
    awaited = _Awaited(wanted, least_ms=begin + horizon_ms // LEAST)
    curves, levels = curves_of(copy), []
    for at in instants(horizon_ms):
        simulate(copy, until_ms=begin + at, stop=awaited.ends, hear=check)
        if not awaited.left and begin + at > awaited.least_ms:
            break
        levels.append(level_of(copy, curves))
    return Future(awaited.starts, levels)


class _Awaited:
    """Hears when workloads are first admitted; all are, and it is late enough: the end."""

    def __init__(self, wanted: Sequence[Key], least_ms: int = 0) -> None:
        self.starts: Starts = {}
        self.left = set(wanted)
        self.least_ms = least_ms

    def ends(self, decision: Decision) -> bool:
        if isinstance(decision, Admit) and decision.subject in self.left:
            self.starts[decision.subject] = decision.at_ms
            self.left.discard(decision.subject)
        return not self.left and decision.at_ms >= self.least_ms


def _give(copy: World, key: Key, length_ms: int) -> None:
    """Let a Workload take so long, from the readiness of its pods."""
    run = copy.lifetime.runs.get(key)
    if run is not None and run.active and run.ready_ms is not None:
        run.ends_ms = max(run.ready_ms + length_ms, copy.context.now_ms + 1)
        copy.lifetime.timers.add(run.ends_ms, Due.FINISH, key, run.attempt)
        return
    metadata = copy.objects[key].manifest["metadata"]
    given = metadata.get("annotations") or {}
    metadata["annotations"] = {**given, RUNTIME: f"{max(length_ms, 1)}ms"}
