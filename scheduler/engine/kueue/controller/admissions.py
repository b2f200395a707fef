"""The begin of a run: quota reserved, then admitted.

Source: docs/semantics/kueue.md#admission.
"""

from __future__ import annotations

import msgspec

from scheduler.engine.kueue.cache.assumed import count_admitted, take_quota
from scheduler.engine.kueue.controller import evictions
from scheduler.engine.kueue.controller.evictions import end_elsewhere, replace_slice
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.tree.quota import revert_usages
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo, clear_eviction
from scheduler.engine.kueue.workload.reading import (
    all_ready,
    required_checks,
    waits_for_places,
)
from scheduler.model.decisions import Admit, PodSetAdmission, Replace, ReserveQuota
from scheduler.model.kueue.check_state import (
    PENDING,
    REJECTED,
    RETRY,
    CheckState,
    verdict,
)
from scheduler.model.reasons import (
    ADMISSION_CHECK,
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
    considered = entry.assignment.considered()
    emit_admission(life, work, kind, QUOTA_RESERVED, sentence, considered)


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
    considered: str = "",
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
            considered=considered or msgspec.UNSET,
        )
    )


# ------------------------------------------------------------------------
# Two-phase admission: checks are listed, answered and acted upon.


_US = 1_000_000


class AdmissionChecks:
    """What the workload controller does about admission checks."""

    def __init__(self, life: Lifecycle) -> None:
        self.life = life
        self.context = life.context

    def set_state(self, work: WorkloadInfo, name: str, answer: CheckState) -> None:
        """Take the answer of a check's controller; its time moves with the state."""
        known = work.checks[name]
        since = known.since_us if known.state == answer.state else self._now()
        work.checks[name] = CheckState(
            state=answer.state,
            message=answer.message,
            since_us=since,
            pod_set_updates=answer.pod_set_updates,
            requeue_after_s=answer.requeue_after_s,
            retry_count=known.retry_count,
        )
        self._changed(work)

    def waits(self, work: WorkloadInfo) -> bool:
        """Return whether a check's delay runs: until it is over nothing is done.

        Source: docs/semantics/kueue-admission-checks.md#retry-with-a-delay.
        """
        until = max(
            (
                check.since_us + check.requeue_after_s * _US
                for check in work.checks.values()
                if check.state == RETRY and check.requeue_after_s is not None
            ),
            default=0,
        )
        now, at = self.context.now_us, work.requeue_at_us or 0
        if until > now and until > at and work.reserved:
            at = work.requeue_at_us = until
            self.context.journal.touch(work.key)
        return at > now

    def sync(self, work: WorkloadInfo, queue: ClusterQueue) -> None:
        """List the checks that are needed and no others, by name."""
        needed = required_checks(queue.spec, work.admission)
        if (not needed and not work.checks) or needed == list(work.checks):
            return
        missing = CheckState(state=PENDING, message="", since_us=self._now())
        work.checks = {name: work.checks.get(name, missing) for name in needed}
        self._changed(work)

    def sync_admitted(self, work: WorkloadInfo) -> None:
        """Admit a workload with quota once all checks are ready.

        One whose ClusterQueue is gone holds none any longer, whatever was answered.
        """
        if work.has_condition(ADMITTED) or work.cluster_queue is None:
            return
        if waits_for_places(work.checks, work.admission):
            wait_for_places(self.life, work)
        elif all_ready(work.checks):
            become_admitted(self.life, work)
        else:
            self.life.set_unadmitted(work, UNSATISFIED_CHECKS, NOT_ALL_CHECKS_READY)

    def evict(self, work: WorkloadInfo) -> bool:
        """Evict a workload with quota for what its checks say; return whether it was.

        Source: docs/semantics/kueue-admission-checks.md#retry-and-rejection.
        """
        rejected = verdict(work.checks, REJECTED)
        if rejected:
            evictions.reject(self.life, work, rejected)
            return True
        retried = verdict(work.checks, RETRY)
        if retried:
            evictions.evict(
                self.life, work, ADMISSION_CHECK, f"Evicted due to {retried}"
            )
        return bool(retried)

    def _now(self) -> int:
        """Return the present as objects hold it: in whole seconds."""
        return self.context.now_us // _US * _US

    def _changed(self, work: WorkloadInfo) -> None:
        """Note an update of the object, which reaches the cache as well."""
        self.life.dirty[work] = None
        self.context.journal.touch(work.key)
        if self.life.ledger is not None:
            self.life.ledger.changed[work.local_queue] = None
        if work.cluster_queue is not None:
            work.cluster_queue.generation += 1
            self.life.mark_queues_changed(work, work.cluster_queue)
        if not work.active:
            self.life.request_requeue(work)
