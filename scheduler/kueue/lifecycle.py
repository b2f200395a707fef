"""What happens to a workload: reserved, evicted, stopped, requeued, finished.

Source: KUEUE.md 10, 11.
"""

from __future__ import annotations

from scheduler import streams
from scheduler.decisions import (
    Admit,
    Deactivate,
    Evict,
    Finish,
    PodSetAdmission,
    Preempt,
    Requeue,
    Wait,
)
from scheduler.kueue.clocks import Timers
from scheduler.kueue.cluster import Cluster, Door
from scheduler.kueue.conditions import restart, set_condition
from scheduler.kueue.entries import Entry
from scheduler.kueue.holding import drop_quota, take_quota
from scheduler.kueue.reading import queue_time
from scheduler.kueue.requeue import backoff_over
from scheduler.kueue.tree import Queue
from scheduler.kueue.work import Work
from scheduler.reasons import (
    ADMITTED,
    ADMITTED_SENTENCE,
    DEACTIVATED,
    DEACTIVATED_DUE_TO,
    DEACTIVATED_SENTENCE,
    DEACTIVATION_TARGET,
    EVICTED,
    FINISHED,
    MAXIMUM_EXECUTION_TIME_EXCEEDED,
    NO_RESERVATION,
    NO_RESERVATION_SENTENCE,
    PENDING_EVALUATION,
    PODS_DO_NOT_RUN,
    PODS_READY,
    PODS_READY_TIMEOUT,
    PODS_RUN,
    PREEMPTED,
    QUOTA_RESERVED,
    RECOVERED,
    REQUEUED,
    REQUEUED_AT_ONCE,
    STARTED,
    WAIT_FOR_RECOVERY,
    WAIT_FOR_START,
    pods_ready_timeout,
    preempted_for,
    reserved_in,
)
from scheduler.stage import Context

#: A longer message is cut. Source: KUEUE.md 10.2.
_LONGEST_MESSAGE = 32_768
_JITTER = 0.0001
OVERTIME = DEACTIVATED_DUE_TO + MAXIMUM_EXECUTION_TIME_EXCEEDED
_US = 1_000_000


