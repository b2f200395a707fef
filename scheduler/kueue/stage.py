"""Kueue as a stage: objects in, decisions out, nothing else between.

The order of a driver at one instant: put / remove / finish / stopped, then
`reconcile`, then `cycle` and `reconcile` again until nothing moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scheduler.kueue.cache.cluster import Cluster, Door
from scheduler.kueue.configuration import Settings
from scheduler.kueue.controller import evictions, status
from scheduler.kueue.controller.admissions import admit, finish
from scheduler.kueue.controller.controller import Controller
from scheduler.kueue.controller.lifecycle import Lifecycle
from scheduler.kueue.controller.object_handlers import Intake
from scheduler.kueue.queue.requeue import backoff_over, put_back
from scheduler.kueue.scheduler.cycle import Cycle
from scheduler.kueue.scheduler.entries import Entry, Fate
from scheduler.kueue.scheduler.pace import Pace
from scheduler.kueue.scheduler.preempting import Preempting
from scheduler.kueue.trace import Trace
from scheduler.kueue.tree.tree import Cohort, Queue
from scheduler.kueue.workload.info import Work
from scheduler.kueue.workload.reading import (
    STATUS_FIELDS,
    memory_of,
    status_of,
)
from scheduler.latencies import StepTimes
from scheduler.reasons import JOB_FINISHED, JOB_FINISHED_SENTENCE
from scheduler.records.objects import Key, Object
from scheduler.stage import Context


class KueueStage:
    """The queues, the quota tree and the workloads of one cluster.

    Everything is kept up to date as it changes; only an edit of quota links the
    tree anew, and that costs nothing per workload.
    """

    name = "kueue"

    def __init__(
        self,
        context: Context,
        settings: Settings | None = None,
        steps: StepTimes | None = None,
    ) -> None:
        self.context = context
        self.pace = Pace(steps)
        self.settings = settings or Settings()
        self.cluster = Cluster(self.settings)
        self.preempting = Preempting(self.settings)
        self.life = Lifecycle(self.cluster, context)
        self.controller = Controller(self.life)
        self.intake = Intake(self.cluster, self.life, self.name)
        # Who explains listens to one workload here; nobody else writes it.
        self.traced: Key | None = None
        self.held: list[Key] = []  # heads of a cycle that waits for pods
        # Written down as still to be reconciled, and as still to be woken: objects
        # whose writing is no longer so when that is done.
        self._told_dirty: set[Key] = set()
        self._told_owed: set[str] = set()
        self.trace: Trace | None = None

    # ---- objects in ----

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take an object that is new or changed, or one from storage.

        Objects may come in any order. Kinds that Kueue does not read are
        ignored. Raises QuantityError for a quantity that is none.
        """
        if restore and obj.memory.get(self.name, {}).get("dirty"):
            self._told_dirty.add(obj.key)
        self.intake.put(obj, restore=restore)
        if restore:
            self._note_told(obj)
        else:
            self.pace.stir()
        self.life.flush()

    def _note_told(self, obj: Object) -> None:
        memory = obj.memory.get(self.name) or {}
        if memory.get("dirty"):
            self._told_dirty.add(obj.key)
        if memory.get("edited"):
            self._told_owed.add(obj.key.name)

    def remove(self, key: Key) -> None:
        """Forget an object; a workload gives its quota back."""
        self.intake.remove(key)
        self.pace.stir()
        self.life.flush()

    def settle(self) -> None:
        """Link the trees and place what came since; decides nothing."""
        linked = bool(self.intake.edited) or self.cluster.stale
        self.intake.settle()
        if linked:
            self._note_activity()
        self.life.flush()

    def _note_activity(self) -> None:
        for flipped in status.note_activity(self.cluster, self.context.now_us):
            if isinstance(flipped, Door):
                self.life.touched_doors[flipped] = None
            else:
                self.life.touched_queues[flipped] = None

    def start_over(self) -> None:
        """Try everyone again, as the controller does under a new Configuration."""
        self.intake.start_over()
        self.pace.stir()
        self.life.flush()

    # ---- controllers ----

    def reconcile(self) -> None:
        """Run the controllers on whatever changed or is due, then re-activate.

        Source: KUEUE.md 5.8, 12.
        """
        self.settle()
        dirty = self.life.dirty
        while (key := self.life.timers.take()) is not None:
            dirty[self.cluster.works[key]] = None
        while dirty:
            self.pace.stir()
            batch = sorted(dirty, key=lambda work: (work.created_us, work.uid))
            dirty.clear()
            for work in batch:
                if work.key in self._told_dirty:
                    self._told_dirty.discard(work.key)
                    self.context.journal.touch(work.key)
                self.controller.reconcile(work)
                self.life.arm(work)
        self.reactivate()
        self.life.flush()

    def reactivate(self) -> None:
        """Bring parked workloads back wherever that was asked for."""
        done: set[Queue] = set()
        wake, self.life.wake = self.life.wake, {}
        if self.pace.collects:
            wake = self._collected(wake)
        for asked in wake:
            if asked.name in self._told_owed:
                self._told_owed.discard(asked.name)
                self.life.touched_queues[asked] = None
            if asked in done or asked.name not in self.cluster.forest.queues:
                continue
            for queue in self.cluster.tree_queues(asked):
                done.add(queue)
                if queue.line.waiting or queue.line.remembered:
                    self._revive(queue)

    def _collected(self, wake: dict[Queue, None]) -> dict[Queue, None]:
        """Note who asks to wake a tree, and return who asked long enough ago."""
        now, queues = self.context.now_ms, self.cluster.forest.queues
        for asked in wake:
            if asked.name in queues:
                kind = "cohort" if isinstance(asked.root, Cohort) else "queue"
                self.pace.ask(f"{kind} {asked.root.name}", asked.name, now)
        return {queues[name]: None for name in self.pace.woken(now) if name in queues}

    def _revive(self, queue: Queue) -> None:
        self.pace.stir()
        now, touch = self.context.now_us, self.context.journal.touch

        def ready(work: Work) -> bool:
            touch(work.key)
            return backoff_over(work, now)

        queue.line.revive(lambda name: self.cluster.matches(queue, name), ready)
        self.life.touched_queues[queue] = None

    # ---- admission ----

    def cycle(self) -> bool:
        """Run one admission cycle; False when there was no head to try.

        Source: KUEUE.md 7.
        """
        self.settle()
        if self.held and self.blocked:
            return False
        heads = self._held_heads() or list(self._heads())
        if not heads:
            return False
        self.cluster.cycle += 1
        run = Cycle(
            self.cluster,
            self.preempting,
            gated=self.gated,
            blocked=self.blocked,
            trace=self.trace,
            traced=self.cluster.works.get(self.traced) if self.traced else None,
        )
        for entry in run.run(heads):
            if entry.fate is Fate.HELD:
                self._hold(entry, first=entry is run.waiting)
            else:
                self._conclude(entry)
        self.life.flush()
        return True

    @property
    def gated(self) -> bool:
        """Tell whether each admission waits for the pods of those before it."""
        waiting = self.settings.waiting
        return waiting is not None and waiting.block

    @property
    def blocked(self) -> bool:
        """Tell whether admissions wait for pods now. Source: KUEUE.md 11.4."""
        return self.gated and bool(self.life.unready)

    def _held_heads(self) -> list[Entry]:
        """Return the heads of the cycle that waited; they stood in their lines.

        Whoever left the line meanwhile is out of the cycle.
        """
        held, self.held = self.held, []
        found = []
        for key in held:
            work = self.cluster.works.get(key)
            queue = self.cluster.queue_of(work) if work is not None else None
            if work is None or queue is None or not queue.active:
                continue
            if work.line is queue.line and queue.line.take(work):
                found.append(Entry(work, queue))
        return found

    def _hold(self, entry: Entry, *, first: bool) -> None:
        """Put a head back until pods are ready; only the first is told why."""
        self.held.append(entry.work.key)
        entry.queue.line.land(entry.work)
        entry.queue.line.push(entry.work)
        if first:
            self.life.wait(entry, parked=False)

    def _heads(self) -> Iterator[Entry]:
        queues = self.cluster.forest.queues
        for name in sorted(name for name, q in queues.items() if q.line.queued):
            queue = queues[name]
            work = queue.line.pop() if queue.active else None
            if work is not None:
                yield Entry(work, queue)

    def _conclude(self, entry: Entry) -> None:
        """Carry out what the cycle decided about a head."""
        work, queue = entry.work, entry.queue
        if entry.fate is Fate.ADMITTED:
            admit(self.life, entry)
            return
        if entry.fate is Fate.PREEMPTING:
            evictions.preempt(self.life, entry)
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

    # ---- what a driver tells ----

    def stopping(self) -> list[Key]:
        """Return the evicted workloads whose jobs have not stopped, by key."""
        return sorted(work.key for work in self.life.stopping)

    def stopped(self, key: Key) -> None:
        """Note that the job of an evicted workload has stopped."""
        work = self.cluster.works[key]
        self.pace.stir()
        evictions.stop(self.life, work)
        self.life.dirty[work] = None

    def finish(
        self, key: Key, message: str = JOB_FINISHED_SENTENCE, reason: str = JOB_FINISHED
    ) -> None:
        """Note that a workload ran to its end."""
        self.pace.stir()
        finish(self.life, self.cluster.works[key], reason, message)

    def pods_ready(self, key: Key, ready: bool) -> None:
        """Note that all pods of a workload run, or that some no longer do."""
        self.pace.stir()
        self.life.note_pods(self.cluster.works[key], ready=ready)

    def admitted(self) -> Iterator[Key]:
        """Yield the workloads that hold quota and run."""
        for queue in self.cluster.forest.queues.values():
            for work in queue.shelf.works:
                if not work.evicted:
                    yield work.key

    def due(self) -> int | None:
        """Return the next instant (ms) with a timer, or None."""
        self.settle()  # timers of what was just read back are set there
        dues = (
            self.life.timers.due(),
            self.pace.due(self.context.now_ms, heads=self._has_heads()),
        )
        return min((at for at in dues if at is not None), default=None)

    def _has_heads(self) -> bool:
        if not self.pace.paced or (self.held and self.blocked):
            return False
        queues = self.cluster.forest.queues.values()
        return any(q.line.queued and q.active for q in queues)

    # ---- storage ----

    def write(self, obj: Object) -> None:
        """Write status and memory of one object."""
        if obj.key.kind == "Workload":
            self._write_workload(obj)
        elif obj.key.kind in status.WRITERS:
            self.cluster.link()
            write = status.WRITERS[obj.key.kind]
            memory = write(self.cluster, obj, self.context.now_us)
            if obj.key.kind == "ClusterQueue":
                memory |= self._owed(obj.key.name)
            obj.memory[self.name] = memory

    def _owed(self, name: str) -> dict[str, int]:
        """Return what an edit of a ClusterQueue still has to bring about."""
        queue = self.cluster.forest.queues.get(name)
        kind = self.intake.edited.get(name) or int(queue in self.life.wake)
        if not kind:
            return {}
        self._told_owed.add(name)
        return {"edited": kind}

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
            self._told_dirty.add(work.key)
        if work in self.intake.placing.added:
            obj.memory[self.name]["added"] = True

    def dump_state(self) -> dict[str, Any]:
        """Return what is kept beside the objects."""
        memory: dict[str, Any] = {"cycle": self.cluster.cycle}
        if self.held:
            memory["held"] = [list(key) for key in self.held]
        return memory | self.pace.dump()

    def load_state(self, memory: dict[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self.cluster.cycle = memory.get("cycle", 0)
        self.held = [Key(*key) for key in memory.get("held") or ()]
        self.pace.load(memory)

    def owned(self) -> Iterable[Key]:
        """Return the keys of the objects whose status it writes."""
        yield from self.cluster.works
        for queue in self.cluster.forest.queues.values():
            yield from queue.trail
        yield from (d.key for d in self.cluster.doors.values() if d.spec is not None)
