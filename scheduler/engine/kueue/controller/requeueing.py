"""Requeueing the inadmissible workloads of a tree, at once or collected for a while."""

from __future__ import annotations

from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.controller.stored_state import StoredState
from scheduler.engine.kueue.queue.requeue import backoff_over
from scheduler.engine.kueue.scheduler.preempting import CyclePace
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort
from scheduler.engine.kueue.workload.info import WorkloadInfo


class Requeueing:
    """Carries out the requests to requeue that the lifecycle collected.

    Quota given back in the tree asks for it, and an edit of what decides there: a
    queue, cohort, flavor, check or namespace, or nodes of a topology.
    Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
    """

    def __init__(self, life: Lifecycle, pace: CyclePace, stored: StoredState) -> None:
        self.life, self.pace, self.stored = life, pace, stored
        self.cluster = life.cluster

    def run(self) -> None:
        """Requeue the inadmissible workloads of each tree of which that was requested, once."""
        if not (self.life.to_requeue or self.pace.requeues):
            return
        done: set[ClusterQueue] = set()
        requested, self.life.to_requeue = self.life.to_requeue, {}
        if self.pace.collects:
            requested = self._collected(requested)
        for asked in requested:
            if self.stored.requeued(asked.name):
                self.life.touched_queues[asked] = None
            if asked in done or asked.name not in self.cluster.forest.queues:
                continue
            for queue in self.cluster.tree_queues(asked):
                done.add(queue)
                if queue.pending.pending_inadmissible or queue.pending.failed_hashes:
                    self._requeue(queue)

    def _collected(
        self, requested: dict[ClusterQueue, None]
    ) -> dict[ClusterQueue, None]:
        """Note requests to requeue trees, and return those that are due."""
        now, queues = self.life.context.now_ms, self.cluster.forest.queues
        for asked in requested:
            if asked.name in queues:
                kind = "cohort" if isinstance(asked.root, Cohort) else "queue"
                self.pace.request_requeue(f"{kind} {asked.root.name}", asked.name, now)
        return {
            queues[name]: None for name in self.pace.due_requeues(now) if name in queues
        }

    def _requeue(self, queue: ClusterQueue) -> None:
        self.pace.note_change()
        now = self.life.context.now_us
        touch = self.life.context.journal.touch

        def ready(work: WorkloadInfo) -> bool:
            touch(work.key)
            return backoff_over(work, now)

        queue.pending.requeue_inadmissible(
            lambda name: self.cluster.matches(queue, name), ready
        )
        self.life.touched_queues[queue] = None
