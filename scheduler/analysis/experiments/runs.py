"""One run: a world of one variant and seed, to its horizon, in numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from scheduler.analysis.experiments.bases import RunBase
from scheduler.analysis.experiments.document import ExperimentSpec, Variant, seeds_of
from scheduler.analysis.experiments.variants import variants_of
from scheduler.analysis.measures import Measures, Summary
from scheduler.engine.tick import advance, next_instant
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import gc_paused
from scheduler.model import durations
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.sentence import Sentence


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run: every variant with every seed, all to one horizon."""

    variants: list[Variant]
    seeds: list[int]
    horizon_ms: int  # from the base's time on
    limit_ms: int

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield (index of the variant, seed); the first seed of each come first."""
        for seed in self.seeds:
            for variant in range(len(self.variants)):
                yield variant, seed


class Result(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one run came to. Equal runs give equal results, wherever they ran."""

    hash: str  # of the world at `tick`
    tick: int  # the last one that was begun
    end_ms: int
    settled: bool  # nothing more would happen by itself
    summary: Summary
    problems: list[Sentence]


class CancelledError(SchedulerError):
    """Somebody asked for the run to be given up."""


def plan(spec: ExperimentSpec, base: RunBase) -> Plan:
    """Return what the experiment runs. Raises ExperimentError."""
    horizon_ms, limit_ms = plan_times(spec, base)
    return Plan(
        variants=variants_of(spec),
        seeds=seeds_of(spec, base.seed()),
        horizon_ms=horizon_ms,
        limit_ms=limit_ms,
    )


def plan_times(spec: ExperimentSpec, base: RunBase) -> tuple[int, int]:
    """Return (how far runs go, what "started within" means), in milliseconds."""
    horizon = durations.span_ms(spec.horizon) if spec.horizon else 0
    return horizon or base.horizon_ms(), durations.span_ms(spec.limit)


def run(
    base: RunBase,
    plan: Plan,
    variant: int,
    seed: int,
    *,
    keep_on: Callable[[], bool] = lambda: True,
    clock: Callable[[], float] | None = None,
) -> Result:
    """Run one variant with one seed.

    `keep_on` is asked at every instant; False ends the run with
    CancelledError. `clock` returns seconds of the machine and adds the
    scheduling time to the summary, the one number that differs between runs.
    """
    with gc_paused():
        return _run(base, plan, variant, seed, keep_on, clock)


def _run(
    base: RunBase,
    plan: Plan,
    variant: int,
    seed: int,
    keep_on: Callable[[], bool],
    clock: Callable[[], float] | None,
) -> Result:
    world = base.world(plan.variants[variant], seed)
    until_ms = world.context.now_ms + plan.horizon_ms
    measures = Measures(world, limit_ms=plan.limit_ms, until_ms=until_ms)
    began = clock() if clock is not None else 0.0
    settled = run_until(world, until_ms, hear=measures.observe, keep_on=keep_on)
    spent = (clock() - began) * 1000 if clock is not None else None
    return Result(
        hash=world.hash(),
        tick=world.tick,
        end_ms=world.context.now_ms,
        settled=settled,
        summary=measures.summary(scheduling_ms=spent),
        problems=world.problems(),
    )


def run_until(
    world: World,
    until_ms: int,
    *,
    hear: Callable[[list[Decision]], None] = lambda _: None,
    keep_on: Callable[[], bool] = lambda: True,
) -> bool:
    """Advance to the end of the tick of `until_ms`, or to quiet; return which.

    The world then stands where ticks would have brought it, at the end of the
    last one in which something happened.
    """
    begin_ms, begin_tick = world.context.now_ms, world.tick
    tick_ms = world.policy.spec.simulation.tick_ms

    def ticks(now_ms: int) -> int:
        return -(-(now_ms - begin_ms) // tick_ms)

    last_ms = begin_ms + ticks(until_ms) * tick_ms
    at = next_instant(world)
    while at is not None and at <= last_ms:
        if not keep_on():
            raise CancelledError("the run was given up")
        at = advance(world, max(at, world.context.now_ms), at)
        hear(world.context.journal.take_decisions())
    settled = at is None
    made = ticks(world.context.now_ms if settled else last_ms)
    advance(world, begin_ms + made * tick_ms)
    world.tick = begin_tick + made
    return settled


def world_at(base: RunBase, plan: Plan, variant: int, seed: int, tick: int) -> World:
    """Return the world of a run at a tick: the run again, up to there."""
    world = base.world(plan.variants[variant], seed)
    tick_ms = world.policy.spec.simulation.tick_ms
    if (ahead := tick - world.tick) > 0:
        until_ms = world.context.now_ms + ahead * tick_ms
        run_until(world, until_ms)
        advance(world, until_ms)  # when it was quiet before
        world.tick = tick
    world.take()
    return world
