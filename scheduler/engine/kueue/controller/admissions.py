"""The begin of a run: quota reserved, then admitted.

Source: docs/semantics/kueue.md#admission.
"""

from __future__ import annotations

from scheduler.engine.kueue.cache.assumed import count_admitted, take_quota
from scheduler.engine.kueue.controller.finishing import end_elsewhere, replace_slice
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.scheduler.entries import Entry
from scheduler.engine.kueue.tree.quota import revert_usages
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.checks import (
    all_ready,
    required_checks,
    waits_for_places,
)
from scheduler.engine.kueue.workload.conditions import clear_eviction
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.decisions import Admit, PodSetAdmission, Replace, ReserveQuota
from scheduler.model.reasons import (
    ADMITTED,
    ADMITTED_SENTENCE,
    DELAYED_SENTENCE,
    DELAYED_TOPOLOGY,
    NOT_ALL_CHECKS_READY,
    PODS_DO_NOT_RUN,
    PODS_READY,
    QUOTA_RESERVED,
    UNSATISFIED_CHECKS,
    WAIT_FOR_START,
    admitted_by,
    reserved_in,
)


def admit(life: Lifecycle, entry: Entry) -> None:
    """Record a reservation whose usage the cycle has charged already.

    Without admission checks, or with all of them ready, it is the admission too.
    A partial admission may hold less than was charged: its reclaimable pods are
    taken off. Source: docs/semantics/kueue.md#partial-admission.
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
    admitted = _first_phase(life, work, queue)
    revert_usages(entry.assignment.usage.items())
    if entry.replaced is not None and not entry.replaced.finished:
        replace_slice(life, entry.replaced, by=work)
    elif work.replaces is not None:
        end_elsewhere(life, work.replaces)
    life.cluster.topologies.add_usage(entry.assignment.topology_usage, -1)
    take_quota(work, queue, life.cluster)
    if life.ledger is not None and queue.spec.usage_based:
        life.ledger.add_entry_penalty(work)
        if admitted:
            life.ledger.settle(work)
    work.last_assignment = None
    queue.generation += 1  # the admission comes back as an update of the cache
    life.mark_queues_changed(work, queue)
    life.arm_timer(work)
    kind = Admit if admitted else ReserveQuota
    emit_admission(life, work, kind, QUOTA_RESERVED, sentence)


def _first_phase(life: Lifecycle, work: WorkloadInfo, queue: ClusterQueue) -> bool:
    """Write Admitted with the reservation where it is known; return whether it is so.

    Source: docs/semantics/kueue-admission-checks.md#two-phase-admission.
    """
    needed = required_checks(queue.spec, work.admission)
    if needed:
        life.dirty[work] = None
    if any(name not in work.checks for name in needed):
        return False
    if waits_for_places(work.checks, work.admission):
        wait_for_places(life, work)
        return False
    if all_ready(work.checks):
        _set_admitted(life, work)
        return True
    life.dirty[work] = None
    life.set_unadmitted(work, UNSATISFIED_CHECKS, NOT_ALL_CHECKS_READY)
    return False


def wait_for_places(life: Lifecycle, work: WorkloadInfo) -> None:
    """Say that the checks are ready and the places are not; look for them soon.

    Source: docs/semantics/kueue-topology.md#delayed-assignments.
    """
    life.set_unadmitted(work, DELAYED_TOPOLOGY, DELAYED_SENTENCE)
    life.note_second_pass(work)


def _set_admitted(life: Lifecycle, work: WorkloadInfo) -> None:
    life.set_condition(work, ADMITTED, True, ADMITTED, ADMITTED_SENTENCE)
    if life.cluster.settings.waiting is not None:
        life.set_condition(work, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)


def become_admitted(life: Lifecycle, work: WorkloadInfo) -> None:
    """Admit a workload that holds quota: its checks are ready.

    Source: docs/semantics/kueue-admission-checks.md#two-phase-admission.
    """
    queue = work.cluster_queue
    assert queue is not None
    queue.admitted.drop(work)
    _set_admitted(life, work)
    queue.admitted.put(work)
    count_admitted(work)
    if life.ledger is not None:
        life.ledger.settle(work)
    queue.generation += 1
    life.mark_queues_changed(work, queue)
    life.arm_timer(work)
    waited = life.context.now_us - work.conditions[QUOTA_RESERVED].since_us
    emit_admission(life, work, Admit, ADMITTED, admitted_by(queue.name, waited))


def emit_admission(
    life: Lifecycle,
    work: WorkloadInfo,
    kind: type[Admit | Replace | ReserveQuota],
    reason: str,
    sentence: str,
) -> None:
    """Report the places that a workload's admission gives to its podsets."""
    assert work.admission is not None
    life.context.journal.emit(
        kind(
            at_ms=life.context.now_ms,
            subject=work.key,
            reason=reason,
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
