"""Two-phase admission: checks are listed, answered and acted upon.

Source: docs/semantics/kueue-admission-checks.md#two-phase-admission.
"""

from __future__ import annotations

from scheduler.engine.kueue.controller import evictions
from scheduler.engine.kueue.controller.admissions import (
    become_admitted,
    wait_for_places,
)
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.checks import (
    all_ready,
    required_checks,
    waits_for_places,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo
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
    NOT_ALL_CHECKS_READY,
    UNSATISFIED_CHECKS,
)

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
