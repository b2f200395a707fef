"""Workloads in: each finds its queue, or takes the quota that it holds already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.kueue.cache.assumed import drop_quota, take_quota
from scheduler.kueue.cache.cluster import Cluster
from scheduler.kueue.controller.lifecycle import Lifecycle
from scheduler.kueue.workload.info import WorkloadInfo
from scheduler.kueue.workload.reading import (
    load_state,
    update_from_document,
    update_from_status,
)
from scheduler.reasons import (
    EVICTED,
    PREEMPTED,
    PREEMPTOR_UID,
    QUOTA_RESERVED,
    WAITING_FOR_PREEMPTED,
)
from scheduler.records.objects import Key, Object

State = Mapping[str, Any]


class QueueAssignment:
    """Takes workloads and places them, later and together, where they belong."""

    def __init__(self, cluster: Cluster, life: Lifecycle, name: str) -> None:
        self.cluster = cluster
        self.life = life
        self.name = name  # under which objects hold our state
        self.unplaced: dict[WorkloadInfo, None] = {}
        self.added: dict[
            WorkloadInfo, None
        ] = {}  # with their queue: no backoff holds them
        self.restoring: dict[WorkloadInfo, State] = {}
        self.sticky: dict[str, Key] = {}  # restored: ClusterQueue -> its preemptor
        self.came_waiting: list[WorkloadInfo] = []  # new, and victims end for them

    def assign_all(self) -> None:
        """Place everyone who came since the last time, oldest first."""
        for work in sorted(self.unplaced, key=lambda w: (w.created_us, w.uid)):
            self._assign(work, self.restoring.pop(work, None))
        self.unplaced.clear()
        self.added.clear()
        self._restore_sticky()
        self._take_over_preemptors()

    def put(self, obj: Object, restore: bool) -> None:
        """Take a Workload that is new or changed; raises QuantityError."""
        work = self.cluster.workloads.get(obj.key)
        if work is None:
            local_queue = self.cluster.local_queue(
                obj.key.namespace, obj.spec.get("queueName") or ""
            )
            work = WorkloadInfo(obj.key, obj.uid, local_queue)
            self._read(work, obj)
            update_from_status(work, obj.status)
            self.cluster.workloads[obj.key] = work
        else:
            self._update(work, obj)
        work.local_queue.workloads[work] = None
        if work.replaces is not None:
            self.cluster.successors[work.replaces] = work.key
        if work.pending_queue is None:
            self.unplaced[work] = None
        if restore:
            state = self.restoring[work] = obj.state.get(self.name) or {}
            if state.get("added"):
                self.added[work] = None
        else:
            self._look_again(work)
            if _waits_for_victims(work):
                self.came_waiting.append(work)

    def _read(self, work: WorkloadInfo, obj: Object) -> None:
        cluster = self.cluster
        update_from_document(work, obj, cluster.catalogue, cluster.settings.gates)

    def _look_again(self, work: WorkloadInfo) -> None:
        """Let the controller look at a workload, also after a restart."""
        self.life.dirty[work] = None
        self.life.context.journal.touch(work.key)
        if self.life.ledger is not None:
            self.life.ledger.changed[work.local_queue] = None

    def _update(self, work: WorkloadInfo, obj: Object) -> None:
        """Take an edit of a workload that is known; what it holds may shrink.

        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        # Read first: a quantity that is none must leave everything as it was.
        self.cluster.catalogue.pod_sets(obj.spec.get("podSets") or (), work.namespace)
        before, queue = _deciding(work), work.cluster_queue
        priority, done = work.priority, work.reclaimable
        if queue is not None:
            drop_quota(work)
        self._read(work, obj)
        if work.local_queue.key.name != work.local_queue_name:
            self._change_queue(work)
        if queue is not None:
            take_quota(work, queue, self.cluster)
            queue.generation += 1
            self.life.mark_queues_changed(work, queue)
        if _deciding(work) == before:
            return
        self.life.leave_queue(work)
        freed = queue and (work.reclaimable != done or work.elastic)
        if work.priority != priority or freed or not work.active:
            self.life.request_requeue(work)

    def _change_queue(self, work: WorkloadInfo) -> None:
        """Let a workload, without its quota for now, be of the LocalQueue it names."""
        self.life.leave_queue(work)
        self.life.mark_queues_changed(work, None)
        work.local_queue.workloads.pop(work, None)
        if self.life.ledger is not None:
            self.life.ledger.forget(work)
        work.local_queue = self.cluster.local_queue(
            work.namespace, work.local_queue_name
        )

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
        self.life.timers.drop(key)
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
        if queue is not None and (work.active or holds):
            take_quota(work, queue, self.cluster)
            self.life.note_second_pass(work)
        if work.evicted:
            self.life.stopping[work] = None

    def _restore_sticky(self) -> None:
        for name, key in self.sticky.items():
            queue = self.cluster.forest.queues.get(name)
            work = self.cluster.workloads.get(key)
            if (
                queue is not None
                and work is not None
                and work.pending_queue is queue.pending
            ):
                queue.pending.preemptor = work
        self.sticky.clear()

    def _take_over_preemptors(self) -> None:
        """Keep whoever preempted last at the head of its queue.

        A workload that comes from a running cluster says that it waits for its
        victims; only the latest of a ClusterQueue is its preemptor.
        """
        if not self.came_waiting:
            return
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
        self.came_waiting.clear()

    def _last_victims(self) -> dict[str, int]:
        """Return UID of a preemptor -> when its last victim was evicted."""
        found: dict[str, int] = {}
        for work in self.cluster.workloads.values():
            evicted = work.conditions.get(EVICTED)
            named = evicted and PREEMPTOR_UID.search(evicted.message)
            if evicted and named and evicted.reason == PREEMPTED:
                found[named[1]] = max(found.get(named[1], 0), evicted.since_us)
        return found


def _waits_for_victims(work: WorkloadInfo) -> bool:
    reserved = work.conditions.get(QUOTA_RESERVED)
    return reserved is not None and reserved.reason == WAITING_FOR_PREEMPTED


def _deciding(work: WorkloadInfo) -> tuple[object, ...]:
    """Return what an edit must change to move a workload.

    Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
    """
    return (
        work.pod_sets,
        work.priority,
        work.local_queue_name,
        work.active,
        work.gated,
        work.max_execution_s,
        work.reclaimable,
        work.may_not_preempt,
    )
