"""Rounds: the pods of a Job with more completions than pods end, and others follow.

The rounds take equally long, one after another; the last one ends with the run.
"""

from __future__ import annotations

from scheduler.engine.lifetime.runs import Due, Rounds, Run
from scheduler.engine.lifetime.runtime_state import RuntimeState
from scheduler.model.objects import Object
from scheduler.model.spans import NEVER


class RunRounds(RuntimeState):
    """Counts the rounds of a run that are over, for the status of its Job.

    Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
    """

    def rounds_of(self, owner: Object, each_ms: int) -> Rounds | None:
        """Return the rounds of an owner before the first; None where none count."""
        if self.pods_end_alone or not 0 < each_ms < NEVER:
            return None
        pods = self.jobs.pods_of_round(owner)
        return Rounds(0, pods, each_ms) if pods else None

    def begin_rounds(self, run: Run, since_ms: int) -> None:
        """Count from here on: work goes on since `since_ms` with what was kept."""
        if (rounds := run.rounds) is None:
            return
        done = run.kept_ms + max(0, self.context.now_ms - since_ms)
        ended = done // rounds.each_ms
        next_ms = since_ms + (ended + 1) * rounds.each_ms - run.kept_ms
        self._go_on(run, rounds._replace(ended=ended, next_ms=next_ms))

    def _end_round(self, run: Run) -> None:
        """Count the round that is over now and begin the next one."""
        if (over := run.rounds) is None or over.next_ms is None:
            return
        next_ms = over.next_ms + over.each_ms
        self._go_on(run, over._replace(ended=over.ended + 1, next_ms=next_ms))
        self._touch(run.owner)

    def _go_on(self, run: Run, rounds: Rounds) -> None:
        """Wait for the end of a round, unless the run ends by then."""
        at = rounds.next_ms
        if at is None or run.ends_ms is None or at >= run.ends_ms:
            run.rounds = rounds._replace(next_ms=None)
            return
        run.rounds = rounds
        self.timers.add(at, Due.ROUND, run.owner, run.attempt)

    def _lose_rounds(self, run: Run) -> None:
        """Keep of the rounds what checkpoints kept: the others are done again."""
        if (rounds := run.rounds) is not None:
            kept = min(rounds.ended, run.kept_ms // rounds.each_ms)
            run.rounds = rounds._replace(ended=kept, next_ms=None)

    def round_length(self, owner: Object) -> int | None:
        """Return how long one round of its pods takes; None for until it is stopped."""
        timing = self.timing(owner)
        if timing.runtime is not None:
            return timing.runtime.draw(self.context.seed, "runtime", str(owner.key))
        if timing.recreate or self.jobs.serves(owner):
            return None
        return self.default_runtime_ms
