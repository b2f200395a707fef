"""Kueue as a stage: objects in, decisions out, nothing else between.

The order of a driver at one instant: put / remove / finish / stopped, then
`reconcile`, then `cycle` and `reconcile` again until nothing moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.cache.proposing import Proposing
from scheduler.engine.kueue.concurrent.controller import VariantController
from scheduler.engine.kueue.controller import evictions, status
from scheduler.engine.kueue.controller.admissions import admit
from scheduler.engine.kueue.controller.check_answers import CheckAnswers
from scheduler.engine.kueue.controller.controller import Controller, Heads
from scheduler.engine.kueue.controller.evictions import finish
from scheduler.engine.kueue.controller.lifecycle import Lifecycle, is_on_hold
from scheduler.engine.kueue.controller.node_failures import evict_for_node, replace
from scheduler.engine.kueue.controller.object_handlers import ObjectHandlers
from scheduler.engine.kueue.controller.requeueing import Requeueing
from scheduler.engine.kueue.controller.stored_state import StoredState
from scheduler.engine.kueue.queue.requeue import RequeueReason, requeue_head
from scheduler.engine.kueue.scheduler.cycle import Cycle
from scheduler.engine.kueue.scheduler.preempting import ActivePreemption, CyclePace
from scheduler.engine.kueue.scheduler.second_pass import Entry, EntryStatus
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.workload.info import LocalQueue
from scheduler.engine.latencies import StepTimes
from scheduler.engine.stage import Context
from scheduler.model.admission_check import CheckRule
from scheduler.model.kueue.check_state import CheckState, read_states
from scheduler.model.kueue.configuration import Settings, read_configuration
from scheduler.model.objects import Key, Object
from scheduler.model.policy import PolicySpec
from scheduler.model.reasons import (
    BLOCKED_ON_GATES,
    HELD_NO_LONGER,
    JOB_FINISHED_SENTENCE,
    ON_HOLD,
    PENDING_EVALUATION,
    PREEMPTION_GATED,
    SUCCEEDED,
)


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
        self.settings = settings or Settings()
        self.pace = CyclePace(steps, batches=self.settings.requeues_in_batches)
        self.cluster = Cluster(self.settings)
        if self.settings.proposal is not None:
            self.cluster.proposing = Proposing(
                self.settings.proposal, context, self.cluster.forest.queues
            )
        self.preemption = ActivePreemption(
            self.settings, context.searched, self.cluster.proposing
        )
        # Without rules, admission checks are answered from outside alone.
        self.answers = CheckAnswers(context, rules)
        self.life = Lifecycle(self.cluster, context, self.answers)
        self.life.takes_time = self.pace.collects
        self.controller = Controller(self.life)
        self.handlers = ObjectHandlers(self.cluster, self.life, self.name)
        self.stored = StoredState(self.handlers)
        self.requeueing = Requeueing(self.life, self.pace, self.stored)
        self.heads = Heads(self.life)
        self.variants: VariantController | None = None
        if self.cluster.families is not None:
            self.variants = VariantController(self.life, self.cluster.families)
        self._queue_came = False  # a LocalQueue whose activity is not noted yet
        # An explanation traces one workload here; nothing else sets it.
        self.traced: Key | None = None
        self.trace: Trace | None = None

    # ---- objects in ----

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take an object that is new or changed, or one from storage.

        Objects may come in any order. Kinds that Kueue does not read are
        ignored. Raises QuantityError for an invalid quantity.
        """
        known = obj.key in self.cluster.workloads
        self.handlers.put(obj, restore=restore)
        self._queue_came |= obj.key.kind == "LocalQueue"
        if obj.key.kind == "Workload" and not (known or restore):
            self.heads.go_on_with(obj)
        if restore:
            self.stored.restored(obj)
        else:
            self.pace.note_change()
        self.life.flush()

    def remove(self, key: Key) -> None:
        """Forget an object; a workload gives its quota back."""
        self.handlers.remove(key)
        self.pace.note_change()
        self.life.flush()

    def settle(self) -> None:
        """Link the trees and place what came since; decides nothing."""
        if self.handlers.settled and not self._queue_came:
            self.life.flush()
            return
        linked = bool(self.handlers.edits.queues) or self.cluster.needs_linking
        self.handlers.settle()
        if linked or self._queue_came:
            self._queue_came = False
            for flipped in status.note_activity(self.cluster, self.context.now_us):
                if isinstance(flipped, LocalQueue):
                    self.life.touched_local_queues[flipped] = None
                else:
                    self.life.touched_queues[flipped] = None
        self.life.flush()

    def start_over(self) -> None:
        """Try everyone again, as the controller does under a new Configuration."""
        self.handlers.start_over()
        self.pace.note_change()
        self.life.flush()

    def variants_ended_by(self, spec: PolicySpec) -> list[Key]:
        """Return the variants that nothing looks after under a policy; O(workloads).

        What an admitted one holds is its parent's from then on.
        Source: docs/semantics/kueue-concurrent-admission.md#switched-off.
        """
        if self.variants is None:
            return []
        if (
            spec.stack == self.name
            and read_configuration(
                spec.kueue, spec.decides_as()
            ).gates.concurrent_admission
        ):
            return []
        works = self.cluster.workloads.values()
        return sorted(work.key for work in works if work.parent is not None)

    # ---- controllers ----

    def reconcile(self) -> None:
        """Run the controllers on whatever changed or is due, then re-activate.

        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        self.settle()
        if self.life.ledger is not None:
            self.life.ledger.sample_due()
        for asked, check in self.answers.take_due():
            work = self.cluster.workloads.get(asked)
            answer = None if work is None else self.answers.answer(work, check)
            if answer is not None:
                self.answer_check(asked, check, answer)
        if self.cluster.proposing is not None and self.cluster.proposing.wakes():
            self.pace.note_change()
            self.life.to_requeue.update(
                dict.fromkeys(self.cluster.forest.queues.values())
            )
        dirty = self.life.dirty
        while (key := self.life.timers.pop_due()) is not None:
            dirty[self.cluster.workloads[key]] = None
        if dirty:
            self._reconcile_dirty()
        while self.variants is not None and self.variants.reconcile():
            self._reconcile_dirty()
        self.handlers.edits.unreconciled.clear()
        self.requeue_inadmissible()
        if not self.life.stopping:
            self._look_at_usage()
        self.life.flush()

    def _reconcile_dirty(self) -> None:
        """Reconcile workloads until none is left that changed."""
        dirty, families = self.life.dirty, self.cluster.families
        while dirty:
            self.pace.note_change()
            batch = sorted(dirty, key=lambda work: (work.created_us, work.uid))
            dirty.clear()
            for work in batch:
                self.stored.reconciled(work)
                self.controller.reconcile(work)
                self.life.arm_timer(work)
                self.life.note_second_pass(work)
                if families is not None:
                    families.note(work)

    def _look_at_usage(self) -> None:
        """Sample LocalQueues that changed, once evictions at this instant are over."""
        if self.life.ledger is not None:
            self.life.ledger.look()

    def requeue_inadmissible(self) -> None:
        """Requeue inadmissible workloads wherever that was requested."""
        self.requeueing.run()

    # ---- admission ----

    def cycle(self) -> bool:
        """Run one admission cycle; False when there was no head to try.

        Source: docs/semantics/kueue.md#admission-cycle.
        """
        self.settle()
        self._look_at_usage()
        heads = self.heads.take()
        if not heads:
            return False
        self.cluster.cycle += 1
        self.life.tell_anew()
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
                self.heads.hold(entry, first=entry is run.waiting)
            else:
                self._carry_out(entry)
        for entry in lost:
            evict_for_node(self.life, entry)
        self.life.flush()
        return True

    @property
    def gated(self) -> bool:
        """Return whether each admission waits for the pods of those before it."""
        return self.heads.gated

    @property
    def blocked(self) -> bool:
        """Return whether admissions wait for pods now."""
        return self.heads.blocked

    def _carry_out(self, entry: Entry) -> None:
        """Carry out what the cycle decided about a head."""
        work, queue = entry.work, entry.queue
        if entry.status is EntryStatus.ADMITTED:
            admit(self.life, entry)
            return
        if entry.second_pass:
            if entry.status is EntryStatus.REPLACED:
                replace(self.life, entry)
            else:  # its ClusterQueue had another entry in this cycle
                self.life.note_second_pass(entry.work)
            return
        if entry.status is EntryStatus.PREEMPTING:
            evictions.preempt(self.life, entry)
        elif entry.migrated is not None:
            evictions.migrate(self.life, entry.migrated, by=work)
        elif entry.requeue is RequeueReason.PREEMPTION_GATED:
            kind, reason = BLOCKED_ON_GATES, PREEMPTION_GATED
            self.life.set_condition(work, kind, True, reason, entry.message)
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

    # ---- what a driver reports ----

    def stopping(self) -> list[Key]:
        """Return the evicted workloads whose jobs have not stopped, by key."""
        stopping = self.life.stopping
        return sorted(work.key for work in stopping) if stopping else []

    def stopped(self, key: Key) -> None:
        """Note that the job of an evicted workload has stopped."""
        work = self.cluster.workloads[key]
        self.pace.note_change()
        evictions.finish_eviction(self.life, work)
        self.life.dirty[work] = None

    def finish(
        self, key: Key, message: str = JOB_FINISHED_SENTENCE, reason: str = SUCCEEDED
    ) -> None:
        """Note that a workload ran to its end."""
        self.pace.note_change()
        finish(self.life, self.cluster.workloads[key], reason, message)

    def expired(self) -> list[Key]:
        """Return the workloads whose retention is over: the driver deletes them.

        Each is named once. Source: docs/semantics/kueue-lifecycle.md#retention.
        """
        retention = self.life.retention
        return [] if retention is None else list(retention.take_due())

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

    def hold(self, key: Key, message: str) -> None:
        """Take the quota of a workload whose job asks for nothing; it queues no more."""
        work = self.cluster.workloads.get(key)
        if work is None or work.finished or not work.reserved or work.evicted:
            return
        self.pace.note_change()
        self.life.release_quota(work)
        self.life.set_pending(work, ON_HOLD, message)
        self.life.note_pods_ready(work, ready=False)
        self.life.await_start(work)
        self.life.dirty[work] = None
        self.life.flush()

    def unhold(self, key: Key) -> None:
        """Let a workload that was on hold queue again."""
        work = self.cluster.workloads.get(key)
        if work is None or not is_on_hold(work):
            return
        self.pace.note_change()
        self.life.set_pending(work, PENDING_EVALUATION, HELD_NO_LONGER)
        self.life.enqueue(work)
        self.life.dirty[work] = None
        self.life.flush()

    def note_absent_pods(self, key: Key, absent: int) -> None:
        """Note how many pods of a group are missing: it waits for others.

        Source: docs/semantics/kueue-jobs.md#what-becomes-of-the-pods-of-a-group.
        """
        work = self.cluster.workloads.get(key)
        if (
            work is not None
            and not work.finished
            and self.life.note_absent(work, absent)
        ):
            self.pace.note_change()
            self.life.flush()

    def note_pod(self, pod: Object) -> None:
        """Note that a pod got its node, or ended: others' places may change by it."""
        if self.cluster.topologies.topologies:
            self.handlers.put(pod, restore=False)

    def note_pods_left(self, node: str) -> None:
        """Look at a node again that a pod has left: it may have failed before."""
        known = self.cluster.topologies.nodes.get(node)
        if known is not None and (not known.ready or known.taints):
            self.handlers.references.changed_nodes[node] = None

    def admitted(self) -> Iterator[Key]:
        """Yield the workloads that hold quota and run."""
        for queue in self.cluster.forest.queues.values():
            for work in queue.admitted.workloads:
                if not work.evicted:
                    yield work.key

    def due(self) -> int | None:
        """Return the next instant (ms) with a timer, or None."""
        self.settle()  # timers of what was just read back are set there
        pace = self.pace
        heads = pace.asks_for_heads and self.heads.exist()
        dues = [
            self.life.timers.due(),
            self.answers.due(),
            pace.due(self.context.now_ms, heads=heads),
        ]
        if self.life.ledger is not None:
            dues.append(self.life.ledger.due())
        if self.life.retention is not None:
            dues.append(self.life.retention.due())
        if self.variants is not None and (at_us := self.variants.due()) is not None:
            dues.append(self.context.ms(at_us + 999))
        if self.life.second_passes:
            dues.append(self._second_pass_due())
        if self.cluster.proposing is not None:
            dues.append(self.cluster.proposing.again_ms)
        return min([at for at in dues if at is not None], default=None)

    def awaited(self) -> str:
        """Return in words what `due` names."""
        due, pace, life = self.due(), self.pace, self.life
        dues = {
            "the timer of a workload": life.timers.due(),
            "the answer of an admission check": self.answers.due(),
            "a second pass of topology placement": self._second_pass_due(),
            "a sampling of usage": None if life.ledger is None else life.ledger.due(),
            "the retention of finished workloads": (
                None if life.retention is None else life.retention.due()
            ),
            "an admission cycle or a re-activation": pace.due(
                self.context.now_ms, heads=pace.asks_for_heads and self.heads.exist()
            ),
        }
        if self.cluster.proposing is not None:
            dues["an instant of the proposal"] = self.cluster.proposing.again_ms
        named = [words for words, at in dues.items() if at is not None and at == due]
        return ", ".join(named) or "the gate of a variant"

    def _second_pass_due(self) -> int | None:
        """Return when (ms) a cycle can take the first second pass, or None.

        None while a cycle is under way, whose end comes first, and while admissions
        wait for pods: neither begins a cycle.
        """
        at_us = self.life.next_second_pass_us()
        if at_us is None or self.heads.waiting or self.pace.ends_ms is not None:
            return None
        return max(self.context.ms(at_us + 999), self.pace.begins_ms)

    def has_heads(self) -> bool:
        """Return whether a cycle would have an entry to try. Paced cycles only.

        A second pass that is due begins a cycle by itself, also after cycles that
        moved nothing.
        """
        if not self.pace.paced:
            return False
        due = self._second_pass_due()
        if due is None or due > self.context.now_ms:
            return self.heads.exist()
        self.pace.begin_anyway()
        return True

    # ---- storage ----

    def write(self, obj: Object) -> None:
        """Write status and state of one object."""
        self.stored.write(obj)

    def dump_state(self) -> dict[str, Any]:
        """Return what is kept beside the objects."""
        state: dict[str, Any] = {"cycle": self.cluster.cycle}
        if self.heads.held:
            state["held"] = [list(key) for key in self.heads.held]
        if self.life.ledger is not None and self.life.ledger.changed:
            changed = sorted(queue.key for queue in self.life.ledger.changed)
            state["looks"] = [list(key) for key in changed]
        if (proposing := self.cluster.proposing) and (kept := proposing.dump()):
            state["proposal"] = kept
        return state | self.pace.dump()

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self.cluster.cycle = state.get("cycle", 0)
        self.heads.held = [Key(*key) for key in state.get("held") or ()]
        for _, namespace, name in state.get("looks") or ():
            if self.life.ledger is not None:
                self.life.ledger.changed[self.cluster.local_queue(namespace, name)] = (
                    None
                )
        if self.cluster.proposing is not None and "proposal" in state:
            self.cluster.proposing.load(state["proposal"])
        self.pace.load(state)
