"""The run of a Workload that a worker cluster runs: no pods, no end of its own.

What the worker's run does is written into the manager's, so that readiness, work
that is kept or lost, and the end are those of the copy.
Source: docs/semantics/kueue-multikueue.md#what-becomes-of-a-copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.engine.lifetime.pods import owner_key
from scheduler.engine.lifetime.runs import Run
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model.objects import Key

if TYPE_CHECKING:
    from scheduler.engine.lifetime.stage import Lifetime


def follow(lifetime: Lifetime, key: Key, theirs: Run) -> None:
    """Let the manager's run stand where the copy's does."""
    run = lifetime.runs.get(key)
    if run is None or not run.active:
        return
    mine = run.ready_ms, run.kept_ms, run.lost_ms, run.counted_ms
    other = theirs.ready_ms, theirs.kept_ms, theirs.lost_ms, theirs.counted_ms
    if mine != other:
        run.ready_ms, run.kept_ms, run.lost_ms, run.counted_ms = other
        _touch(lifetime, key)


def lose_sight(lifetime: Lifetime, key: Key, since_ms: int) -> None:
    """Take back the work that a cluster did since it was not reached any longer."""
    run = lifetime.runs.get(key)
    if run is not None and run.active and run.ready_ms is not None:
        run.ready_ms += lifetime.context.now_ms - since_ms
        _touch(lifetime, key)


def end(
    lifetime: Lifetime, key: Key, theirs: Run | None, reason: str, message: str
) -> None:
    """Finish a Workload, its run and its job as the copy was finished."""
    run = lifetime.run_of(key)
    run.active, run.done = False, True
    run.step = run.seen_ms = None
    run.waiting.clear()
    run.ends_ms = lifetime.context.now_ms
    if theirs is not None:
        run.failed, run.overran = theirs.failed, theirs.overran
    if lifetime.host.kueue is not None:
        lifetime.host.kueue.finish(key, message, reason)
    job = _touch(lifetime, key)
    lifetime.job_stage.controllers.changed(job or key)


def _touch(lifetime: Lifetime, key: Key) -> Key | None:
    """Note a change of a run; return the job whose status shows it."""
    lifetime.context.journal.touch(key)
    job = owner_key(lifetime.host.objects[key], frozenset(JOB_KINDS))
    if job is None or job not in lifetime.host.objects:
        return None
    lifetime.context.journal.touch(job)
    return job
