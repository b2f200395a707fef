"""Workloads in: each finds its line, or takes the quota that it holds already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.kueue.cache.assumed import drop_quota, take_quota
from scheduler.kueue.cache.cluster import Cluster
from scheduler.kueue.controller.lifecycle import Lifecycle
from scheduler.kueue.workload.info import Work
from scheduler.kueue.workload.reading import (
    adopt,
    adopt_status,
    load_state,
)
from scheduler.records.objects import Key, Object

Memory = Mapping[str, Any]


class Placing:
    """Takes workloads and places them, later and together, where they belong."""

    def __init__(self, cluster: Cluster, life: Lifecycle, name: str) -> None:
        self.cluster = cluster
        self.life = life
        self.name = name  # under which objects hold our memory
        self.unplaced: dict[Work, None] = {}
        self.added: dict[Work, None] = {}  # with their queue: no backoff holds them
        self.memories: dict[Work, Memory] = {}  # of those being restored
        self.sticky: dict[str, Key] = {}  # restored: ClusterQueue -> its preemptor

    def place_all(self) -> None:
        """Place everyone who came since the last time, oldest first."""
        for work in sorted(self.unplaced, key=lambda w: (w.created_us, w.uid)):
            self._place(work, self.memories.pop(work, None))
        self.unplaced.clear()
        self.added.clear()
        self._restore_sticky()

    def put(self, obj: Object, restore: bool) -> None:
        """Take a Workload that is new or changed; raises QuantityError."""
        work = self.cluster.works.get(obj.key)
        if work is None:
            door = self.cluster.door(obj.key.namespace, obj.spec.get("queueName") or "")
            work = Work(obj.key, obj.uid, door)
            adopt(work, obj, self.cluster.catalogue)
            adopt_status(work, obj.status)
            self.cluster.works[obj.key] = work
        else:
            self._readopt(work, obj)
        work.door.works[work] = None
        if work.line is None:
            self.unplaced[work] = None
        if restore:
            memory = self.memories[work] = obj.memory.get(self.name) or {}
            if memory.get("added"):
                self.added[work] = None
        else:
            self._look_again(work)

    def _look_again(self, work: Work) -> None:
        """Let the controller look at a workload; it is told even after a restart."""
        self.life.dirty[work] = None
        self.life.context.journal.touch(work.key)

    def _readopt(self, work: Work, obj: Object) -> None:
        """Take an edit of a workload that is known; what it holds may shrink.

        Source: KUEUE.md 5.8, 5.9, 11.8.
        """
        # Read first: a quantity that is none must leave everything as it was.
        self.cluster.catalogue.pod_sets(obj.spec.get("podSets") or (), work.namespace)
        before, queue = _deciding(work), work.queue
        priority, done = work.priority, work.reclaimable
        if queue is not None:
            drop_quota(work)
        adopt(work, obj, self.cluster.catalogue)
        if queue is not None:
            take_quota(work, queue)
            queue.generation += 1
            self.life.mark(work, queue)
        if _deciding(work) == before:
            return
        self.life.leave_line(work)
        work.door.works.pop(work, None)
        work.door = self.cluster.door(work.namespace, work.local_queue)
        if work.priority != priority or (queue and work.reclaimable != done):
            self.life.wake_for(work)

    def remove(self, key: Key) -> None:
        """Forget a Workload; what it held goes to others."""
        work = self.cluster.works.get(key)
        if work is None:
            return
        self.life.leave_line(work)
        self.life.drop(work)
        work.door.works.pop(work, None)
        del self.cluster.works[key]
        self.life.timers.drop(key)
        for pending in (
            self.life.stopping,
            self.life.dirty,
            self.life.unready,
            self.unplaced,
            self.added,
        ):
            pending.pop(work, None)

    def replace(self, works: Iterable[Work]) -> None:
        """Let workloads find their place anew."""
        for work in works:
            self.life.leave_line(work)
            self.unplaced[work] = None
            self._look_again(work)

    def add(self, works: Iterable[Work]) -> None:
        """Let the workloads of a queue that is new find their place, backoff or not.

        Source: docs/semantics/kueue.md#held-localqueues.
        """
        works = list(works)
        self.replace(works)
        self.added.update(dict.fromkeys(works))

    def reread(self, namespace: str | None) -> None:
        """Read the podsets of waiting workloads again; what adds to them changed."""
        waiting = [
            work
            for work in self.cluster.works.values()
            if namespace in (None, work.namespace) and not work.reserved
        ]
        for work in waiting:
            again = self.cluster.catalogue.pod_sets(work.source, work.namespace)
            if again != work.pod_sets:
                work.pod_sets = again
                self.replace([work])

    def _place(self, work: Work, memory: Memory | None) -> None:
        if work.queue is not None or work.finished:
            work.refresh()
        elif work.reserved and work.admission is not None:
            self._place_admitted(work)
        else:
            self.life.enqueue(work, backing_off=work not in self.added)
        if memory is not None:
            self._recall(work, memory)
        self.life.arm(work)

    def _recall(self, work: Work, memory: Memory) -> None:
        """Give a restored workload back what its object remembers of it."""
        load_state(work, memory)
        if memory.get("alone") and work.line is not None:
            line = work.line
            line.forget(work)
            line.park(work)
        if memory.get("dirty"):
            self.life.dirty[work] = None

    def _place_admitted(self, work: Work) -> None:
        assert work.admission is not None
        self.life.retime(work)
        work.refresh()
        queue = self.cluster.forest.queues.get(work.admission.queue)
        if queue is not None and work.active:
            take_quota(work, queue)
        if work.evicted:
            self.life.stopping[work] = None

    def _restore_sticky(self) -> None:
        for name, key in self.sticky.items():
            queue = self.cluster.forest.queues.get(name)
            work = self.cluster.works.get(key)
            if queue is not None and work is not None and work.line is queue.line:
                queue.line.sticky = work
        self.sticky.clear()


def _deciding(work: Work) -> tuple[object, ...]:
    """Return what an edit must change to move a workload. Source: KUEUE.md 5.8, 5.9."""
    return (
        work.pod_sets,
        work.priority,
        work.local_queue,
        work.active,
        work.gated,
        work.max_execution_s,
        work.reclaimable,
    )
