"""What a random run says: all of a transcript, and what drivers and views ask of a stage."""

from __future__ import annotations

from typing import Any

from scheduler.kueue.workload.local_queue import LocalQueue
from tests.scheduler.kueue.transcripts.transcript import Objects, Transcript


class Said(Transcript):
    """The lines so far of one run; what is nowhere stored is among them."""

    def note(self, objects: Objects) -> None:
        super().note(objects)
        stage = self.stage
        self.say("asked", stage.has_heads(), stage.blocked, stage.stopping())
        self.say("moved", self._moved())
        queues = stage.cluster.local_queues.items()
        self.say("counted", [_counts(key, queue) for key, queue in sorted(queues)])

    def _moved(self) -> dict[str, list[str]]:
        """Return who is elsewhere in each queue than at the last look."""
        queues = self.stage.cluster.forest.queues
        moved = {
            name: sorted(str(work.key) for work in queues[name].pending.take_moved())
            for name in sorted(queues)
        }
        return {name: works for name, works in moved.items() if works}

    def close(self, objects: Objects) -> None:
        super().close(objects)
        stage = self.stage
        self.say("admitted", sorted(stage.admitted()))
        for key in sorted(stage.cluster.workloads):
            work = stage.cluster.workloads[key]
            answers = [stage.answers.answers_at(work, name) for name in work.checks]
            if answers:
                self.say("answers", str(key), answers)
        self.say("problems", stage.context.journal.problems)


def _counts(key: tuple[str, str], queue: LocalQueue) -> list[Any]:
    usage = sorted((str(kind), amount) for kind, amount in queue.usage.items())
    return [*key, queue.pending, queue.reserving, queue.admitted, usage]
