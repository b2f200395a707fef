"""Who moved inside a queue, for who shows the queue: without looking at everyone."""

from __future__ import annotations

from scheduler.engine.kueue.workload.equivalence_class import EquivalenceClass
from scheduler.engine.kueue.workload.info import WorkloadInfo


class Moves:
    """What changed in a queue since `take`: workloads one by one, and whole classes.

    A workload that left is not in it, so it holds no more than those who wait.
    """

    __slots__ = ("classes", "preemptor", "works")

    def __init__(self) -> None:
        self.works: dict[WorkloadInfo, None] = {}
        # Class -> whether it was inadmissible at the last `take`.
        self.classes: dict[EquivalenceClass, bool] = {}
        self.preemptor: WorkloadInfo | None = None  # at the last `take`

    def note(self, work: WorkloadInfo) -> None:
        """Note that a workload was put into the queue, or aside."""
        self.works[work] = None

    def forget(self, work: WorkloadInfo) -> None:
        """Note that a workload is out of the queue."""
        self.works.pop(work, None)

    def note_class(self, members: EquivalenceClass) -> None:
        """Note that a class is about to change between pending and inadmissible."""
        self.classes.setdefault(members, members.inadmissible)

    def forget_class(self, members: EquivalenceClass) -> None:
        """Note that a class has no members any longer."""
        self.classes.pop(members, None)

    def take(self, preemptor: WorkloadInfo | None) -> list[WorkloadInfo]:
        """Return the Workloads that moved since the last call, and clear them."""
        moved = self.works
        for members, before in self.classes.items():
            if members.inadmissible != before:
                moved.update(dict.fromkeys(members.workloads()))
        if preemptor is not self.preemptor:
            moved.update(dict.fromkeys(filter(None, (self.preemptor, preemptor))))
            self.preemptor = preemptor
        self.works, self.classes = {}, {}
        return list(moved)
