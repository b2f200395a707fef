"""Evictions: for a preemptor, for pods that are late, for a stopped queue, for good.

Source: docs/semantics/kueue-lifecycle.md#preemption-message.
"""

from __future__ import annotations

from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model import streams
from scheduler.model.decisions import Deactivate, Evict, Finish, Preempt, Requeue
from scheduler.model.kueue.check_answers import closed_again
from scheduler.model.kueue.check_state import reset
from scheduler.model.objects import Key
from scheduler.model.reasons import (
    ADMISSION_CHECK,
    ADMITTED,
    DEACTIVATED,
    DEACTIVATED_DUE_TO,
    DEACTIVATED_SENTENCE,
    DEACTIVATION_TARGET,
    EVICTED,
    FINISHED,
    FLAVOR_MIGRATION,
    MAXIMUM_EXECUTION_TIME_EXCEEDED,
    NEW_SLICE_SENTENCE,
    PENDING_EVALUATION,
    PODS_DO_NOT_RUN,
    PODS_READY,
    PODS_READY_TIMEOUT,
    PREEMPTED,
    REQUEUED,
    REQUEUED_AT_ONCE,
    SLICE_REPLACED,
    WAIT_FOR_START,
    migrated_for,
    pods_ready_timeout,
    preempted_for,
    slice_replaced,
)

_JITTER = 0.0001
_US = 1_000_000
OVERTIME = DEACTIVATED_DUE_TO + MAXIMUM_EXECUTION_TIME_EXCEEDED


def preempt(life: Lifecycle, entry: Entry) -> None:
    """Evict an entry's targets for it; those already evicted stay as they are.

    Source: docs/semantics/kueue-lifecycle.md#preemption-message.
    """
    for victim, reason in entry.targets:
        if victim.evicted or victim.cluster_queue is None:
            continue
        message = preempted_for(
            entry.work.uid,
            entry.work.job_uid,
            reason,
            entry.queue.full_path,
            victim.cluster_queue.full_path,
        )
        life.set_condition(victim, PREEMPTED, True, reason, message)
        if life.cluster.proposing is not None:
            life.cluster.proposing.preempted(victim, entry.work, entry.queue)
        _mark_evicted(life, victim, PREEMPTED, message)
        life.context.journal.emit(
            Preempt(
                at_ms=life.context.now_ms,
                subject=victim.key,
                by=entry.work.key,
                reason=reason,
                message=message,
                strategy=life.cluster.settings.preemption,
                work_lost_ms=_admitted_ms(life, victim),
            )
        )


def evict(life: Lifecycle, work: WorkloadInfo, reason: str, message: str) -> None:
    """Start an eviction: quota is held until the job has stopped.

    Source: docs/semantics/kueue-lifecycle.md#two-steps-of-an-eviction.
    """
    _mark_evicted(life, work, reason, message)
    life.context.journal.emit(
        Evict(
            at_ms=life.context.now_ms, subject=work.key, reason=reason, message=message
        )
    )


def migrate(life: Lifecycle, work: WorkloadInfo, *, by: WorkloadInfo) -> None:
    """Evict a variant for one of a more preferred flavor, unless it is being evicted.

    Source: docs/semantics/kueue-concurrent-admission.md#in-a-cycle.
    """
    if not work.evicted:
        evict(life, work, FLAVOR_MIGRATION, migrated_for(by.uid))


def _mark_evicted(
    life: Lifecycle, work: WorkloadInfo, reason: str, message: str
) -> None:
    queue = work.cluster_queue
    if queue is not None:
        queue.admitted.drop(work)
    life.set_condition(work, EVICTED, True, reason, message)
    life.update_queue_order(work)
    if queue is not None:
        queue.admitted.put(work)
        queue.generation += 1
        life.mark_queues_changed(work, queue)
    now = life.context.now_us // _US * _US
    if work.checks:
        work.checks = {name: reset(check, now) for name, check in work.checks.items()}
    if work.gate_states:
        work.gate_states = closed_again(work.gate_states, now)
    cause = ""
    if reason.startswith(DEACTIVATED_DUE_TO):
        reason, cause = DEACTIVATED, reason.removeprefix(DEACTIVATED_DUE_TO)
    known = (reason, cause)
    count = work.evictions.get(known, 0) + 1
    work.evictions = {**work.evictions, known: count}
    if work.reserved:
        if work.parent is None:  # a variant has no job that stops
            life.stopping[work] = None
        if not work.has_condition(ADMITTED):
            life.dirty[work] = None


def _admitted_ms(life: Lifecycle, work: WorkloadInfo) -> int:
    admitted = work.conditions.get(ADMITTED)
    if admitted is None or not admitted.status:
        return 0
    return (life.context.now_us - admitted.since_us) // 1000


def finish_eviction(life: Lifecycle, work: WorkloadInfo) -> None:
    """Finish an eviction: the job has stopped, quota is released.

    Source: docs/semantics/kueue-lifecycle.md#two-steps-of-an-eviction.
    """
    evicted = work.conditions[EVICTED]
    life.stopping.pop(work, None)
    if give_way(life, work):
        return
    again = evicted.reason in REQUEUED_AT_ONCE
    life.set_condition(work, REQUEUED, again, evicted.reason, evicted.message)
    if evicted.reason != OVERTIME:  # that one begins anew when reactivated
        work.accumulated_s += _admitted_ms(life, work) // 1000
    work.pods_ready = False
    work.unseen = _never_ready(work)
    if PODS_READY in work.conditions:
        life.set_condition(work, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)
    life.release_quota(work)
    work.unhealthy_nodes = ()
    if work.active or not life.fine_reasons:
        life.set_pending(work, PENDING_EVALUATION, evicted.message)
    else:
        life.set_pending(work, DEACTIVATED, DEACTIVATED_SENTENCE)
    life.enqueue(work)
    _emit_requeue(life, work)


