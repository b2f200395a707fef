"""What the engine decides from a state: a few admission cycles, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.stage import Context
from scheduler.model.decisions import Admit, Decision, Preempt
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, Object
from scheduler.recorded.shadow.decisions import Parts, parts_of


@dataclass(slots=True)
class Decided:
    """What one cycle decided."""

    admitted: dict[Key, tuple[str, Parts]] = field(default_factory=dict)
    preempted: dict[Key, dict[Key, str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.admitted or self.preempted)


def cycles(
    objects: Iterable[Object], settings: Settings, at_us: int, most: int
) -> Iterator[Decided]:
    """Yield what each cycle decides, until there are no heads or `most` are over.

    Victims keep their quota, as they do until their pods are gone. Cost: that of
    loading the objects, and of the cycles taken.
    """
    stage = KueueStage(Context(seed=0, epoch_us=at_us), settings)
    for obj in objects:
        stage.put(obj)
    stage.settle()
    stage.requeue_inadmissible()
    stage.context.journal.take_decisions()
    for _ in range(most):
        if not stage.cycle():
            return
        stage.reconcile()
        yield _decided(stage.context.journal.take_decisions())


def _decided(decisions: Iterable[Decision]) -> Decided:
    found = Decided()
    for one in decisions:
        if isinstance(one, Admit):
            found.admitted[one.subject] = (one.queue, parts_of(one.pod_sets))
        elif isinstance(one, Preempt) and one.by is not None:
            found.preempted.setdefault(one.by, {})[one.subject] = one.reason
    return found
