"""What happens to a workload: reserved, evicted, stopped, requeued, finished.

Source: KUEUE.md 10, 11.
"""

from __future__ import annotations

from scheduler.decisions import Wait
from scheduler.kueue.cache.assumed import drop_quota
from scheduler.kueue.cache.cluster import Cluster, Door
from scheduler.kueue.queue.clocks import Timers
from scheduler.kueue.queue.requeue import backoff_over
from scheduler.kueue.scheduler.entries import Entry
from scheduler.kueue.tree.tree import Queue
from scheduler.kueue.workload.conditions import set_condition
from scheduler.kueue.workload.info import Work
from scheduler.kueue.workload.reading import queue_time
from scheduler.reasons import (
    ADMITTED,
    DEACTIVATED_DUE_TO,
    MAXIMUM_EXECUTION_TIME_EXCEEDED,
    NO_RESERVATION,
    NO_RESERVATION_SENTENCE,
    PODS_DO_NOT_RUN,
    PODS_READY,
    PODS_RUN,
    QUOTA_RESERVED,
    RECOVERED,
    STARTED,
    WAIT_FOR_RECOVERY,
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

    def enqueue(self, work: Work, *, backing_off: bool = True) -> None:
        """Put a workload into its line, if it may and has one; refreshes its order.

        While its backoff runs it is set aside, unless `backing_off` is False.
        """
        self.leave_line(work)
        self.retime(work)
        work.refresh()
        queue = self.cluster.queue_of(work) if self.eligible(work) else None
        if queue is None:
            return
        if not backing_off or backoff_over(work, self.context.now_us):
            queue.line.push(work)
        else:
            queue.line.park(work)
        work.door.pending += 1
        self.mark(work, queue)

    def retime(self, work: Work) -> None:
        """Set the time by which the workload queues. Source: KUEUE.md 5.3."""
        waiting = self.cluster.settings.waiting
        by_eviction = waiting is None or waiting.by_eviction
        work.queued_us = queue_time(work, by_eviction=by_eviction)

    def leave_line(self, work: Work) -> None:
        """Take a workload out of the line it waits in, if any."""
        line = work.line
        if line is not None:
            line.forget(work)
            work.door.pending -= 1
            self.mark(work, self.cluster.queue_of(work))

    def wait(self, entry: Entry, *, parked: bool) -> None:
        """Tell why a head was not admitted."""
        self.refuse(entry.work, entry.reason, entry.message, parked=parked)

    def refuse(self, work: Work, reason: str, message: str, *, parked: bool) -> None:
        """Say why the workload has no quota, and tell it when that is news."""
        if self.pend(work, reason, message):
            self.context.journal.emit(
                Wait(
                    at_ms=self.context.now_ms,
                    subject=work.key,
                    reason=reason,
                    message=message,
                    parked=parked,
                )
            )

    # ---- quota and clocks ----

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

        One whose LocalQueue is held re-activates nothing.
        Source: docs/semantics/kueue.md#held-localqueues.
        """
        queue = work.queue
        if queue is not None:
            drop_quota(work)
            queue.generation += 1
            self.mark(work, queue)
        work.admission = None
        self.wake_for(work, queue)

    def wake_for(self, work: Work, queue: Queue | None = None) -> None:
        """Ask for a re-activation around the workload's ClusterQueue, or around `queue`."""
        queue = queue or self.cluster.queue_of(work)
        if queue is not None and work.door.open:
            self.wake[queue] = None

    def drop_usage(self, work: Work) -> None:
        """Give usage back while the reservation's condition still stands."""
        admission = work.admission
        self.drop(work)
        work.admission = admission
