"""Runs side by side: each is run again in memory, tick by tick, and reported like a sandbox."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.base.errors import ConflictError, NotFoundError
from sandbox.base.refusals import Absent, Refused
from sandbox.experiments.bases import base_of
from sandbox.experiments.work import plan_of
from sandbox.explain.comparing import MOST_POINTS, side_by_side
from sandbox.explain.comparing.branches import Branch, Happened, happened_in
from sandbox.explain.comparing.shapes import BranchLine, Comparison
from sandbox.models import Experiment, Run, Sandbox
from sandbox.page import diffs, rows
from sandbox.page.events import records_of
from sandbox.page.rows.tally import WorkloadTally
from scheduler.analysis.measures.lives import LifeReader
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.problems.library import plain_word

#: Somebody waits for a comparison, so it goes no further than this.
MOST_TICKS = 3_600


def compare_runs(
    experiment: Experiment,
    numbers: Sequence[int],
    to_tick: int | None = None,
    *,
    points: int = MOST_POINTS,
) -> Comparison:
    """Return what differs between two or more runs that ended, the first leading.

    Goes to the tick in which the last of them ended, or to MOST_TICKS after the
    base's. Cost: the runs once more. Raises NotFoundError and ConflictError.
    """
    runs = [_ended(experiment, number) for number in numbers]
    todo, base = plan_of(experiment.pk), base_of(experiment.pk)
    names = [todo.variants[run.variant].name for run in runs]
    worlds = [base.world(todo.variants[run.variant], run.seed) for run in runs]
    begin = worlds[0].tick
    wanted = max(run.result["tick"] for run in runs) if to_tick is None else to_tick
    end = min(max(begin, wanted), begin + MOST_TICKS)
    branches = []
    for run, name, world in zip(runs, names, worlds, strict=True):
        title = f"{name}, seed {run.seed}"
        branches.append(_branch(world, end, str(run.number), title))
    return side_by_side(branches, end, points=points)


def _ended(experiment: Experiment, number: int) -> Run:
    run = Run.objects.filter(experiment=experiment, number=number).first()
    if run is None:
        raise NotFoundError(Absent.RUN.said(run=number, total=experiment.total))
    if run.state != Run.DONE:
        raise ConflictError(
            Refused.RUN_STATE.said(run=number, state=plain_word(run.state))
        )
    return run


def _branch(world: World, end: int, number: str, title: str) -> Branch:
    begin_tick, begin_ms = world.tick, world.context.now_ms
    shown = Sandbox(title=title, stack=world.policy.spec.stack, seed=world.context.seed)
    page = rows.page_of(world, shown)
    tally, reader = WorkloadTally.of(page), LifeReader(world)
    since: list[Happened] = []
    samples = []
    while world.tick < end:
        run_tick(world)
        changes = world.take()
        reader.hear(changes.decisions, world)
        lines = records_of(changes.decisions)
        shown.tick, shown.now_ms = world.tick, world.context.now_ms
        diffs.apply(page, rows.delta_of(world, shown, page, tally, changes))
        samples.append(rows.sample_of(shown, page, tally, lines, changes.searched))
        since += happened_in(world.tick, lines)
    return Branch(
        line=BranchLine(
            id=number, title=title, branch=number, stack=shown.stack, tick=world.tick
        ),
        begin_tick=begin_tick,
        begin_ms=begin_ms,
        end_ms=world.context.now_ms,
        since=since,
        lives=reader.lives(world.context.now_ms, world),
        samples=samples,
    )
