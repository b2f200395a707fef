"""Who stays at the head of its queue, because victims end for it."""

from __future__ import annotations

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.status_records import Condition
from scheduler.model.objects import Key
from scheduler.model.reasons import (
    EVICTED,
    PENDING_PREEMPTION,
    PREEMPTED,
    PREEMPTOR_UID,
    QUOTA_RESERVED,
    WAITING_FOR_PREEMPTED,
)


class Preemptors:
    """Finds the preemptor of ClusterQueues that were restored or came with workloads.

    Source: docs/semantics/kueue.md#sticky-preemptor.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.restored: dict[str, Key] = {}  # ClusterQueue -> its preemptor
        self.came_waiting: list[WorkloadInfo] = []  # new, and victims end for them

    def note(self, work: WorkloadInfo) -> None:
        """Note a workload that is new, if it says that it waits for its victims."""
        reserved = work.conditions.get(QUOTA_RESERVED)
        if reserved is not None and self._waits_for_victims(reserved):
            self.came_waiting.append(work)

    def _waits_for_victims(self, reserved: Condition) -> bool:
        if self.cluster.settings.gates.fine_reasons:
            return reserved.reason == WAITING_FOR_PREEMPTED
        return not reserved.status and PENDING_PREEMPTION in reserved.message

    def settle(self) -> None:
        """Put the preemptors that were restored or noted at the heads of their queues."""
        self._restore()
        if self.came_waiting:
            self._take_over()
            self.came_waiting.clear()

    def _restore(self) -> None:
        for name, key in self.restored.items():
            queue = self.cluster.forest.queues.get(name)
            work = self.cluster.workloads.get(key)
            if (
                queue is not None
                and work is not None
                and work.pending_queue is queue.pending
            ):
                queue.pending.preemptor = work
        self.restored.clear()

    def _take_over(self) -> None:
        """Keep whoever preempted last at the head of its queue.

        A workload that comes from a running cluster says that it waits for its
        victims; only the latest of a ClusterQueue is its preemptor.
        """
        since = self._last_victims()
        for work in sorted(self.came_waiting, key=lambda w: since.get(w.uid, 0)):
            pending = work.pending_queue
            queue = self.cluster.cluster_queue_of(work)
            if pending is None or queue is None:
                continue
            if self.cluster.strategy(queue).sticky and not pending.is_inadmissible(
                work
            ):
                pending.preemptor = work

    def _last_victims(self) -> dict[str, int]:
        """Return UID of a preemptor -> when its last victim was evicted."""
        found: dict[str, int] = {}
        for work in self.cluster.workloads.values():
            evicted = work.conditions.get(EVICTED)
            named = evicted and PREEMPTOR_UID.search(evicted.message)
            if evicted and named and evicted.reason == PREEMPTED:
                found[named[1]] = max(found.get(named[1], 0), evicted.since_us)
        return found
