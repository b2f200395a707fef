"""What Kueue's controllers do between cycles, workload by workload.

Source: KUEUE.md 10.4, 11.
"""

from __future__ import annotations

from scheduler.kueue.controller import evictions
from scheduler.kueue.controller.lifecycle import Lifecycle
from scheduler.kueue.queue.clocks import execution_limit, ready_limit
from scheduler.kueue.scheduler.nominate import misfit
from scheduler.kueue.workload.info import Work
from scheduler.reasons import (
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
    gated_by,
    inactive,
    missing,
    stopped,
)

_STALE = ("Pending", DEACTIVATED, SUSPENDED)
#: Evicted for these, a workload waits until its requeueAt.
_BACKING_OFF = (PODS_READY_TIMEOUT, ADMISSION_CHECK)
_HOLD, _DRAIN = "Hold", "HoldAndDrain"


class Controller:
    """Reconciles workloads; the order of the checks is that of the real one."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.life = lifecycle
        self.cluster = lifecycle.cluster
        self.context = lifecycle.context

    def reconcile(self, work: Work) -> None:
        """Bring one workload in line with its spec, its queues and the clock."""
        if work.finished:
            return
        if work.holds(DEACTIVATION_TARGET) and work.active:
            work.active = False  # somebody made it active: Kueue's own reason stands
            self.context.journal.touch(work.key)
        if not work.active:
            evictions.deactivate(self.life, work)
        elif work.reserved:
            self._reconcile_reserved(work)
        else:
            self._reconcile_pending(work)

    def _resume(self, work: Work, reason: str) -> None:
        self.life.say(work, REQUEUED, True, reason, RESUMED[reason])
        self.life.enqueue(work)

    # ---- with quota ----

    def _reconcile_reserved(self, work: Work) -> None:
        """Stop what a queue drains or the clock ends; a run that is over counts always.

        Source: docs/semantics/kueue-lifecycle.md#order-of-deadlines.
        """
        if work.evicted:
            return
        overdue = self._overdue(work)
        if not self._drain(work):
            self._check_pods(work)
        if overdue and work.active:
            work.accumulated_s = 0
            self._condemn(work, MAXIMUM_EXECUTION_TIME_EXCEEDED)

    def _drain(self, work: Work) -> bool:
        """Take a workload of a stopped queue its quota; tell whether that was so."""
        door = work.door
        if door.spec is not None and door.spec.stop == _DRAIN:
            evictions.evict(
                self.life, work, LOCAL_QUEUE_STOPPED, LOCAL_STOPPED_SENTENCE
            )
        elif door.open and self._queue_stop(work) == _DRAIN:
            evictions.evict(
                self.life, work, CLUSTER_QUEUE_STOPPED, QUEUE_STOPPED_SENTENCE
            )
        elif not work.holds(ADMITTED) and self._queue_stop(work) == _HOLD:
            self._lose_reservation(work)
        else:
            return False
        return True

    def _queue_stop(self, work: Work) -> str:
        queue = self.cluster.queue_of(work)
        return queue.spec.stop if queue is not None else "None"

    def _lose_reservation(self, work: Work) -> None:
        queue = self.cluster.queue_of(work)
        assert queue is not None
        self.life.drop(work)
        self.life.pend(work, SUSPENDED, stopped(queue.name))
        self.life.enqueue(work)

    def _overdue(self, work: Work) -> bool:
        ends = execution_limit(work)
        return ends is not None and self.context.now_us >= ends

    def _check_pods(self, work: Work) -> None:
        limit = ready_limit(work, self.cluster.settings.waiting)
        if limit is not None and self.context.now_us >= limit:
            self._not_ready(work)

    def _condemn(self, work: Work, reason: str) -> None:
        evictions.condemn(self.life, work, reason, DEACTIVATING[reason])
        evictions.deactivate(self.life, work)

    def _not_ready(self, work: Work) -> None:
        waiting = self.cluster.settings.waiting
        assert waiting is not None
        if waiting.limit is not None and work.requeue_count + 1 > waiting.limit:
            self._condemn(work, REQUEUING_LIMIT_EXCEEDED)
        else:
            evictions.time_out(self.life, work)

    # ---- without quota ----

    def _reconcile_pending(self, work: Work) -> None:
        self._end_backoff(work)
        refusal = self._refusal(work)
        if refusal is not None:
            parked = work.line is None or work.line.parked(work)
            self.life.refuse(work, *refusal, parked=parked)
        else:
            self._refresh_reason(work)

    def _refusal(self, work: Work) -> tuple[str, str] | None:
        """Return (reason, message) of what keeps a workload from being tried.

        Source: KUEUE.md 10.4.
        """
        if work.gated:
            return ADMISSION_GATED, gated_by(work.gated)
        door, queue, name = work.door, self.cluster.queue_of(work), work.local_queue
        if door.spec is None:
            return MISCONFIGURED, missing("LocalQueue", name)
        if not door.open:
            return SUSPENDED, inactive("LocalQueue", name)
        if queue is None:
            return MISCONFIGURED, missing("ClusterQueue", door.spec.queue)
        self._end_stop(work)
        if not queue.active:
            return SUSPENDED, inactive("ClusterQueue", queue.name)
        problem = misfit(self.cluster, work, queue)
        return (MISCONFIGURED, problem) if problem else None

    def _end_backoff(self, work: Work) -> None:
        """Let a workload queue whose backoff is over, or that is active again.

        One that Kueue itself deactivated has another reason and is not let back.
        Source: docs/semantics/kueue-lifecycle.md#reactivation-after-an-automatic-deactivation.
        """
        at = work.requeue_at_us
        if at is not None and at <= self.context.now_us:
            work.requeue_at_us = None
            self.context.journal.touch(work.key)
        requeued = work.conditions.get(REQUEUED)
        if requeued is None or requeued.status:
            return
        if requeued.reason == DEACTIVATED:
            self._resume(work, REACTIVATED)
        elif requeued.reason in _BACKING_OFF and work.requeue_at_us is None:
            self._resume(work, BACKOFF_FINISHED)

    def _end_stop(self, work: Work) -> None:
        """Let a drained workload back in once its queue was started again.

        Source: KUEUE.md 11.3.
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

    def _refresh_reason(self, work: Work) -> None:
        """Replace a reason that no longer holds. Source: KUEUE.md 10.4."""
        known = work.conditions.get(QUOTA_RESERVED)
        if known is None or work.line is None:
            return
        bypassed = work.line.remembered.get(work.identity)
        if work.line.hashing and bypassed and work.line.parked(work):
            if known.reason in (*_STALE, PENDING_EVALUATION):
                self.life.pend(work, bypassed, BYPASSED)
        elif known.reason in _STALE:
            self.life.pend(work, PENDING_EVALUATION, STILL_IN_QUEUE)
