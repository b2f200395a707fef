"""What Kueue's controllers do between cycles, workload by workload.

Source: docs/semantics/kueue-lifecycle.md#pending-outside-of-a-cycle.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kueue.controller import evictions
from scheduler.engine.kueue.controller.admissions import AdmissionChecks
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.controller.status import queue_verdict
from scheduler.engine.kueue.queue.requeue import (
    backoff_over,
    execution_deadline,
    pods_ready_deadline,
)
from scheduler.engine.kueue.scheduler.nominate import validation_error
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import (
    ADMISSION_CHECK,
    ADMISSION_GATED,
    ADMITTED,
    BACKOFF_FINISHED,
    BYPASSED,
    CLUSTER_QUEUE_RESTARTED,
    CLUSTER_QUEUE_STOPPED,
    DEACTIVATED,
    DEACTIVATING,
    DEACTIVATION_TARGET,
    LOCAL_QUEUE_RESTARTED,
    LOCAL_QUEUE_STOPPED,
    LOCAL_STOPPED_SENTENCE,
    MAXIMUM_EXECUTION_TIME_EXCEEDED,
    MISCONFIGURED,
    PENDING_EVALUATION,
    PODS_READY_TIMEOUT,
    QUEUE_STOPPED_SENTENCE,
    QUOTA_RESERVED,
    REACTIVATED,
    REQUEUED,
    REQUEUING_LIMIT_EXCEEDED,
    RESUMED,
    STILL_IN_QUEUE,
    SUSPENDED,
    WAITING_FOR_PODS_READY,
    condition,
    gated_by,
    inactive,
    missing,
    stopped,
)
from scheduler.model.releases.release import coarse

_STALE = ("Pending", DEACTIVATED, SUSPENDED)
#: Evicted for these, a workload waits until its requeueAt.
_BACKING_OFF = (PODS_READY_TIMEOUT, ADMISSION_CHECK)
_DRAIN = "HoldAndDrain"


class Controller:
    """Reconciles workloads; the order of the checks is that of the real one."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.life = lifecycle
        self.cluster = lifecycle.cluster
        self.context = lifecycle.context
        self.checks = AdmissionChecks(lifecycle)

    def reconcile(self, work: WorkloadInfo) -> None:
        """Make one workload agree with its spec, its queues and the clock."""
        if work.finished:
            return
        if work.has_condition(DEACTIVATION_TARGET) and work.active:
            evictions.stay_inactive(self.life, work)
        if not work.active:
            evictions.deactivate(self.life, work)
            if self.life.ledger is not None and not work.reserved:
                self.life.ledger.forget(work)
            self._sync_checks(work)
            if not work.reserved and not self.life.fine_reasons:
                self._say_refusal(work)
        elif work.reserved:
            self._reconcile_reserved(work)
        else:
            self._reconcile_pending(work)

    def _resume(self, work: WorkloadInfo, reason: str) -> None:
        self.life.set_condition(work, REQUEUED, True, reason, RESUMED[reason])
        self.life.enqueue(work)

    # ---- with quota ----

    def _reconcile_reserved(self, work: WorkloadInfo) -> None:
        """Stop what a queue drains or the clock ends; a run that is over counts always.

        Source: docs/semantics/kueue-lifecycle.md#order-of-deadlines.
        """
        if work.evicted:
            if not work.has_condition(ADMITTED) and self._lose_reservation(work):
                self.life.stopping.pop(work, None)
            return
        if self._check_admission(work):
            return
        ends = execution_deadline(work)
        overdue = ends is not None and self.context.now_us >= ends
        if not self._drain(work):
            limit = pods_ready_deadline(work, self.cluster.settings.waiting)
            if limit is not None and self.context.now_us >= limit:
                self._not_ready(work)
        if overdue and work.active:
            again, work.accumulated_s = work.accumulated_s > 0, 0
            self._deactivate_for(work, MAXIMUM_EXECUTION_TIME_EXCEEDED)
            if again:
                del work.conditions[DEACTIVATION_TARGET]

    def _check_admission(self, work: WorkloadInfo) -> bool:
        """Do what admission checks ask for; return whether nothing else is to be done.

        Source: docs/semantics/kueue-admission-checks.md#two-phase-admission.
        """
        if work.requeue_at_us is None and not work.checks and not self._checked(work):
            return False
        if self.checks.waits(work):
            return True
        self._sync_checks(work)
        self.checks.sync_admitted(work)
        return self.checks.evict(work)

    def _checked(self, work: WorkloadInfo) -> bool:
        queue = self.cluster.cluster_queue_of(work)
        return not work.has_condition(ADMITTED) or bool(queue and queue.spec.checks)

    def _sync_checks(self, work: WorkloadInfo) -> None:
        """List the checks of the ClusterQueue, if the LocalQueue leads to one.

        Those of a parent are its variants'.
        """
        if self.cluster.families is not None and self.cluster.is_parent(work):
            return
        queue = self.cluster.cluster_queue_of(work)
        if queue is not None and work.local_queue.is_active:
            self.checks.sync(work, queue)

    def _drain(self, work: WorkloadInfo) -> bool:
        """Evict a workload of a stopped queue; return whether it is one."""
        if not work.has_condition(ADMITTED):
            return self._lose_reservation(work)
        local_queue = work.local_queue
        if local_queue.spec is not None and local_queue.spec.stop == _DRAIN:
            evictions.evict(
                self.life, work, LOCAL_QUEUE_STOPPED, LOCAL_STOPPED_SENTENCE
            )
        elif local_queue.is_active and self._queue_stop(work) == _DRAIN:
            evictions.evict(
                self.life, work, CLUSTER_QUEUE_STOPPED, QUEUE_STOPPED_SENTENCE
            )
        else:
            return False
        return True

    def _queue_stop(self, work: WorkloadInfo) -> str:
        queue = self.cluster.cluster_queue_of(work)
        return queue.spec.stop if queue is not None else "None"

    def _lose_reservation(self, work: WorkloadInfo) -> bool:
        """Drop a reservation whose queue stopped; return whether it did.

        Source: docs/semantics/kueue-lifecycle.md#stop-policies.
        """
        local_queue, queue = work.local_queue, self.cluster.cluster_queue_of(work)
        if local_queue.spec is None:
            why = MISCONFIGURED, missing("LocalQueue", work.local_queue_name)
        elif local_queue.spec.stop != "None":
            why = SUSPENDED, stopped("LocalQueue", work.local_queue_name)
        elif queue is None:
            why = MISCONFIGURED, missing("ClusterQueue", local_queue.spec.queue)
        elif queue.spec.stop != "None":
            why = SUSPENDED, stopped("ClusterQueue", queue.name)
        else:
            return False
        self.life.release_quota(work)
        self.life.set_pending(work, *why)
        self.life.enqueue(work)
        self.life.dirty[work] = None
        return True

    def _deactivate_for(self, work: WorkloadInfo, reason: str) -> None:
        evictions.set_deactivation_target(self.life, work, reason, DEACTIVATING[reason])
        evictions.deactivate(self.life, work)

    def _not_ready(self, work: WorkloadInfo) -> None:
        waiting = self.cluster.settings.waiting
        assert waiting is not None
        if waiting.limit is not None and work.requeue_count + 1 > waiting.limit:
            self._deactivate_for(work, REQUEUING_LIMIT_EXCEEDED)
            del work.conditions[DEACTIVATION_TARGET]
        else:
            evictions.evict_pods_ready_timeout(self.life, work)

    # ---- without quota ----

    def _reconcile_pending(self, work: WorkloadInfo) -> None:
        self._end_backoff(work)
        if work.requeue_at_us is not None:
            return  # its backoff runs: nothing is done before it is over
        self._sync_checks(work)
        if not self._say_refusal(work):
            self._refresh_reason(work)

    def _say_refusal(self, work: WorkloadInfo) -> bool:
        """Say what keeps a workload from being tried; return whether something does."""
        refusal = self._refusal(work)
        if refusal is None:
            return False
        pending = work.pending_queue
        aside = pending is None or pending.is_inadmissible(work)
        self.life.report_pending(work, *refusal, inadmissible=aside)
        return True

    def _refusal(self, work: WorkloadInfo) -> tuple[str, str] | None:
        """Return (reason, message) of what keeps a workload from being tried.

        Source: docs/semantics/kueue-lifecycle.md#pending-outside-of-a-cycle.
        """
        if work.gated:
            return ADMISSION_GATED, gated_by(work.gated)
        local_queue, queue, name = (
            work.local_queue,
            self.cluster.cluster_queue_of(work),
            work.local_queue_name,
        )
        if local_queue.spec is None:
            return MISCONFIGURED, missing("LocalQueue", name)
        if not local_queue.is_active:
            return SUSPENDED, inactive("LocalQueue", name)
        if queue is None:
            return MISCONFIGURED, missing("ClusterQueue", local_queue.spec.queue)
        self._end_stop(work)
        if not queue.active:
            # Of a loop of cohorts the scheduler tells, and the queue says nothing.
            told = not self.life.fine_reasons
            looped = told and queue_verdict(self.cluster, queue)[0]
            reason = PENDING_EVALUATION if looped else SUSPENDED
            return reason, inactive("ClusterQueue", queue.name)
        if not self.life.fine_reasons:
            return None  # the scheduler says it, once it tries the workload
        problem = validation_error(self.cluster, work, queue)
        return (MISCONFIGURED, problem) if problem else None

    def _end_backoff(self, work: WorkloadInfo) -> None:
        """Let a workload queue whose backoff is over, or that is active again.

        One that Kueue itself deactivated has another reason and is not let back.
        Source: docs/semantics/kueue-lifecycle.md#reactivation-after-an-automatic-deactivation.
        """
        at = work.requeue_at_us
        if at is not None and at <= self.context.now_us:
            work.requeue_at_us = None
            work.unseen = False
            self.context.journal.touch(work.key)
            if work.has_condition(REQUEUED):
                self.life.enqueue(work)
        requeued = work.conditions.get(REQUEUED)
        if requeued is None or requeued.status:
            return
        if requeued.reason == DEACTIVATED:
            self._resume(work, REACTIVATED)
        elif requeued.reason in _BACKING_OFF and work.requeue_at_us is None:
            self._resume(work, BACKOFF_FINISHED)

    def _end_stop(self, work: WorkloadInfo) -> None:
        """Let a drained workload back in once its queue was started again.

        Source: docs/semantics/kueue-lifecycle.md#stop-policies.
        """
        requeued = work.conditions.get(REQUEUED)
        if requeued is None or requeued.status:
            return
        if requeued.reason == LOCAL_QUEUE_STOPPED:
            self._resume(work, LOCAL_QUEUE_RESTARTED)
        elif (
            requeued.reason == CLUSTER_QUEUE_STOPPED
            and self._queue_stop(work) == "None"
        ):
            self._resume(work, CLUSTER_QUEUE_RESTARTED)

    def _refresh_reason(self, work: WorkloadInfo) -> None:
        """Replace a reason that no longer holds.

        Source: docs/semantics/kueue-lifecycle.md#pending-outside-of-a-cycle.
        """
        known = work.conditions.get(QUOTA_RESERVED)
        if known is None or work.pending_queue is None or not self.life.fine_reasons:
            return
        bypassed = work.pending_queue.failed_hashes.get(work.scheduling_hash)
        if (
            work.pending_queue.equivalence_hashing
            and bypassed
            and work.pending_queue.is_inadmissible(work)
        ):
            if known.reason == PENDING_EVALUATION or known.reason in _STALE:
                self.life.set_pending(work, bypassed, BYPASSED)
        elif known.reason in _STALE:
            self.life.set_pending(work, PENDING_EVALUATION, STILL_IN_QUEUE)


