"""What a random run says: all of a transcript, and what drivers and views ask of a stage."""

from __future__ import annotations

from typing import Any

from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.workload.info import LocalQueue
from scheduler.model.objects import Key
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

    def _next(self) -> Key | None:
        """Trace one of those that are tried next, each in its turn."""
        queues = self.stage.cluster.forest.queues
        heads = [queues[name].pending.head() for name in sorted(queues)]
        keys = [work.key for work in heads if work is not None]
        self._cycle += 1
        return keys[self._cycle % len(keys)] if keys else None

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
        self.say("places", places_used(stage))
        self.say(
            "problems",
            [str(one.said) for one in stage.context.journal.problems.values()],
        )


def places_used(stage: KueueStage) -> dict[str, Any]:
    """Return what workloads take of the leaves of each flavor."""
    trees = stage.cluster.topologies.trees
    return {
        name: sorted(
            [path, sorted((kind, amount) for kind, amount in used.items() if amount)]
            for path, used in trees[name].used.items()
            if any(used.values())
        )
        for name in sorted(trees)
    }


def _counts(key: tuple[str, str], queue: LocalQueue) -> list[Any]:
    usage = sorted((str(kind), amount) for kind, amount in queue.usage.items())
    return [*key, queue.pending, queue.reserving, queue.admitted, usage]