def _never_ready(work: WorkloadInfo) -> bool:
    """Return whether a Workload is evicted as its pods were never ready at once.

    Nothing is written into it any longer until its backoff is over, so that its queue
    does not hear of it. One that lost ready pods is written once more, and counted.
    Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
    """
    known = work.conditions.get(PODS_READY)
    return (
        work.conditions[EVICTED].reason == PODS_READY_TIMEOUT
        and work.requeue_at_us is not None
        and known is not None
        and known.reason == WAIT_FOR_START
    )


def _emit_requeue(life: Lifecycle, work: WorkloadInfo) -> None:
    if work.pending_queue is None:
        return
    at_us = work.requeue_at_us
    life.context.journal.emit(
        Requeue(
            at_ms=life.context.now_ms,
            subject=work.key,
            reason=work.conditions[REQUEUED].reason,
            message=work.conditions[REQUEUED].message,
            queue=work.local_queue_name,
            not_before_ms=None if at_us is None else life.context.ms(at_us),
        )
    )


def deactivate(life: Lifecycle, work: WorkloadInfo) -> None:
    """Take an inactive workload out of queue and quota, and evict it once.

    One that is evicted already, as in its backoff, is not evicted again: reason
    and message of its eviction stay.
    Source: docs/semantics/kueue-lifecycle.md#deactivation.
    """
    reason, message = _deactivation(work)
    work.requeue_count, work.requeue_at_us = 0, None
    if not work.evicted:
        life.leave_queue(work)
        evict(life, work, reason, message)
        life.release_usage(work)
    elif work.pending_queue is not None or work.cluster_queue is not None:
        life.leave_queue(work)
        life.release_usage(work)
    if not work.reserved and life.fine_reasons:
        life.set_pending(work, DEACTIVATED, DEACTIVATED_SENTENCE)


def _deactivation(work: WorkloadInfo) -> tuple[str, str]:
    """Return reason and message of a deactivation."""
    target = work.conditions.get(DEACTIVATION_TARGET)
    if target is None or not target.status:
        return DEACTIVATED, DEACTIVATED_SENTENCE
    reason = f"{DEACTIVATED_DUE_TO}{target.reason}"
    return reason, f"{DEACTIVATED_SENTENCE} due to {target.message}"


def set_deactivation_target(
    life: Lifecycle, work: WorkloadInfo, reason: str, sentence: str
) -> None:
    """Make a workload inactive for the engine's own reason.

    Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
    """
    life.set_condition(work, DEACTIVATION_TARGET, True, reason, sentence)
    work.active = False
    life.dirty[work] = None
    life.context.journal.emit(
        Deactivate(
            at_ms=life.context.now_ms, subject=work.key, reason=reason, message=sentence
        )
    )


def stay_inactive(life: Lifecycle, work: WorkloadInfo) -> None:
    """Deactivate again what somebody made active: the engine's own reason stands.

    Kueue says nothing of it; the decision tells why the edit did not last.
    Source: docs/semantics/kueue-lifecycle.md#reactivation-after-an-automatic-deactivation.
    """
    target = work.conditions[DEACTIVATION_TARGET]
    work.active = False
    life.context.journal.touch(work.key)
    life.context.journal.emit(
        Deactivate(
            at_ms=life.context.now_ms,
            subject=work.key,
            reason=target.reason,
            message=target.message,
        )
    )


def kept_out(work: WorkloadInfo) -> str:
    """Return why an active workload is never tried again, or "".

    The engine deactivated it, and making it active does not lift that.
    Source: docs/semantics/kueue-lifecycle.md#reactivation-after-an-automatic-deactivation.
    """
    requeued = work.conditions.get(REQUEUED)
    if requeued is None or requeued.status or work.reserved or not work.active:
        return ""
    return requeued.reason if requeued.reason.startswith(DEACTIVATED_DUE_TO) else ""


def reject(life: Lifecycle, work: WorkloadInfo, sentence: str) -> None:
    """Deactivate a workload that an admission check rejected.

    Source: docs/semantics/kueue-admission-checks.md#retry-and-rejection.
    """
    set_deactivation_target(life, work, ADMISSION_CHECK, sentence)
    deactivate(life, work)
    del work.conditions[DEACTIVATION_TARGET]


def evict_pods_ready_timeout(life: Lifecycle, work: WorkloadInfo) -> None:
    """Evict a workload whose pods took too long, with a backoff.

    Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
    """
    waiting = life.cluster.settings.waiting
    assert waiting is not None
    work.requeue_count += 1
    n = work.requeue_count
    base = waiting.base_s  # the first one is not capped
    if n > 1:
        base = min(base * 2 ** min(n - 1, 62), waiting.most_s)
    draw = streams.uniform(life.context.seed, "requeue", work.uid, n)
    until = life.context.now_us + int(base * (1 + _JITTER * draw) * _US)
    until -= until % _US  # an object holds whole seconds, and the timer follows it
    work.requeue_at_us = max(work.requeue_at_us or 0, until)
    evict(life, work, PODS_READY_TIMEOUT, pods_ready_timeout(work.name))


# ------------------------------------------------------------------------
# The end of a workload: its job is over, or another slice of it took its place.


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
            at_ms=life.context.now_ms, subject=work.key, reason=reason, message=message
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