# ------------------------------------------------------------------------
# The entries of a cycle: the head of every queue, second passes, and heads held back.


class Heads:
    """Takes heads out of their queues for a cycle.

    Where each admission waits for the pods of those before it, the heads behind
    are `held` and make the next cycle by themselves.
    """

    def __init__(self, life: Lifecycle) -> None:
        self.life = life
        self.cluster = life.cluster
        self.held: list[Key] = []
        self._waits_for_pods = (
            WAITING_FOR_PODS_READY
            if life.fine_reasons
            else coarse(WAITING_FOR_PODS_READY)
        )
        self._held_since = ""  # when a head that came so began to wait

    @property
    def gated(self) -> bool:
        """Return whether each admission waits for the pods of those before it."""
        waiting = self.cluster.settings.waiting
        return waiting is not None and waiting.block

    @property
    def blocked(self) -> bool:
        """Return whether admissions wait for pods now.

        Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
        """
        return self.gated and bool(self.life.unready)

    @property
    def waiting(self) -> bool:
        """Return whether the cycle goes on only when pods are ready."""
        return bool(self.held) and self.blocked

    def take(self) -> list[Entry]:
        """Return the entries of the next cycle, out of their queues; [] for none."""
        if self.waiting:
            return []
        heads = self._held_heads() if self.held else []
        heads = heads or list(self._queue_heads())
        return heads + self._second_passes() if self.life.second_passes else heads

    def hold(self, entry: Entry, *, first: bool) -> None:
        """Put a head back until pods are ready; only the first gets the reason."""
        self.held.append(entry.work.key)
        pending, now = entry.queue.pending, self.life.context.now_us
        pending.clear_inflight(entry.work)
        if backoff_over(entry.work, now):
            pending.push(entry.work)
        else:  # it was tried before its time, as after an edit of its queue
            pending.push_backing_off(entry.work)
        if first:
            self.life.report_not_admitted(entry, inadmissible=False)

    def go_on_with(self, workload: Object) -> None:
        """Hold a head that came with the condition that it waits for others' pods.

        The cycle goes on with it alone: which heads stood behind it is not said, and
        the next cycle takes them. Of several the last that began to wait is held, as
        a condition may be left from before.
        """
        found = condition(workload.status, "QuotaReserved") or {}
        waits = found.get("reason") == self._waits_for_pods
        since = str(found.get("lastTransitionTime") or "")
        if self.gated and waits and since >= self._held_since:
            self.held, self._held_since = [workload.key], since

    def exist(self) -> bool:
        """Return whether a cycle would have a head to try."""
        if self.waiting:
            return False
        for queue in self.cluster.forest.queues.values():
            if queue.pending.pending_active and queue.active:
                return True
        return False

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

    def _queue_heads(self) -> Iterator[Entry]:
        queues = self.cluster.forest.queues
        active = [name for name, q in queues.items() if q.pending.pending_active]
        for name in sorted(active):
            queue = queues[name]
            work = queue.pending.pop() if queue.active else None
            if work is not None:
                yield Entry(work, queue)

    def _second_passes(self) -> list[Entry]:
        """Return the workloads that look for other places, as further entries.

        One whose ClusterQueue is inactive has to wait once more.
        """
        found = []
        for work in self.life.due_second_passes():
            queue = work.cluster_queue
            if queue is not None and queue.active:
                found.append(Entry(work, queue, second_pass=True))
            else:
                self.life.note_second_pass(work)
        return found
