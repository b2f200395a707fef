"""What happens to a workload: reserved, evicted, stopped, requeued, finished.

Source: docs/semantics/kueue-lifecycle.md#conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from scheduler.engine.kueue.cache.assumed import drop_quota
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.controller.check_answers import CheckAnswers
from scheduler.engine.kueue.queue.requeue import TimerHeap, Timers, backoff_over
from scheduler.engine.kueue.scheduler.second_pass import (
    Entry,
    needs_second_pass,
    wait_us,
)
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.usage.ledger import UsageLedger
from scheduler.engine.kueue.workload.info import (
    LATE,
    TOLD,
    LocalQueue,
    WorkloadInfo,
    set_condition,
)
from scheduler.engine.kueue.workload.reading import all_ready, queue_order_timestamp
from scheduler.engine.stage import Context
from scheduler.model.decisions import Wait
from scheduler.model.kueue.usage_settings import RetentionSettings
from scheduler.model.objects import Key
from scheduler.model.reasons import (
    ADMITTED,
    DEACTIVATED_DUE_TO,
    EVICTED,
    FINISHED,
    NO_PODS_ARE_MISSING,
    NO_RESERVATION,
    NO_RESERVATION_SENTENCE,
    ON_HOLD,
    PODS_ARE_MISSING,
    PODS_DO_NOT_RUN,
    PODS_FAILED,
    PODS_READY,
    PODS_RUN,
    QUOTA_RESERVED,
    RECOVERED,
    STARTED,
    WAIT_FOR_RECOVERY,
    WAIT_FOR_START,
    WAITING_FOR_REPLACEMENT_PODS,
)
from scheduler.model.releases import release

#: A longer message is cut.
#: Source: docs/semantics/kueue-lifecycle.md#why-a-workload-has-no-quota.
_LONGEST_MESSAGE = 32_768


class Lifecycle:
    """Moves workloads between waiting, holding quota and gone.

    Requeueing of trees is only requested here (`to_requeue`); the stage does it.
    `stopping` holds those that are evicted and have not stopped yet.
    """

    def __init__(
        self, cluster: Cluster, context: Context, answers: CheckAnswers
    ) -> None:
        self.cluster = cluster
        self.context = context
        self.answers = answers
        # Whether conditions say why a Workload is pending: releases/rules.py, REASONS.
        self.fine_reasons = cluster.settings.gates.fine_reasons
        usage = cluster.settings.usage
        self.ledger: UsageLedger | None = None
        if usage is not None:
            self.ledger = UsageLedger(usage, context, cluster.is_sampled)
        cluster.ledger = self.ledger
        self.takes_time = False  # whether a retry does
        self.to_requeue: dict[ClusterQueue, None] = {}
        self.stopping: dict[WorkloadInfo, None] = {}
        self.dirty: dict[WorkloadInfo, None] = {}  # to be reconciled
        self.touched_queues: dict[ClusterQueue, None] = {}
        self.touched_local_queues: dict[LocalQueue, None] = {}
        self.left_behind: dict[ClusterQueue, None] = {}  # count who is gone
        self.queue_changes = 0  # grows whenever the status of a ClusterQueue may change
        self.unready: dict[
            WorkloadInfo, None
        ] = {}  # admitted, and not all of their pods run
        self.second_passes: dict[WorkloadInfo, None] = {}  # in order of need
        #: Whether pods of a Workload run on a node; a driver that knows pods sets it.
        self.runs_on: Callable[[Key, str], bool] = lambda _, __: False
        self.timers = Timers(context, cluster.settings.waiting)
        self.retention: Retention | None = None
        if cluster.settings.retention is not None:
            self.retention = Retention(context, cluster.settings.retention)

    # ---- conditions ----

    def mark_queues_changed(
        self, work: WorkloadInfo, queue: ClusterQueue | None
    ) -> None:
        """Note that the status of a workload's queues changed."""
        self.touched_local_queues[work.local_queue] = None
        if queue is not None:
            self.touched_queues[queue] = None

    def flush(self) -> None:
        """Note in the journal which queues and cohorts changed."""
        if not (self.touched_queues or self.touched_local_queues):
            return
        touch = self.context.journal.touch
        self.queue_changes += bool(self.touched_queues)
        for queue in self.touched_queues:
            for key in queue.status_keys:
                touch(key)
        for local_queue in self.touched_local_queues:
            touch(local_queue.key)
        self.touched_queues.clear()
        self.touched_local_queues.clear()

    def set_condition(
        self, work: WorkloadInfo, kind: str, status: bool, reason: str, message: str
    ) -> bool:
        """Set a condition; return whether it changed."""
        self.context.journal.touch(work.key)
        if self.left_behind:
            self.hear_of(work)
        changed = set_condition(
            work, kind, status, reason, message[:_LONGEST_MESSAGE], self.context.now_us
        )
        if changed and self.cluster.families is not None:
            self.cluster.families.note(work)
        if changed and work.series == TOLD:
            work.series = 0
        if changed and self.ledger is not None:
            self.ledger.changed[work.local_queue] = None
        return changed

    def set_pending(self, work: WorkloadInfo, reason: str, message: str) -> bool:
        """Set why the workload has no quota; return whether that changed.

        Source: docs/semantics/kueue-lifecycle.md#why-a-workload-has-no-quota.
        """
        if not self.fine_reasons:
            reason = release.coarse(reason)
        return self._set_pending(work, reason, message)

    def _set_pending(self, work: WorkloadInfo, reason: str, message: str) -> bool:
        news = self.set_condition(work, QUOTA_RESERVED, False, reason, message)
        self.set_unadmitted(work, NO_RESERVATION, NO_RESERVATION_SENTENCE)
        return news

    def set_unadmitted(self, work: WorkloadInfo, reason: str, message: str) -> None:
        """Set Admitted=False; with coarse reasons only what was admitted gets it.

        Source: docs/semantics/kueue-lifecycle.md#quota-reserved-and-admitted.
        """
        if not self.fine_reasons:
            if not work.has_condition(ADMITTED):
                return
            reason = release.coarse_admitted(reason)
            if reason == NO_RESERVATION and work.checks and not all_ready(work.checks):
                reason = release.NO_RESERVATION_UNSATISFIED_CHECKS
                message = release.NEITHER_SENTENCE
        self.set_condition(work, ADMITTED, False, reason, message)

    # ---- waiting ----

    def eligible(self, work: WorkloadInfo) -> bool:
        """Return whether the workload may wait in a queue at all.

        Source: docs/semantics/kueue.md#eligibility-for-a-queue.
        """
        return (
            work.active
            and not work.gated
            and not (
                self.cluster.settings.waits_for_replacements
                and WAITING_FOR_REPLACEMENT_PODS in work.conditions
                and work.conditions[WAITING_FOR_REPLACEMENT_PODS].status
            )
            and not (QUOTA_RESERVED in work.conditions and is_on_hold(work))
            and not work.finished
            and not work.reserved
            and work.local_queue.is_active
            and (self.cluster.families is None or not self.cluster.is_parent(work))
        )

    def enqueue(self, work: WorkloadInfo, *, backing_off: bool = True) -> None:
        """Put a workload into its queue, if it may and has one; refreshes its order.

        While its backoff runs it is set aside, unless `backing_off` is False. One that
        is in a heap stays there, whatever became of its like.
        """
        before = work.pending_queue
        in_heap = before is not None and before.is_in_heap(work)
        self.leave_queue(work)
        self.update_queue_order(work)
        work.refresh()
        queue = self.cluster.cluster_queue_of(work) if self.eligible(work) else None
        if queue is None:
            if self.cluster.cluster_queue_of(work) is None:
                self.mark_queues_changed(work, None)  # its LocalQueue counts it
            return
        added = not backing_off or (in_heap and before is queue.pending)
        if backoff_over(work, self.context.now_us):
            queue.pending.push(work, added=added)
        elif added:
            queue.pending.push_backing_off(work)
        else:
            queue.pending.add_inadmissible(work)
        work.local_queue.pending += 1
        self.mark_queues_changed(work, queue)

    def update_queue_order(self, work: WorkloadInfo) -> None:
        """Set the time by which the workload queues.

        Source: docs/semantics/kueue.md#queue-order-timestamp.
        """
        waiting = self.cluster.settings.waiting
        by_eviction = waiting is None or waiting.by_eviction
        work.queue_order_us = queue_order_timestamp(work, by_eviction=by_eviction)

    def leave_queue(self, work: WorkloadInfo) -> None:
        """Take a workload out of the queue it waits in, if any."""
        pending = work.pending_queue
        if pending is not None:
            pending.remove(work)
            work.local_queue.pending -= 1
            self.mark_queues_changed(work, self.cluster.cluster_queue_of(work))

    # ---- a LocalQueue that is gone or held ----

    def leave_behind(self, queue: ClusterQueue, works: Iterable[WorkloadInfo]) -> None:
        """Take workloads out whose LocalQueue goes: nothing tells their ClusterQueue.

        Source: docs/semantics/kueue.md#held-localqueues.
        """
        pending = queue.pending
        before = pending.heard(), (pending.pending_active, pending.pending_inadmissible)
        for work in [w for w in works if w.pending_queue is pending]:
            self.leave_queue(work)
        if pending.heard() != before[0] and pending.heard_us != self.context.now_us:
            pending.shown = before[0] if pending.shown is None else pending.shown
            pending.told = pending.told or before[1]
            self.left_behind[queue] = None

    def hear_of(self, work: WorkloadInfo) -> None:
        """Let the ClusterQueue of a workload that changes count anew who waits."""
        if work.reserved:
            self.count_anew(work.cluster_queue)
        elif work.local_queue.is_active:
            self.count_anew(self.cluster.cluster_queue_of(work))
        if work.pending_queue is not None:
            self.tell_anew()

    def count_anew(self, queue: ClusterQueue | None) -> None:
        """Let a ClusterQueue count who waits, without those that left before."""
        if queue is not None and queue in self.left_behind:
            queue.pending.shown = queue.pending.told = None
            del self.left_behind[queue]
            self.touched_queues[queue] = None

    def tell_anew(self) -> None:
        """Let the metrics count who waits: heads are taken, or could be."""
        for queue in self.left_behind:
            if queue.active and queue.pending.told is not None:
                queue.pending.told = None
                self.touched_queues[queue] = None

    def report_not_admitted(self, entry: Entry, *, inadmissible: bool) -> None:
        """Report why a head was not admitted, and once more what a series held back.

        Source: docs/semantics/kueue-lifecycle.md#events-in-series.
        """
        work, reason, before = entry.work, entry.reason, entry.work.series
        if not self.fine_reasons:
            reason = release.coarse(reason, by_scheduler=True)
        news = self._set_pending(work, reason, entry.message)
        # One that stays in its queue is tried, and told of, at once again.
        goes_on = news and before == TOLD and inadmissible
        if news or before == LATE:
            self._emit_wait(work, reason, entry.message, inadmissible, goes_on)
        if goes_on:
            work.series = LATE
        elif self.takes_time:
            work.series = 0 if news else TOLD

    def report_pending(
        self, work: WorkloadInfo, reason: str, message: str, *, inadmissible: bool
    ) -> None:
        """Set why the workload has no quota, and report it when that changed."""
        if not self.fine_reasons:
            reason = release.coarse(reason)
        if self._set_pending(work, reason, message):
            self._emit_wait(work, reason, message, inadmissible)

    def _emit_wait(
        self,
        work: WorkloadInfo,
        reason: str,
        message: str,
        inadmissible: bool,
        in_series: bool = False,
    ) -> None:
        self.context.journal.emit(
            Wait(
                at_ms=self.context.now_ms,
                subject=work.key,
                reason=reason,
                message=message,
                inadmissible=inadmissible,
                in_series=in_series or msgspec.UNSET,
            )
        )

    def note_absent(self, work: WorkloadInfo, absent: int) -> bool:
        """Say whether a group waits for pods; return whether that is news.

        Source: docs/semantics/kueue-jobs.md#what-becomes-of-the-pods-of-a-group.
        """
        kind = WAITING_FOR_REPLACEMENT_PODS
        known, evicted = work.conditions.get(kind), work.conditions.get(EVICTED)
        waits = known is not None and known.status
        if not absent:
            if not waits:
                return False
            self.set_condition(work, kind, False, PODS_READY, NO_PODS_ARE_MISSING)
            if work.pending_queue is None and not work.reserved:
                self.enqueue(work)
            self.dirty[work] = None
            return True
        if evicted is not None and evicted.status:
            why = evicted.reason, evicted.message
        elif waits:
            return False
        else:
            why = PODS_FAILED, PODS_ARE_MISSING
        self.set_condition(work, kind, True, *why)
        if self.cluster.settings.waits_for_replacements:
            self.leave_queue(work)
        return True

    # ---- quota and clocks ----

    def note_pods_ready(self, work: WorkloadInfo, *, ready: bool) -> None:
        """Note that all pods of a workload run, or that some no longer do.

        Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
        """
        work.pods_ready = ready
        self.context.journal.touch(work.key)
        if self.cluster.settings.waiting is None:
            return
        known = work.conditions.get(PODS_READY)
        if ready:
            again = known is not None and known.reason == WAIT_FOR_RECOVERY
            self.set_condition(
                work, PODS_READY, True, RECOVERED if again else STARTED, PODS_RUN
            )
        elif known is not None and known.status:
            self.set_condition(
                work, PODS_READY, False, WAIT_FOR_RECOVERY, PODS_DO_NOT_RUN
            )
        self.arm_timer(work)

    def await_start(self, work: WorkloadInfo) -> None:
        """Say that the pods of a workload that lost its quota did not start."""
        if PODS_READY in work.conditions:
            self.set_condition(work, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)

    def arm_timer(self, work: WorkloadInfo) -> None:
        """Set the workload's timer, and count whether admissions wait for its pods."""
        self.timers.arm(work)
        if self.retention is not None:
            self.retention.arm(work)
        self.answers.arm(work)
        if self.cluster.settings.waiting is None:
            return
        waits = work.active and work.has_condition(ADMITTED)
        if waits and not (work.has_condition(PODS_READY) or work.finished):
            self.unready[work] = None
        else:
            self.unready.pop(work, None)

    def note_second_pass(self, work: WorkloadInfo) -> None:
        """Let a workload look for other places, if it has to; later after each try.

        Source: docs/semantics/kueue-topology.md#second-pass.
        """
        if not needs_second_pass(work):
            self.second_passes.pop(work, None)
            work.second_pass_us, work.second_pass_tries = None, 0
        elif work not in self.second_passes:
            self.second_passes[work] = None
            if work.second_pass_us is None:
                wait = wait_us(work.second_pass_tries)
                work.second_pass_us = self.context.now_us + wait

    def next_second_pass_us(self) -> int | None:
        """Return when (us) the first workload is due to look for places, or None."""
        found = (work.second_pass_us for work in self.second_passes)
        return min((at for at in found if at is not None), default=None)

    def due_second_passes(self) -> list[WorkloadInfo]:
        """Take out the workloads whose second pass is due."""
        now = self.context.now_us
        due = [w for w in self.second_passes if (w.second_pass_us or 0) <= now]
        for work in due:
            del self.second_passes[work]
            work.second_pass_us = None
            work.second_pass_tries += 1
        return [work for work in due if needs_second_pass(work)]

    def release_quota(self, work: WorkloadInfo) -> None:
        """Give the quota of a workload back and ask for a re-activation.

        One whose LocalQueue is held re-activates nothing.
        Source: docs/semantics/kueue.md#held-localqueues.
        """
        queue = work.cluster_queue
        if queue is not None:
            drop_quota(work, self.cluster)
            queue.generation += 1
            self.mark_queues_changed(work, queue)
        work.admission = None
        self.request_requeue(work, queue)

    def request_requeue(
        self, work: WorkloadInfo, queue: ClusterQueue | None = None
    ) -> None:
        """Ask for a re-activation around the workload's ClusterQueue, or around `queue`."""
        queue = queue or self.cluster.cluster_queue_of(work)
        if queue is not None and work.local_queue.is_active:
            self.to_requeue[queue] = None
            self.touched_queues[queue] = None  # it is stored as to be requeued

    def release_usage(self, work: WorkloadInfo) -> None:
        """Give usage back while the reservation's condition still stands."""
        admission = work.admission
        self.release_quota(work)
        work.admission = admission


