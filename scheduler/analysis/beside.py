"""What a stop of a lesson runs side by side: the same moment under other policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scheduler.analysis.expectations import Verdict, judge_all
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.model import durations
from scheduler.model.patches import merge
from scheduler.model.policy import read_policy
from scheduler.model.scenario import Beside, Checkpoint, ScenarioSpec


class Side(NamedTuple):
    """One of them, run to its end."""

    stop: Checkpoint
    beside: Beside
    world: World
    verdicts: list[Verdict]


def run_beside(world: World, spec: ScenarioSpec) -> Iterator[Side]:
    """Run every side of every stop, on copies of a world at its beginning.

    Raises PolicyError for an invalid policy. A run per stop and side.
    """
    for stop in spec.checkpoints:
        for beside in stop.beside:
            yield _run(fork(world), spec, stop, beside)


def _run(world: World, spec: ScenarioSpec, stop: Checkpoint, beside: Beside) -> Side:
    simulate(world, until_ms=durations.span_ms(stop.at))
    given = merge(world.header().policy["spec"], beside.policy)
    world.set_policy(read_policy({"spec": given}))
    world.take()
    until = durations.span_ms(stop.until or spec.horizon)
    decisions = simulate(world, until_ms=until).decisions
    return Side(stop, beside, world, judge_all(beside.expect, decisions))