class Lifecycle:
    """Moves workloads between waiting, holding quota and gone.

    Re-activations are only asked for here (`wake`); the stage performs them.
    `stopping` holds those that are evicted and have not stopped yet.
    """

    def __init__(self, cluster: Cluster, context: Context) -> None:
        self.cluster = cluster
        self.context = context
        self.wake: dict[Queue, None] = {}
        self.stopping: dict[Work, None] = {}
        self.dirty: dict[Work, None] = {}  # to be reconciled
        self.touched_queues: dict[Queue, None] = {}
        self.touched_doors: dict[Door, None] = {}
        self.unready: dict[Work, None] = {}  # admitted, and not all of their pods run
        self.timers = Timers(context, cluster.settings.waiting)

    # ---- words ----

    def mark(self, work: Work, queue: Queue | None) -> None:
        """Note that the status of a workload's queues changed."""
        self.touched_doors[work.door] = None
        if queue is not None:
            self.touched_queues[queue] = None

    def flush(self) -> None:
        """Tell the journal which queues and cohorts changed."""
        touch = self.context.journal.touch
        for queue in self.touched_queues:
            for key in queue.trail:
                touch(key)
        for door in self.touched_doors:
            touch(door.key)
        self.touched_queues.clear()
        self.touched_doors.clear()

    def say(
        self, work: Work, kind: str, status: bool, reason: str, message: str
    ) -> bool:
        """Set a condition; return whether it changed."""
        self.context.journal.touch(work.key)
        return set_condition(
            work, kind, status, reason, message[:_LONGEST_MESSAGE], self.context.now_us
        )

    def pend(self, work: Work, reason: str, message: str) -> bool:
        """Say why the workload has no quota; return whether that is news.

        Source: KUEUE.md 10.2.
        """
        news = self.say(work, QUOTA_RESERVED, False, reason, message)
        if work.holds(ADMITTED):
            self.say(work, ADMITTED, False, NO_RESERVATION, NO_RESERVATION_SENTENCE)
        return news

    # ---- waiting ----

    def eligible(self, work: Work) -> bool:
        """Tell whether the workload may wait in a queue at all.

        Source: KUEUE.md 5.1.
        """
        return (
            work.active
            and not work.gated
            and not work.finished
            and not work.reserved
            and work.door.open
        )

    def enqueue(self, work: Work) -> None:
        """Put a workload into its line, if it may and has one; refreshes its order."""
        self.leave_line(work)
        waiting = self.cluster.settings.waiting
        by_eviction = waiting is None or waiting.by_eviction
        work.queued_us = queue_time(work, by_eviction=by_eviction)
        work.refresh()
        queue = self.cluster.queue_of(work) if self.eligible(work) else None
        if queue is None:
            return
        if backoff_over(work, self.context.now_us):
            queue.line.push(work)
        else:
            queue.line.park(work)
        work.door.pending += 1
        self.mark(work, queue)

    def leave_line(self, work: Work) -> None:
        """Take a workload out of the line it waits in, if any."""
        line = work.line
        if line is not None:
            line.forget(work)
            work.door.pending -= 1
            self.mark(work, self.cluster.queue_of(work))

    def wait(self, entry: Entry, *, parked: bool) -> None:
        """Tell why a head was not admitted."""
        work = entry.work
        if self.pend(work, entry.reason, entry.message):
            self.context.journal.emit(
                Wait(
                    at_ms=self.context.now_ms,
                    subject=work.key,
                    reason=entry.reason,
                    message=entry.message,
                    parked=parked,
                )
            )

    # ---- admission ----

    def admit(self, entry: Entry) -> None:
        """Record an admission whose usage the cycle has charged already.

        Source: KUEUE.md 7.4, 10.1.
        """
        assert entry.assignment is not None
        work, queue = entry.work, entry.queue
        now = self.context.now_us
        queue.line.land(work)
        if queue.line.sticky is work:
            queue.line.sticky = None
        work.door.pending -= 1
        work.admission = entry.assignment.admission(queue.name)
        sentence = reserved_in(queue.name)
        self.say(work, QUOTA_RESERVED, True, QUOTA_RESERVED, sentence)
        restart(work, now)
        self.say(work, ADMITTED, True, ADMITTED, ADMITTED_SENTENCE)
        if self.cluster.settings.waiting is not None:
            self.say(work, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)
        take_quota(work, queue, charged=True)
        work.attempt = None
        queue.generation += 1  # the admission comes back as an update of the cache
        self.mark(work, queue)
        self.arm(work)
        self._emit_admit(work, sentence)

    def _emit_admit(self, work: Work, sentence: str) -> None:
        assert work.admission is not None
        self.context.journal.emit(
            Admit(
                at_ms=self.context.now_ms,
                subject=work.key,
                reason=QUOTA_RESERVED,
                message=sentence,
                queue=work.admission.queue,
                pod_sets=tuple(
                    PodSetAdmission(part.name, part.count, part.flavors, part.usage)
                    for part in work.admission.pod_sets
                ),
            )
        )

    # ---- eviction ----

    def preempt(self, entry: Entry) -> None:
        """Evict an entry's targets for it; those already evicted stay as they are.

        Source: KUEUE.md 10.3.
        """
        for victim, reason in entry.targets:
            if victim.evicted or victim.queue is None:
                continue
            message = preempted_for(
                entry.work.uid,
                entry.work.job_uid,
                reason,
                entry.queue.full_path,
                victim.queue.full_path,
            )
            self.say(victim, PREEMPTED, True, reason, message)
            self._mark_evicted(victim, PREEMPTED, message, cause=reason)
            self.context.journal.emit(
                Preempt(
                    at_ms=self.context.now_ms,
                    subject=victim.key,
                    by=entry.work.key,
                    reason=reason,
                    message=message,
                    strategy=self.cluster.settings.preemption,
                    work_lost_ms=self._admitted_ms(victim),
                )
            )

    def evict(self, work: Work, reason: str, message: str, cause: str = "") -> None:
        """Start an eviction: quota is held until the job has stopped.

        Source: KUEUE.md 11.1.
        """
        self._mark_evicted(work, reason, message, cause=cause)
        self.context.journal.emit(
            Evict(
                at_ms=self.context.now_ms,
                subject=work.key,
                reason=reason,
                message=message,
            )
        )

    def _mark_evicted(
        self, work: Work, reason: str, message: str, *, cause: str
    ) -> None:
        queue = work.queue
        if queue is not None:
            queue.shelf.drop(work)
        self.say(work, EVICTED, True, reason, message)
        if queue is not None:
            queue.shelf.put(work)
            queue.generation += 1
            self.mark(work, queue)
        known = (reason, cause)
        work.evictions[known] = work.evictions.get(known, 0) + 1
        if work.reserved:
            self.stopping[work] = None

    def _admitted_ms(self, work: Work) -> int:
        admitted = work.conditions.get(ADMITTED)
        if admitted is None or not admitted.status:
            return 0
        return (self.context.now_us - admitted.since_us) // 1000

    def stop(self, work: Work) -> None:
        """Finish an eviction: the job has stopped, quota is released.

        Source: KUEUE.md 11.1.
        """
        evicted = work.conditions[EVICTED]
        self.stopping.pop(work, None)
        again = evicted.reason in REQUEUED_AT_ONCE
        self.say(work, REQUEUED, again, evicted.reason, evicted.message)
        if evicted.reason != OVERTIME:  # that one begins anew when reactivated
            work.accumulated_s += self._admitted_ms(work) // 1000
        work.pods_run = False
        if PODS_READY in work.conditions:
            self.say(work, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)
        self.drop(work)
        reason = PENDING_EVALUATION if work.active else DEACTIVATED
        self.pend(work, reason, evicted.message)
        self.enqueue(work)
        self._emit_requeue(work)

    def _emit_requeue(self, work: Work) -> None:
        if work.line is None:
            return
        at_us = work.requeue_at_us
        self.context.journal.emit(
            Requeue(
                at_ms=self.context.now_ms,
                subject=work.key,
                reason=work.conditions[REQUEUED].reason,
                message=work.conditions[REQUEUED].message,
                queue=work.local_queue,
                not_before_ms=None if at_us is None else self.context.ms(at_us),
            )
        )

    def note_pods(self, work: Work, *, ready: bool) -> None:
        """Note that all pods of a workload run, or that some no longer do.

        Source: KUEUE.md 11.4.
        """
        work.pods_run = ready
        self.context.journal.touch(work.key)
        if self.cluster.settings.waiting is None:
            return
        known = work.conditions.get(PODS_READY)
        if ready:
            again = known is not None and known.reason == WAIT_FOR_RECOVERY
            self.say(work, PODS_READY, True, RECOVERED if again else STARTED, PODS_RUN)
        elif known is not None and known.status:
            self.say(work, PODS_READY, False, WAIT_FOR_RECOVERY, PODS_DO_NOT_RUN)
        self.arm(work)

    def arm(self, work: Work) -> None:
        """Set the workload's timer, and count whether admissions wait for its pods."""
        self.timers.arm(work)
        if self.cluster.settings.waiting is None:
            return
        if work.holds(ADMITTED) and not (work.holds(PODS_READY) or work.finished):
            self.unready[work] = None
        else:
            self.unready.pop(work, None)

    def drop(self, work: Work) -> None:
        """Give the quota of a workload back and ask for a re-activation.

        One whose LocalQueue is held re-activates nothing. Source: KUEUE.md 11.9 b.
        """
        queue = work.queue
        if queue is not None:
            drop_quota(work)
            queue.generation += 1
            self.mark(work, queue)
        work.admission = None
        self.wake_for(work)

    def wake_for(self, work: Work) -> None:
        """Ask for a re-activation around the workload's ClusterQueue."""
        queue = self.cluster.queue_of(work)
        if queue is not None and work.door.open:
            self.wake[queue] = None

    # ---- the end ----

    def finish(self, work: Work, reason: str, message: str) -> None:
        """Record that a workload ran to its end. Source: KUEUE.md 11.7."""
        self.say(work, FINISHED, True, reason, message)
        self.stopping.pop(work, None)
        self.leave_line(work)
        admission = work.admission
        self.drop(work)
        work.admission = admission
        self.arm(work)
        self.context.journal.emit(
            Finish(
                at_ms=self.context.now_ms,
                subject=work.key,
                reason=reason,
                message=message,
            )
        )

    def deactivate(self, work: Work) -> None:
        """Evict an inactive workload; its usage is gone at once.

        Source: KUEUE.md 11.5.
        """
        target = work.conditions.get(DEACTIVATION_TARGET)
        reason, message = DEACTIVATED, DEACTIVATED_SENTENCE
        if target is not None and target.status:
            reason = f"{DEACTIVATED_DUE_TO}{target.reason}"
            message = f"{message} due to {target.message}"
            self.say(work, DEACTIVATION_TARGET, False, target.reason, target.message)
        work.requeue_count, work.requeue_at_us = 0, None
        self.leave_line(work)
        self.evict(work, reason, message)
        self.drop_usage(work)
        if not work.reserved:
            self.pend(work, DEACTIVATED, message)

    def drop_usage(self, work: Work) -> None:
        """Give usage back while the reservation's condition still stands."""
        admission = work.admission
        self.drop(work)
        work.admission = admission

    def condemn(self, work: Work, reason: str, sentence: str) -> None:
        """Make a workload inactive for the engine's own reason.

        Source: KUEUE.md 11.4, 11.6.
        """
        self.say(work, DEACTIVATION_TARGET, True, reason, sentence)
        work.active = False
        self.dirty[work] = None
        self.context.journal.emit(
            Deactivate(
                at_ms=self.context.now_ms,
                subject=work.key,
                reason=reason,
                message=sentence,
            )
        )

    def time_out(self, work: Work) -> None:
        """Evict a workload whose pods took too long, with a backoff.

        Source: KUEUE.md 11.4.
        """
        waiting = self.cluster.settings.waiting
        assert waiting is not None
        work.requeue_count += 1
        n = work.requeue_count
        base = min(waiting.base_s * 2 ** min(n - 1, 62), waiting.most_s)
        draw = streams.uniform(self.context.seed, "requeue", work.uid, n)
        until = self.context.now_us + int(base * (1 + _JITTER * draw) * _US)
        work.requeue_at_us = max(work.requeue_at_us or 0, until)
        self.evict(work, PODS_READY_TIMEOUT, pods_ready_timeout(work.name))
