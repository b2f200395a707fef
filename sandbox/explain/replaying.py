"""A window of a twin under its policy and under a changed one, run on copies."""

from __future__ import annotations

import time
from collections.abc import Callable

from sandbox.base.absences import NotTaken
from sandbox.base.errors import ConflictError, InvalidError
from sandbox.base.refusals import Refused
from sandbox.models import Event, Sandbox
from sandbox.twins import ticks as twins
from sandbox.world import history, lineage
from scheduler.analysis.explain.changes import apply
from scheduler.analysis.explain.shapes import Change
from scheduler.analysis.forecast.workloads import waits
from scheduler.analysis.incident import (
    IncidentReplay,
    Window,
    compared,
    owner_name,
    replay,
    window_work,
)
from scheduler.engine.world import fork
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import RequestProblem
from scheduler.recorded.twin.going_on import go_on


def replay_incident(
    sandbox: Sandbox, from_tick: int, to_tick: int, change: Change, *, seconds: float
) -> IncidentReplay:
    """Return what the change would have come to between two ticks of a twin.

    What arrived and how long it ran is what really did. Nothing is kept. Raises
    ConflictError for a sandbox that shows no real cluster, InvalidError for no window,
    SchedulerError for a change that cannot be made or when the seconds are over.
    """
    if not sandbox.is_real:
        raise ConflictError(Refused.NO_REPLAY.said())
    if from_tick >= to_tick:
        raise InvalidError(NotTaken.WINDOW.said(start=from_tick, end=to_tick))
    revision = history.revision_at(sandbox, from_tick)
    last = history.revision_at(sandbox, to_tick)
    seen = history.world_at(sandbox, revision)
    world = go_on(seen, twins.after(sandbox, revision))
    begin, until = seen.context.now_ms, to_tick * sandbox.tick_ms
    check = _until(time.monotonic() + seconds)
    other = fork(world)
    apply(other, change)
    same, changed = replay(world, until, check), replay(other, until, check)
    waited = [key for key, obj in seen.objects.items() if waits(obj)]
    end = history.world_at(sandbox, last)
    there = window_work(end, begin, until, waited)
    starts, preempted = _decided(sandbox, revision, last)
    real = Window(
        work={
            owner_name(obj): (queue, came, starts.get(str(obj.key)))
            for obj, queue, came in there
        },
        preemptions=preempted,
    )
    return compared(real, same, changed, from_ms=begin, to_ms=until)


def _until(deadline: float) -> Callable[[], None]:
    def check() -> None:
        if time.monotonic() > deadline:
            raise SchedulerError(RequestProblem.WINDOW.said())

    return check


def _decided(sandbox: Sandbox, after: int, upto: int) -> tuple[dict[str, int], int]:
    """Return the first admission (ms) of each Workload, and how many were preempted."""
    known = lineage.rows(Event, sandbox, upto, whole=True)
    decided = known.filter(revision__gt=after, type__in=("Admit", "Preempt"))
    rows = decided.order_by("revision", "seq")
    starts: dict[str, int] = {}
    preempted = 0
    for kind, subject, at in rows.values_list("type", "subject", "t_ms"):
        if kind == "Admit":
            starts.setdefault(subject, at)
        preempted += kind == "Preempt"
    return starts, preempted
