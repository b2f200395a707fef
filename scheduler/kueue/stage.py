"""Kueue as a stage: objects in, decisions out, nothing else between.

The order of a driver at one instant: put / remove / finish / stopped, then
`reconcile`, then `cycle` and `reconcile` again until nothing moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler.kueue.cache.cluster import Cluster
from scheduler.kueue.configuration import Settings
from scheduler.kueue.controller import evictions, status
from scheduler.kueue.controller.admissions import admit, finish
from scheduler.kueue.controller.check_answers import CheckAnswers
from scheduler.kueue.controller.controller import Controller
from scheduler.kueue.controller.lifecycle import Lifecycle
from scheduler.kueue.controller.object_handlers import ObjectHandlers
from scheduler.kueue.controller.replacements import evict_for_node, replace
from scheduler.kueue.queue.requeue import backoff_over, requeue_head
from scheduler.kueue.scheduler.cycle import Cycle
from scheduler.kueue.scheduler.entries import Entry, EntryStatus
from scheduler.kueue.scheduler.pace import CyclePace
from scheduler.kueue.scheduler.preempting import ActivePreemption
from scheduler.kueue.trace import Trace
from scheduler.kueue.tree.tree import ClusterQueue, Cohort
from scheduler.kueue.workload.check_state import CheckState, read_states
from scheduler.kueue.workload.info import WorkloadInfo
from scheduler.kueue.workload.local_queue import LocalQueue
from scheduler.kueue.workload.reading import (
    STATUS_FIELDS,
    dump_state,
    status_of,
)
from scheduler.latencies import StepTimes
from scheduler.reasons import JOB_FINISHED, JOB_FINISHED_SENTENCE
from scheduler.records.check_rule import CheckRule
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
        *,
        rules: Sequence[CheckRule] | None = None,
    ) -> None:
        self.context = context
        self.pace = CyclePace(steps)
        self.settings = settings or Settings()
        self.cluster = Cluster(self.settings)
        self.preemption = ActivePreemption(self.settings)
        # Without rules, admission checks are answered from outside alone.
        self.answers = CheckAnswers(context, rules)
        self.life = Lifecycle(self.cluster, context, self.answers)
        self.controller = Controller(self.life)
        self.handlers = ObjectHandlers(self.cluster, self.life, self.name)
        # An explanation traces one workload here; nothing else sets it.
        self.traced: Key | None = None
        self.held: list[Key] = []  # heads of a cycle that waits for pods
        # Stored as still to be reconciled, and as still to be requeued: objects that
        # must be written again when that is done.
        self._stored_dirty: set[Key] = set()
        self._stored_edited: set[str] = set()
        self.trace: Trace | None = None

    # ---- objects in ----

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take an object that is new or changed, or one from storage.

        Objects may come in any order. Kinds that Kueue does not read are
        ignored. Raises QuantityError for a quantity that is none.
        """
        if restore and obj.state.get(self.name, {}).get("dirty"):
            self._stored_dirty.add(obj.key)
        self.handlers.put(obj, restore=restore)
        if restore:
            self._note_unsettled(obj)
        else:
            self.pace.note_change()
        self.life.flush()

    def _note_unsettled(self, obj: Object) -> None:
        state = obj.state.get(self.name) or {}
        if state.get("dirty"):
            self._stored_dirty.add(obj.key)
        if state.get("edited"):
            self._stored_edited.add(obj.key.name)

    def remove(self, key: Key) -> None:
        """Forget an object; a workload gives its quota back."""
        self.handlers.remove(key)
        self.pace.note_change()
        self.life.flush()

    def settle(self) -> None:
        """Link the trees and place what came since; decides nothing."""
        linked = bool(self.handlers.edited) or self.cluster.needs_linking
        self.handlers.settle()
        if linked:
            self._note_activity()
        self.life.flush()

    def _note_activity(self) -> None:
        for flipped in status.note_activity(self.cluster, self.context.now_us):
            if isinstance(flipped, LocalQueue):
                self.life.touched_local_queues[flipped] = None
            else:
                self.life.touched_queues[flipped] = None

    def start_over(self) -> None:
        """Try everyone again, as the controller does under a new Configuration."""
        self.handlers.start_over()
        self.pace.note_change()
        self.life.flush()

    # ---- controllers ----

    def reconcile(self) -> None:
        """Run the controllers on whatever changed or is due, then re-activate.

        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        self.settle()
        if self.life.ledger is not None:
            self.life.ledger.sample_due()
        for asked, check in self.answers.take_due():
            self._answer_by_rule(asked, check)
        dirty = self.life.dirty
        while (key := self.life.timers.pop_due()) is not None:
            dirty[self.cluster.workloads[key]] = None
        while dirty:
            self.pace.note_change()
            batch = sorted(dirty, key=lambda work: (work.created_us, work.uid))
            dirty.clear()
            for work in batch:
                if work.key in self._stored_dirty:
                    self._stored_dirty.discard(work.key)
                    self.context.journal.touch(work.key)
                self.controller.reconcile(work)
                self.life.arm_timer(work)
        self.requeue_inadmissible()
        if not self.life.stopping:
            self._look_at_usage()
        self.life.flush()

    def _look_at_usage(self) -> None:
        """Sample LocalQueues that changed, once evictions at this instant are over."""
        if self.life.ledger is not None:
            self.life.ledger.look()

    def _answer_by_rule(self, key: Key, name: str) -> None:
        work = self.cluster.workloads.get(key)
        answer = None if work is None else self.answers.answer(work, name)
        if answer is not None:
            self.answer_check(key, name, answer)

    def requeue_inadmissible(self) -> None:
        """Requeue inadmissible workloads wherever that was requested."""
        done: set[ClusterQueue] = set()
        requested, self.life.to_requeue = self.life.to_requeue, {}
        if self.pace.collects:
            requested = self._collected(requested)
        for asked in requested:
            if asked.name in self._stored_edited:
                self._stored_edited.discard(asked.name)
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
        now, queues = self.context.now_ms, self.cluster.forest.queues
        for asked in requested:
            if asked.name in queues:
                kind = "cohort" if isinstance(asked.root, Cohort) else "queue"
                self.pace.request_requeue(f"{kind} {asked.root.name}", asked.name, now)
        return {
            queues[name]: None for name in self.pace.due_requeues(now) if name in queues
        }

    def _requeue(self, queue: ClusterQueue) -> None:
        self.pace.note_change()
        now, touch = self.context.now_us, self.context.journal.touch

        def ready(work: WorkloadInfo) -> bool:
            touch(work.key)
            return backoff_over(work, now)

        queue.pending.requeue_inadmissible(
            lambda name: self.cluster.matches(queue, name), ready
        )
        self.life.touched_queues[queue] = None

    # ---- admission ----

    def cycle(self) -> bool:
        """Run one admission cycle; False when there was no head to try.

        Source: docs/semantics/kueue.md#admission-cycle.
        """
        self.settle()
        self._look_at_usage()
        if self.held and self.blocked:
            return False
        heads = self._held_heads() or list(self._heads())
        heads += self._second_passes()
        if not heads:
            return False
        self.cluster.cycle += 1
        run = Cycle(
            self.cluster,
            self.preemption,
            gated=self.gated,
            blocked=self.blocked,
            trace=self.trace,
            traced=self.cluster.workloads.get(self.traced) if self.traced else None,
        )
        lost = []
        for entry in run.run(heads):
            if entry.status is EntryStatus.LOST_NODE:
                lost.append(entry)  # another entry may have preempted it
            elif entry.status is EntryStatus.HELD:
                self._hold(entry, first=entry is run.waiting)
            else:
                self._carry_out(entry)
        for entry in lost:
            evict_for_node(self.life, entry)
        self.life.flush()
        return True

    def _second_passes(self) -> list[Entry]:
        """Return the workloads that look for other places, as further entries."""
        return [
            Entry(work, work.cluster_queue, second_pass=True)
            for work in self.life.due_second_passes()
            if work.cluster_queue is not None and work.cluster_queue.active
        ]

    @property
    def gated(self) -> bool:
        """Return whether each admission waits for the pods of those before it."""
        waiting = self.settings.waiting
        return waiting is not None and waiting.block

    @property
    def blocked(self) -> bool:
        """Return whether admissions wait for pods now.

        Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
        """
        return self.gated and bool(self.life.unready)

    def _held_heads(self) -> list[Entry]:
        """Return the heads of the cycle that waited; they stayed in their queues.

        Whoever left the queue meanwhile is out of the cycle.
        """
        held, self.held = self.held, []
        found = []
        for key in held:
            work = self.cluster.workloads.get(key)
            queue = self.cluster.cluster_queue_of(work) if work is not None else None
            if work is None or queue is None or not queue.active:
                continue
            if work.pending_queue is queue.pending and queue.pending.pop_workload(work):
                found.append(Entry(work, queue))
        return found

    def _hold(self, entry: Entry, *, first: bool) -> None:
        """Put a head back until pods are ready; only the first gets the reason."""
        self.held.append(entry.work.key)
        entry.queue.pending.clear_inflight(entry.work)
        entry.queue.pending.push(entry.work)
        if first:
            self.life.report_not_admitted(entry, inadmissible=False)

    def _heads(self) -> Iterator[Entry]:
        queues = self.cluster.forest.queues
        for name in sorted(
            name for name, q in queues.items() if q.pending.pending_active
        ):
            queue = queues[name]
            work = queue.pending.pop() if queue.active else None
            if work is not None:
                yield Entry(work, queue)

    def _carry_out(self, entry: Entry) -> None:
        """Carry out what the cycle decided about a head."""
        work, queue = entry.work, entry.queue
        if entry.status is EntryStatus.ADMITTED:
            admit(self.life, entry)
            return
        if entry.second_pass:
            self._end_second_pass(entry)
            return
        if entry.status is EntryStatus.PREEMPTING:
            evictions.preempt(self.life, entry)
        inadmissible = requeue_head(
            queue.pending,
            work,
            strategy=self.cluster.strategy(queue),
            reason=entry.requeue,
            why=entry.reason,
            now_us=self.context.now_us,
        )
        self.life.mark_queues_changed(work, queue)
        self.life.report_not_admitted(entry, inadmissible=inadmissible)

    def _end_second_pass(self, entry: Entry) -> None:
        if entry.status is EntryStatus.REPLACED:
            replace(self.life, entry)
        else:  # its ClusterQueue had another entry in this cycle
            self.life.note_second_pass(entry.work)

    # ---- what a driver reports ----

    def stopping(self) -> list[Key]:
        """Return the evicted workloads whose jobs have not stopped, by key."""
        return sorted(work.key for work in self.life.stopping)

    def stopped(self, key: Key) -> None:
        """Note that the job of an evicted workload has stopped."""
        work = self.cluster.workloads[key]
        self.pace.note_change()
        evictions.finish_eviction(self.life, work)
        self.life.dirty[work] = None

    def finish(
        self, key: Key, message: str = JOB_FINISHED_SENTENCE, reason: str = JOB_FINISHED
    ) -> None:
        """Note that a workload ran to its end."""
        self.pace.note_change()
        finish(self.life, self.cluster.workloads[key], reason, message)

    def answer_check(self, key: Key, name: str, answer: CheckState) -> bool:
        """Take what a check says of a workload; return whether the workload has it."""
        work = self.cluster.workloads.get(key)
        if work is None or work.finished or name not in work.checks:
            return False
        self.pace.note_change()
        self.controller.checks.set_state(work, name, answer)
        self.life.flush()
        return True

    def answer_checks(self, key: Key, given: Iterable[Mapping[str, Any]]) -> None:
        """Take answers as a Workload's status states them; those that are news."""
        work = self.cluster.workloads.get(key)
        for name, answer in read_states(given).items():
            known = None if work is None else work.checks.get(name)
            if known is None or (known.state, known.message) != (
                answer.state,
                answer.message,
            ):
                self.answer_check(key, name, answer)

    def pods_ready(self, key: Key, ready: bool) -> None:
        """Note that all pods of a workload run, or that some no longer do."""
        self.pace.note_change()
        self.life.note_pods_ready(self.cluster.workloads[key], ready=ready)

    def note_pod(self, pod: Object) -> None:
        """Note that a pod got its node, or ended: others' places may change by it."""
        if self.cluster.topologies.topologies:
            self.handlers.put(pod, restore=False)

    def admitted(self) -> Iterator[Key]:
        """Yield the workloads that hold quota and run."""
        for queue in self.cluster.forest.queues.values():
            for work in queue.admitted.workloads:
                if not work.evicted:
                    yield work.key

    def due(self) -> int | None:
        """Return the next instant (ms) with a timer, or None."""
        self.settle()  # timers of what was just read back are set there
        dues = (
            self.life.timers.due(),
            self.answers.due(),
            None if self.life.ledger is None else self.life.ledger.due(),
            self.pace.due(self.context.now_ms, heads=self.has_heads()),
            *(
                self.context.ms(work.second_pass_us)
                for work in self.life.second_passes
                if work.second_pass_us is not None
            ),
        )
        return min((at for at in dues if at is not None), default=None)

    def has_heads(self) -> bool:
        """Return whether a cycle would have a head to try. Paced cycles only."""
        if not self.pace.paced or (self.held and self.blocked):
            return False
        queues = self.cluster.forest.queues.values()
        return any(q.pending.pending_active and q.active for q in queues)

    # ---- storage ----

    def write(self, obj: Object) -> None:
        """Write status and state of one object."""
        if obj.key.kind == "Workload":
            self._write_workload(obj)
        elif obj.key.kind in status.WRITERS:
            self.cluster.link()
            write = status.WRITERS[obj.key.kind]
            state = write(self.cluster, obj, self.context.now_us)
            if obj.key.kind == "ClusterQueue":
                state |= self._pending_edit(obj.key.name)
            obj.state[self.name] = state

    def _pending_edit(self, name: str) -> dict[str, int]:
        """Return what an edit of a ClusterQueue still has to bring about."""
        queue = self.cluster.forest.queues.get(name)
        kind = self.handlers.edited.get(name) or int(queue in self.life.to_requeue)
        if not kind:
            return {}
        self._stored_edited.add(name)
        return {"edited": kind}

    def _write_workload(self, obj: Object) -> None:
        work = self.cluster.workloads.get(obj.key)
        if work is None:
            return
        kept = {k: v for k, v in obj.status.items() if k not in STATUS_FIELDS}
        obj.status = {**kept, **status_of(work)}
        if not work.active:
            obj.manifest["spec"]["active"] = False
        obj.state[self.name] = dump_state(work)
        if work in self.life.dirty:
            obj.state[self.name]["dirty"] = True
            self._stored_dirty.add(work.key)
        if work in self.handlers.assignment.added:
            obj.state[self.name]["added"] = True

    def dump_state(self) -> dict[str, Any]:
        """Return what is kept beside the objects."""
        state: dict[str, Any] = {"cycle": self.cluster.cycle}
        if self.held:
            state["held"] = [list(key) for key in self.held]
        if self.life.ledger is not None and self.life.ledger.changed:
            changed = sorted(queue.key for queue in self.life.ledger.changed)
            state["looks"] = [list(key) for key in changed]
        return state | self.pace.dump()

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self.cluster.cycle = state.get("cycle", 0)
        self.held = [Key(*key) for key in state.get("held") or ()]
        for _, namespace, name in state.get("looks") or ():
            if self.life.ledger is not None:
                self.life.ledger.changed[self.cluster.local_queue(namespace, name)] = (
                    None
                )
        self.pace.load(state)

    def owned(self) -> Iterable[Key]:
        """Return the keys of the objects whose status it writes."""
        yield from self.cluster.workloads
        for queue in self.cluster.forest.queues.values():
            yield from queue.status_keys
        yield from (
            d.key for d in self.cluster.local_queues.values() if d.spec is not None
        )
