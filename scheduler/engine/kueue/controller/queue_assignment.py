"""Workloads in: each finds its queue, or takes the quota that it holds already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.engine.kueue.cache.assumed import take_quota
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.controller.preemptors import Preemptors
from scheduler.engine.kueue.controller.workload_edits import WorkloadEdits
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import load_state, update_from_status
from scheduler.model.objects import Key, Object

State = Mapping[str, Any]


class QueueAssignment:
    """Takes workloads and places them, later and together, where they belong."""

    def __init__(self, cluster: Cluster, life: Lifecycle, name: str) -> None:
        self.cluster = cluster
        self.life = life
        self.name = name  # under which objects hold our state
        self.edits = WorkloadEdits(cluster, life)
        self.preemptors = Preemptors(cluster)
        self.unplaced: dict[WorkloadInfo, None] = {}
        # Those that came with their queue: no backoff holds them.
        self.added: dict[WorkloadInfo, None] = {}
        self.restoring: dict[WorkloadInfo, State] = {}

    def assign_all(self) -> None:
        """Place the Workloads that came since the last call, oldest first."""
        for work in sorted(self.unplaced, key=lambda w: (w.created_us, w.uid)):
            self._assign(work, self.restoring.pop(work, None))
        self.unplaced.clear()
        self.added.clear()
        self.preemptors.settle()

    def put(self, obj: Object, restore: bool) -> None:
        """Take a Workload that is new or changed; raises QuantityError."""
        work = self.cluster.workloads.get(obj.key)
        if work is None:
            local_queue = self.cluster.local_queue(
                obj.key.namespace, obj.spec.get("queueName") or ""
            )
            work = WorkloadInfo(obj.key, obj.uid, local_queue)
            self.edits.read(work, obj)
            update_from_status(work, obj.status)
            self.cluster.workloads[obj.key] = work
        else:
            self.edits.take(work, obj)
        work.local_queue.workloads[work] = None
        if work.replaces is not None:
            self.cluster.successors[work.replaces] = work.key
        if self.cluster.families is not None:
            self.cluster.families.put(work)
        if work.pending_queue is None:
            self.unplaced[work] = None
        if restore:
            state = self.restoring[work] = obj.state.get(self.name) or {}
            if state.get("added"):
                self.added[work] = None
        else:
            self._look_again(work)
            self.preemptors.note(work)

    def _look_again(self, work: WorkloadInfo) -> None:
        """Let the controller look at a workload, also after a restart."""
        self.life.dirty[work] = None
        self.life.context.journal.touch(work.key)
        if self.life.ledger is not None:
            self.life.ledger.changed[work.local_queue] = None

    def remove(self, key: Key) -> None:
        """Forget a Workload; what it held goes to others."""
        work = self.cluster.workloads.get(key)
        if work is None:
            return
        self.life.leave_queue(work)
        self.life.release_quota(work)
        if self.life.ledger is not None:
            self.life.ledger.forget(work)
            self.life.ledger.changed[work.local_queue] = None
        work.local_queue.workloads.pop(work, None)
        del self.cluster.workloads[key]
        if work.replaces is not None:
            self.cluster.successors.pop(work.replaces, None)
        if self.cluster.families is not None:
            self.cluster.families.remove(work)
        self.life.timers.drop(key)
        self.life.answers.drop(key)
        if self.life.retention is not None:
            self.life.retention.drop(key)
        for pending in (
            self.life.stopping,
            self.life.dirty,
            self.life.unready,
            self.unplaced,
            self.added,
        ):
            pending.pop(work, None)

    def reassign(self, works: Iterable[WorkloadInfo]) -> None:
        """Let workloads find their place anew."""
        for work in works:
            self.life.leave_queue(work)
            self.unplaced[work] = None
            self._look_again(work)

    def add(self, works: Iterable[WorkloadInfo]) -> None:
        """Let the workloads of a queue that is new find their place, backoff or not.

        Source: docs/semantics/kueue.md#held-localqueues.
        """
        works = list(works)
        self.reassign(works)
        self.added.update(dict.fromkeys(works))

    def readmit(self, queue: str) -> None:
        """Let the workloads admitted by a ClusterQueue that is new take their quota.

        Source: docs/semantics/kueue.md#subtree-quota-and-usage.
        """
        for work in self.cluster.workloads.values():
            if work.admission is not None and work.admission.queue == queue:
                self.unplaced[work] = None

    def reread_pod_sets(self, namespace: str | None) -> None:
        """Read the podsets of waiting workloads again; what adds to them changed."""
        waiting = [
            work
            for work in self.cluster.workloads.values()
            if namespace in (None, work.namespace) and not work.reserved
        ]
        for work in waiting:
            again = self.cluster.catalogue.pod_sets(work.pod_set_specs, work.namespace)
            if again != work.pod_sets:
                work.pod_sets = again
                self.reassign([work])

    def _assign(self, work: WorkloadInfo, state: State | None) -> None:
        if work.cluster_queue is not None or work.finished:
            work.refresh()
        elif work.reserved and work.admission is not None:
            self._place_admitted(work, holds=bool(state and state.get("holds")))
        else:
            self.life.enqueue(work, backing_off=work not in self.added)
        if state is not None:
            self._restore(work, state)
        self.life.arm_timer(work)

    def _restore(self, work: WorkloadInfo, state: State) -> None:
        """Give a restored workload back what its object remembers of it."""
        load_state(work, state)
        if state.get("alone") and work.pending_queue is not None:
            pending = work.pending_queue
            pending.remove(work)
            pending.add_inadmissible(work)
        if state.get("dirty"):
            self.life.dirty[work] = None

    def _place_admitted(self, work: WorkloadInfo, *, holds: bool) -> None:
        """Take the quota of a workload that came with it.

        An inactive one has none, but one that `holds` it until it is evicted.
        """
        assert work.admission is not None
        self.life.update_queue_order(work)
        work.refresh()
        queue = self.cluster.forest.queues.get(work.admission.queue)
        if self.cluster.is_parent(work):
            queue = None  # the quota is its variant's
        if queue is not None and (work.active or holds):
            take_quota(work, queue, self.cluster)
            self.life.note_second_pass(work)
        if work.evicted and work.parent is None:
            self.life.stopping[work] = None