def is_on_hold(work: WorkloadInfo) -> bool:
    """Return whether a workload gave up its quota as its job asks for nothing.

    Source: docs/semantics/kueue-jobs.md#a-statefulset-over-time.
    """
    known = work.conditions.get(QUOTA_RESERVED)
    return known is not None and not known.status and known.reason == ON_HOLD


# ------------------------------------------------------------------------
# Retention: how long a workload stays that has finished, or that Kueue gave up on.


_US = 1_000_000


class Retention(TimerHeap):
    """When each workload is to be deleted."""

    def __init__(self, context: Context, settings: RetentionSettings) -> None:
        super().__init__(context)
        self.settings = settings

    def arm(self, work: WorkloadInfo) -> None:
        """Set or drop the end of a workload's stay after it changed."""
        self.set(work.key, self._ends_ms(work))

    def take_due(self) -> Iterable[Key]:
        """Take out the workloads whose stay is over by now."""
        while (key := self.pop_due()) is not None:
            yield key

    def _ends_ms(self, work: WorkloadInfo) -> int | None:
        finished, evicted = work.conditions.get(FINISHED), work.conditions.get(EVICTED)
        if finished is not None and finished.status:
            return self._after(finished.since_us, self.settings.finished_ms)
        if work.active or evicted is None or not evicted.status or work.reserved:
            return None
        if not evicted.reason.startswith(DEACTIVATED_DUE_TO):
            return None  # a person did it
        return self._after(evicted.since_us, self.settings.deactivated_ms)

    def _after(self, since_us: int, stays_ms: int | None) -> int | None:
        """Return the end of a stay, counted from the whole second that is written."""
        if stays_ms is None:
            return None
        at = self.context.ms(since_us // _US * _US) + stays_ms
        return max(at, self.context.ms(since_us))
