"""The two ends of a run: admitted, and finished.

Source: KUEUE.md 7.4, 10.1, 11.7.
"""

from __future__ import annotations

from scheduler.decisions import Admit, Finish, PodSetAdmission
from scheduler.kueue.cache.assumed import take_quota
from scheduler.kueue.controller.lifecycle import Lifecycle
from scheduler.kueue.scheduler.entries import Entry
from scheduler.kueue.tree.quota import release_all
from scheduler.kueue.workload.conditions import restart
from scheduler.kueue.workload.info import Work
from scheduler.reasons import (
    ADMITTED,
    ADMITTED_SENTENCE,
    FINISHED,
    PODS_DO_NOT_RUN,
    PODS_READY,
    QUOTA_RESERVED,
    WAIT_FOR_START,
    reserved_in,
)


def admit(life: Lifecycle, entry: Entry) -> None:
    """Record an admission whose usage the cycle has charged already.

    A partial admission may hold less than that: its reclaimable pods are taken off.
    Source: docs/semantics/kueue.md#partial-admission.
    """
    assert entry.assignment is not None
    work, queue = entry.work, entry.queue
    queue.line.land(work)
    if queue.line.sticky is work:
        queue.line.sticky = None
    work.door.pending -= 1
    work.admission = entry.assignment.admission(queue.name)
    sentence = reserved_in(queue.name)
    life.say(work, QUOTA_RESERVED, True, QUOTA_RESERVED, sentence)
    restart(work, life.context.now_us)
    life.retime(work)
    life.say(work, ADMITTED, True, ADMITTED, ADMITTED_SENTENCE)
    if life.cluster.settings.waiting is not None:
        life.say(work, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)
    release_all(entry.assignment.usage.items())
    take_quota(work, queue)
    work.attempt = None
    queue.generation += 1  # the admission comes back as an update of the cache
    life.mark(work, queue)
    life.arm(work)
    _emit_admit(life, work, sentence)


def _emit_admit(life: Lifecycle, work: Work, sentence: str) -> None:
    assert work.admission is not None
    life.context.journal.emit(
        Admit(
            at_ms=life.context.now_ms,
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


def finish(life: Lifecycle, work: Work, reason: str, message: str) -> None:
    """Record that a workload ran to its end. Source: KUEUE.md 11.7."""
    life.say(work, FINISHED, True, reason, message)
    life.stopping.pop(work, None)
    life.leave_line(work)
    life.drop_usage(work)
    life.arm(work)
    life.context.journal.emit(
        Finish(
            at_ms=life.context.now_ms,
            subject=work.key,
            reason=reason,
            message=message,
        )
    )
