"""The two ends of a run: admitted, and finished.

Source: docs/semantics/kueue.md#admission.
"""

from __future__ import annotations

from scheduler.decisions import Admit, Finish, PodSetAdmission
from scheduler.kueue.cache.assumed import take_quota
from scheduler.kueue.controller.lifecycle import Lifecycle
from scheduler.kueue.scheduler.entries import Entry
from scheduler.kueue.tree.quota import remove_usages
from scheduler.kueue.workload.conditions import clear_eviction
from scheduler.kueue.workload.info import WorkloadInfo
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
    queue.pending.clear_inflight(work)
    if queue.pending.preemptor is work:
        queue.pending.preemptor = None
    work.local_queue.pending -= 1
    work.admission = entry.assignment.admission(queue.name)
    sentence = reserved_in(queue.name)
    life.set_condition(work, QUOTA_RESERVED, True, QUOTA_RESERVED, sentence)
    clear_eviction(work, life.context.now_us)
    life.update_queue_order(work)
    life.set_condition(work, ADMITTED, True, ADMITTED, ADMITTED_SENTENCE)
    if life.cluster.settings.waiting is not None:
        life.set_condition(work, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)
    remove_usages(entry.assignment.usage.items())
    life.cluster.topologies.charge(entry.assignment.topology_usage, -1)
    take_quota(work, queue, life.cluster)
    work.last_assignment = None
    queue.generation += 1  # the admission comes back as an update of the cache
    life.mark_queues_changed(work, queue)
    life.arm_timer(work)
    _emit_admit(life, work, sentence)


def _emit_admit(life: Lifecycle, work: WorkloadInfo, sentence: str) -> None:
    assert work.admission is not None
    life.context.journal.emit(
        Admit(
            at_ms=life.context.now_ms,
            subject=work.key,
            reason=QUOTA_RESERVED,
            message=sentence,
            queue=work.admission.queue,
            pod_sets=tuple(
                PodSetAdmission(
                    part.name, part.count, part.flavors, part.usage, part.topology
                )
                for part in work.admission.pod_sets
            ),
        )
    )


def finish(life: Lifecycle, work: WorkloadInfo, reason: str, message: str) -> None:
    """Record that a workload ran to its end.

    Source: docs/semantics/kueue-lifecycle.md#finishing.
    """
    life.set_condition(work, FINISHED, True, reason, message)
    life.stopping.pop(work, None)
    life.leave_queue(work)
    life.release_usage(work)
    life.arm_timer(work)
    life.context.journal.emit(
        Finish(
            at_ms=life.context.now_ms,
            subject=work.key,
            reason=reason,
            message=message,
        )
    )
