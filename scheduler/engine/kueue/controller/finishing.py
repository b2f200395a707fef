"""The end of a workload: its job is over, or another slice of it took its place.

Source: docs/semantics/kueue-lifecycle.md#finishing.
"""

from __future__ import annotations

from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.decisions import Finish
from scheduler.model.objects import Key
from scheduler.model.reasons import (
    FINISHED,
    NEW_SLICE_SENTENCE,
    SLICE_REPLACED,
    slice_replaced,
)


def finish(life: Lifecycle, work: WorkloadInfo, reason: str, message: str) -> None:
    """Record that a workload ran to its end.

    Source: docs/semantics/kueue-lifecycle.md#finishing.
    """
    life.set_condition(work, FINISHED, True, reason, message)
    if life.ledger is not None:
        life.ledger.forget(work)
    life.stopping.pop(work, None)
    life.leave_queue(work)
    life.release_usage(work)
    life.arm_timer(work)
    life.note_second_pass(work)
    life.context.journal.emit(
        Finish(
            at_ms=life.context.now_ms,
            subject=work.key,
            reason=reason,
            message=message,
        )
    )


def replace_slice(life: Lifecycle, work: WorkloadInfo, *, by: WorkloadInfo) -> None:
    """Finish a slice as its successor is admitted; the quota passes without a gap.

    Source: docs/semantics/kueue-elastic-jobs.md#scaling-up.
    """
    finish(life, work, SLICE_REPLACED, slice_replaced(by.uid, by.job_uid))


def give_way(life: Lifecycle, work: WorkloadInfo) -> bool:
    """Finish a slice that lost its quota while another waits to replace it.

    Returns whether there was one.
    Source: docs/semantics/kueue-elastic-jobs.md#when-the-old-slice-is-evicted.
    """
    if life.cluster.successor_of(work) is None:
        return False
    finish(life, work, SLICE_REPLACED, NEW_SLICE_SENTENCE)
    return True


def end_elsewhere(life: Lifecycle, replaced: Key) -> None:
    """Finish a slice whose successor got all of its quota in another ClusterQueue.

    Source: docs/semantics/kueue-elastic-jobs.md#another-queue.
    """
    work = life.cluster.workloads.get(replaced)
    if work is not None and life.cluster.successor_of(work) and not work.finished:
        finish(life, work, SLICE_REPLACED, NEW_SLICE_SENTENCE)
