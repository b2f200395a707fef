"""What a stop costs: work since the last checkpoint, and the time to restart.

Work is counted while all pods of a run are ready. A checkpoint is taken each time
another interval of work is done; work that begins again first takes its restart
time and goes on from there. Without checkpoints everything is lost.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from scheduler.engine.lifetime.runs import Run
from scheduler.engine.stage import Context
from scheduler.model.annotations import Timing
from scheduler.model.decisions import Checkpoint, Decision
from scheduler.model.event_words import Befallen
from scheduler.model.objects import Key
from scheduler.model.policy import Simulation
from scheduler.model.sentence import Sentence
from scheduler.model.spans import NEVER, Span, read_span


class Checkpoints:
    """The defaults of the policy, and the arithmetic."""

    def __init__(self, context: Context, simulation: Simulation) -> None:
        self.context = context
        self.every = _span(simulation.checkpoint_every)
        self.restart = _span(simulation.restart_takes)

    def restart_ms(self, run: Run, timing: Timing) -> int:
        """Return how long work takes to begin again; 0 where none was lost before."""
        span = timing.restart_takes or self.restart
        begun = run.attempt > 1 or run.kept_ms or run.lost_ms
        if span is None or not begun:
            return 0
        return span.draw(self.context.seed, "restart", str(run.owner), run.attempt)

    def stop(
        self,
        run: Run,
        timing: Timing,
        since_ms: int,
        emit: Callable[[Decision], None],
        *,
        by: Key | None = None,
    ) -> None:
        """Count what a stop throws away of the time since `since_ms`.

        What checkpoints keep is reported; `by` is the pod that was lost. Where a
        Workload keeps its quota meanwhile, what is lost is reported as well.
        """
        now = self.context.now_ms
        kept = max(self._saved(run, timing), self._completed(run)) - run.kept_ms
        lost = now - max(since_ms, run.counted_ms or 0) - kept
        run.lost_ms += lost
        run.kept_ms += kept
        run.counted_ms = now if by is not None else None
        begins_again = by is not None and run.owner.kind == "Workload"
        if kept or (begins_again and lost):
            said = _sentence(kept, lost)
            emit(
                Checkpoint(
                    at_ms=now,
                    subject=run.owner,
                    by=by,
                    reason="Kept" if kept else "Lost",
                    message=said.text,
                    said=said,
                    kept_ms=kept,
                    lost_ms=lost,
                )
            )

    def _completed(self, run: Run) -> int:
        """Return the work of the pods that have completed: a Job counts them for good.

        Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
        """
        if run.rounds is None:
            return run.kept_ms
        return max(run.kept_ms, run.rounds.ended * run.rounds.each_ms)

    def _saved(self, run: Run, timing: Timing) -> int:
        """Return the work up to the last checkpoint, over all attempts."""
        span = timing.checkpoint_every or self.every
        if span is None or run.ready_ms is None:
            return run.kept_ms
        every = span.draw(self.context.seed, "checkpoint", str(run.owner))
        worked = self.context.now_ms - run.ready_ms - self.restart_ms(run, timing)
        if every >= NEVER or worked <= 0:
            return run.kept_ms
        total = run.kept_ms + worked
        return max(run.kept_ms, total - total % every if every else total)


def _sentence(kept: int, lost: int) -> Sentence:
    if kept:
        return Befallen.KEPT.said(long=kept / 1000)
    return Befallen.LOST.said(long=lost / 1000)


def _span(text: str | msgspec.UnsetType) -> Span | None:
    return None if isinstance(text, msgspec.UnsetType) else read_span(text)
