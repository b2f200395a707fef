"""Kueue as a stage: objects in, decisions out, nothing else between.

The order of a driver at one instant: put / remove / finish / stopped, then
`reconcile`, then `cycle` and `reconcile` again until nothing moves.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from scheduler.kueue import status
from scheduler.kueue.cluster import Cluster
from scheduler.kueue.configuration import Settings
from scheduler.kueue.controller import Controller
from scheduler.kueue.cycle import Cycle
from scheduler.kueue.entries import Entry, Fate
from scheduler.kueue.lifecycle import Lifecycle
from scheduler.kueue.preempting import Preempting
from scheduler.kueue.holding import drop_quota, take_quota
from scheduler.kueue.reading import (
    STATUS_FIELDS,
    adopt,
    adopt_status,
    memory_of,
    recall_attempt,
    status_of,
)
from scheduler.kueue.requeue import backoff_over, put_back
from scheduler.kueue.trace import Trace
from scheduler.kueue.tree import Queue
from scheduler.kueue.work import Work
from scheduler.reasons import (
    JOB_FINISHED,
    JOB_FINISHED_SENTENCE,
    PODS_DO_NOT_RUN,
    PODS_READY,
    PODS_RUN,
    RECOVERED,
    STARTED,
    WAIT_FOR_RECOVERY,
)
from scheduler.records.objects import Key, Object
from scheduler.records.quota import (
    read_cohort,
    read_flavor,
    read_local_queue,
    read_queue,
)
from scheduler.stage import Context


class KueueStage:
    """The queues, the quota tree and the workloads of one cluster.

    Everything is kept up to date as it changes; only an edit of quota links the
    tree anew, and that costs nothing per workload.
    """

    name = "kueue"

    def __init__(self, context: Context, settings: Settings | None = None) -> None:
        self.context = context
        self.settings = settings or Settings()
        self.cluster = Cluster(self.settings)
        self.preempting = Preempting(self.settings)
        self.life = Lifecycle(self.cluster, context)
        self.controller = Controller(self.life)
        self.unplaced: dict[Work, None] = {}
        self.edited: dict[str, None] = {}  # ClusterQueues whose tree may admit more
        self.timers: list[tuple[int, str, Key]] = []
        self.armed: dict[Key, int] = {}
        self.restoring: dict[Work, Mapping[str, Any]] = {}
        self.sticky: dict[str, Key] = {}  # restored: ClusterQueue -> its preemptor

    # ---- objects in ----

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take an object that is new or changed, or one from storage.

        Objects may come in any order. Kinds that Kueue does not read are
        ignored. Raises QuantityError for a quantity that is none.
        """
        if obj.key.kind == "Workload":
            self._put_workload(obj, restore=restore)
            return
        take = self._takers().get(obj.key.kind)
        if take is not None:
            take(obj, restore)

    def _takers(self) -> dict[str, Callable[[Object, bool], None]]:
        return {
            "ClusterQueue": self._put_queue,
            "Cohort": self._put_cohort,
            "LocalQueue": self._put_door,
            "ResourceFlavor": self._put_flavor,
            "Namespace": self._put_namespace,
            "RuntimeClass": self._put_pod_defaults,
            "LimitRange": self._put_pod_defaults,
        }

    def _put_queue(self, obj: Object, restore: bool) -> None:
        queue = self.cluster.put_queue(read_queue(obj.manifest))
        memory = obj.memory.get(self.name) or {}
        queue.active_since_us = status.active_since(obj.status)
        if restore:
            self._restore_queue(queue, memory)
        else:
            self._edit_everything()
            self.edited[queue.name] = None

    def _restore_queue(self, queue: Queue, memory: Mapping[str, Any]) -> None:
        queue.generation = memory.get("generation", 0)
        queue.line.remembered = dict(memory.get("remembered") or {})
        if memory.get("sticky"):
            self.sticky[queue.name] = Key(*memory["sticky"])
        if memory.get("edited"):
            self.edited[queue.name] = None

    def _put_cohort(self, obj: Object, restore: bool) -> None:
        spec = read_cohort(obj.manifest)
        self.cluster.forest.specs[spec.name] = spec
        self._edit_everything(restore=restore)

    def _put_flavor(self, obj: Object, restore: bool) -> None:
        flavor = read_flavor(obj.manifest)
        self.cluster.flavors[flavor.name] = flavor
        self.cluster.refusals.clear()
        self._edit_everything(restore=restore)

    def _put_door(self, obj: Object, restore: bool) -> None:
        spec = read_local_queue(obj.manifest)
        door = self.cluster.door(spec.namespace, spec.name)
        before, door.spec = door.spec, spec
        door.active_since_us = status.active_since(obj.status)
        if not restore and before != spec:
            self._replace(door.works)
            self.edited[spec.queue] = None

    def _put_namespace(self, obj: Object, restore: bool) -> None:
        self.cluster.namespaces[obj.key.name] = obj.labels
        self._edit_everything(structure=False, restore=restore)

    def _put_pod_defaults(self, obj: Object, restore: bool) -> None:
        if obj.key.kind == "RuntimeClass":
            self.cluster.catalogue.put_runtime_class(obj.manifest)
        else:
            self.cluster.catalogue.put_limit_range(obj.manifest)

    def _edit_everything(self, *, structure: bool = True, restore: bool = False) -> None:
        self.cluster.stale = True
        if restore:
            return
        for name, queue in self.cluster.forest.queues.items():
            self.edited[name] = None
            self.life.mark_queue(queue)
            if structure:
                queue.generation += 1

    def _replace(self, works: Iterable[Work]) -> None:
        for work in works:
            self.life.leave_line(work)
            self.unplaced[work] = None
            self.life.dirty[work] = None

    def _put_workload(self, obj: Object, *, restore: bool) -> None:
        work = self.cluster.works.get(obj.key)
        if work is None:
            work = self.cluster.works[obj.key] = Work(obj.key, obj.uid)
            adopt(work, obj, self.cluster.catalogue)
            adopt_status(work, obj.status)
        else:
            self.life.leave_line(work)
            self._leave_door(work)
            self._readopt(work, obj)
        self.cluster.door_of(work).works[work] = None
        self.unplaced[work] = None
        if restore:
            self.restoring[work] = obj.memory.get(self.name) or {}
        else:
            self.life.dirty[work] = None

    def _leave_door(self, work: Work) -> None:
        self.cluster.door_of(work).works.pop(work, None)

    def _readopt(self, work: Work, obj: Object) -> None:
        """Take an edit of a workload that is known; what it holds may shrink.

        Source: KUEUE.md 5.8, 5.9, 11.8.
        """
        before = work.reclaimable
        queue = work.queue
        if queue is not None:
            drop_quota(self.cluster, work)
        adopt(work, obj, self.cluster.catalogue)
        if queue is not None:
            take_quota(self.cluster, work, queue)
            queue.generation += 1
            self.life.mark(work, queue)
            if work.reclaimable != before:
                self.life.wake_for(work)
        work.attempt = None

    def remove(self, key: Key) -> None:
        """Forget an object; a workload gives its quota back."""
        if key.kind == "Workload":
            self._remove_workload(key)
        elif key.kind == "ClusterQueue":
            self._remove_queue(key.name)
        elif key.kind == "Cohort":
            self.cluster.forest.specs.pop(key.name, None)
            self._edit_everything()
        elif key.kind == "ResourceFlavor":
            self.cluster.flavors.pop(key.name, None)
            self._edit_everything()
        elif key.kind == "LocalQueue":
            door = self.cluster.door(key.namespace, key.name)
            self._replace(door.works)
            door.spec = None
        elif key.kind == "Namespace":
            self.cluster.namespaces.pop(key.name, None)
        elif key.kind == "RuntimeClass":
            self.cluster.catalogue.remove_runtime_class(key.name)
        elif key.kind == "LimitRange":
            self.cluster.catalogue.remove_limit_range(key.namespace, key.name)

    def _remove_workload(self, key: Key) -> None:
        work = self.cluster.works.pop(key, None)
        if work is None:
            return
        self.life.leave_line(work)
        self.life.drop(work)
        self._leave_door(work)
        for pending in (self.life.stopping, self.life.dirty, self.unplaced):
            pending.pop(work, None)
        self.armed.pop(key, None)

    def _remove_queue(self, name: str) -> None:
        queue = self.cluster.forest.queues.pop(name, None)
        if queue is None:
            return
        for work in list(queue.shelf.works):
            drop_quota(self.cluster, work)
        for door in self.cluster.doors.values():
            if door.spec is not None and door.spec.queue == name:
                self._replace(door.works)
        self._edit_everything()

    # ---- what a driver does ----

    def settle(self) -> None:
        """Link the tree and put every new workload where it belongs; decide nothing."""
        if not (self.edited or self.unplaced or self.cluster.stale):
            return
        edited, self.edited = self.edited, {}
        self.cluster.link()
        for work in sorted(self.unplaced, key=lambda w: (w.created_us, w.uid)):
            self._place(work)
        self.unplaced.clear()
        self._restore_sticky()
        for name in edited:
            queue = self.cluster.forest.queues.get(name)
            if queue is not None:
                self.life.wake[queue] = None
                self.life.mark_queue(queue)
                self._touch_works(queue)

    def _restore_sticky(self) -> None:
        for name, key in self.sticky.items():
            queue = self.cluster.forest.queues.get(name)
            work = self.cluster.works.get(key)
            if queue is not None and work is not None and work.line is queue.line:
                queue.line.sticky = work
        self.sticky.clear()

    def _touch_works(self, queue: Queue) -> None:
        """Let the controller look at all workloads of a queue that was edited."""
        for door in self.cluster.doors.values():
            if door.spec is not None and door.spec.queue == queue.name:
                self.life.dirty.update(door.works)

    def _place(self, work: Work) -> None:
        memory = self.restoring.pop(work, {})
        if work.queue is not None or work.finished:
            work.refresh()
            return
        if work.reserved and work.admission is not None:
            self._place_admitted(work)
        else:
            self.life.enqueue(work)
        self._recall(work, memory)

    def _place_admitted(self, work: Work) -> None:
        assert work.admission is not None
        work.queued_us = work.created_us
        work.refresh()
        queue = self.cluster.forest.queues.get(work.admission.queue)
        if queue is not None and work.active:
            take_quota(self.cluster, work, queue)
        if work.evicted:
            self.life.stopping[work] = None

    def _recall(self, work: Work, memory: Mapping[str, Any]) -> None:
        recall_attempt(work, memory)
        line = work.line
        if line is not None and memory.get("alone") and work not in line.alone:
            line.forget(work)
            line.park(work)
        if memory.get("dirty"):
            self.life.dirty[work] = None
        self._arm(work)

    def reconcile(self) -> None:
        """Run the controllers on whatever changed or is due, then re-activate.

        Source: KUEUE.md 5.8, 12.
        """
        self.settle()
        self._fire()
        dirty = self.life.dirty
        while dirty:
            batch = sorted(dirty, key=lambda work: (work.created_us, work.uid))
            dirty.clear()
            for work in batch:
                self.controller.reconcile(work)
                self._arm(work)
        self.reactivate()

    def reactivate(self) -> None:
        """Bring parked workloads back wherever that was asked for."""
        done: set[Queue] = set()
        wake, self.life.wake = self.life.wake, {}
        for asked in wake:
            if asked in done or asked.name not in self.cluster.forest.queues:
                continue
            for queue in self.cluster.tree_queues(asked):
                done.add(queue)
                self._revive(queue)

    def _revive(self, queue: Queue) -> None:
        line = queue.line
        if not (line.waiting or line.remembered):
            return
        now, touch = self.context.now_us, self.context.journal.touch

        def ready(work: Work) -> bool:
            touch(work.key)
            return backoff_over(work, now)

        line.revive(lambda namespace: self.cluster.matches(queue, namespace), ready)
        self.life.mark_queue(queue)

    def cycle(self, *, trace: Trace | None = None, traced: Key | None = None) -> bool:
        """Run one admission cycle; False when there was no head to try.

        Source: KUEUE.md 7.
        """
        self.settle()
        heads = list(self._heads())
        if not heads:
            return False
        self.cluster.cycle += 1
        run = Cycle(
            self.cluster,
            self.preempting,
            blocked=self.blocked,
            trace=trace,
            traced=self.cluster.works.get(traced) if traced else None,
        )
        for entry in run.run(heads):
            self._conclude(entry)
        return True

    @property
    def blocked(self) -> bool:
        """Tell whether admissions wait for pods. Source: KUEUE.md 11.4."""
        waiting = self.settings.waiting
        return waiting is not None and waiting.block and self.life.unready > 0

    def _heads(self) -> Iterator[Entry]:
        for name in sorted(self.cluster.forest.queues):
            queue = self.cluster.forest.queues[name]
            if queue.active and queue.line.queued:
                work = queue.line.pop()
                if work is not None:
                    yield Entry(work, queue)

    def _conclude(self, entry: Entry) -> None:
        work, queue = entry.work, entry.queue
        if entry.fate is Fate.ADMITTED:
            self.life.admit(entry)
            self._arm(work)
            return
        if entry.fate is Fate.PREEMPTING:
            self.life.preempt(entry)
        parked = put_back(
            queue.line,
            work,
            strategy=self.cluster.strategy(queue),
            reason=entry.requeue,
            why=entry.reason,
            now_us=self.context.now_us,
        )
        self.life.mark(work, queue)
        self.life.wait(entry, parked=parked)

    def stopping(self) -> list[Key]:
        """Return the evicted workloads whose jobs have not stopped, by key."""
        return sorted(work.key for work in self.life.stopping)

    def stopped(self, key: Key) -> None:
        """Note that the job of an evicted workload has stopped."""
        work = self.cluster.works[key]
        self.life.stop(work)
        self.life.dirty[work] = None

    def finish(
        self, key: Key, message: str = JOB_FINISHED_SENTENCE, reason: str = JOB_FINISHED
    ) -> None:
        """Note that a workload ran to its end."""
        self.life.finish(self.cluster.works[key], reason, message)

    def pods_ready(self, key: Key, ready: bool) -> None:
        """Note that all pods of a workload run, or that some no longer do."""
        work = self.cluster.works[key]
        known = work.conditions.get(PODS_READY)
        recovering = known is not None and known.reason == WAIT_FOR_RECOVERY
        was_ready = work.holds(PODS_READY)
        if known is None and not ready:
            return
        if ready:
            reason = RECOVERED if recovering else STARTED
            self.life.say(work, PODS_READY, True, reason, PODS_RUN)
        elif was_ready:
            reason = WAIT_FOR_RECOVERY
            self.life.say(work, PODS_READY, False, reason, PODS_DO_NOT_RUN)
        if self.settings.waiting is not None and known is not None:
            self.life.unready += int(was_ready) - int(work.holds(PODS_READY))
        self._arm(work)

    def admitted(self) -> Iterator[Key]:
        """Yield the workloads that hold quota and run."""
        for queue in self.cluster.forest.queues.values():
            for work in queue.shelf.works:
                if not work.evicted:
                    yield work.key

    # ---- timers ----

    def _arm(self, work: Work) -> None:
        at = self._deadline(work)
        if at is None:
            self.armed.pop(work.key, None)
        elif self.armed.get(work.key) != at:
            self.armed[work.key] = at
            heapq.heappush(self.timers, (at, work.name, work.key))

    def _deadline(self, work: Work) -> int | None:
        """Return the next instant (ms) at which the clock matters to a workload."""
        if work.finished or not work.active:
            return None
        if work.reserved and not work.evicted:
            limits = (
                self.controller.execution_limit(work),
                self.controller.ready_limit(work),
            )
        else:
            limits = (None, work.requeue_at_us)
        known = [limit for limit in limits if limit is not None]
        return -self.context.ms(-min(known)) if known else None

    def due(self) -> int | None:
        """Return the next instant (ms) with a timer, or None."""
        while self.timers:
            at, _, key = self.timers[0]
            if self.armed.get(key) == at:
                return at
            heapq.heappop(self.timers)
        return None

    def _fire(self) -> None:
        while (at := self.due()) is not None and at <= self.context.now_ms:
            _, _, key = heapq.heappop(self.timers)
            del self.armed[key]
            self.life.dirty[self.cluster.works[key]] = None

    # ---- storage ----

    def write(self, obj: Object) -> None:
        """Write status and memory of one object."""
        if obj.key.kind == "Workload":
            self._write_workload(obj)
        elif obj.key.kind in status.WRITERS:
            self.cluster.link()
            memory = status.WRITERS[obj.key.kind](self.cluster, obj, self.context.now_us)
            if obj.key.kind == "ClusterQueue" and obj.key.name in self.edited:
                memory["edited"] = True
            obj.memory[self.name] = memory

    def _write_workload(self, obj: Object) -> None:
        work = self.cluster.works.get(obj.key)
        if work is None:
            return
        kept = {k: v for k, v in obj.status.items() if k not in STATUS_FIELDS}
        obj.status = {**kept, **status_of(work)}
        if not work.active:
            obj.manifest["spec"]["active"] = False
        obj.memory[self.name] = memory_of(work)
        if work in self.life.dirty:
            obj.memory[self.name]["dirty"] = True

    def remember(self) -> dict[str, Any]:
        """Return what is kept beside the objects."""
        return {"cycle": self.cluster.cycle}

    def recall(self, memory: dict[str, Any]) -> None:
        """Take back what `remember` returned."""
        self.cluster.cycle = memory.get("cycle", 0)

    def owned(self) -> Iterable[Key]:
        """Return the keys of the objects whose status it writes."""
        yield from self.cluster.works
        for queue in self.cluster.forest.queues.values():
            yield from queue.trail
        yield from (d.key for d in self.cluster.doors.values() if d.spec is not None)
