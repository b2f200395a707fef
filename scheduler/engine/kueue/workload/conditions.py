"""Setting conditions as the Kubernetes API machinery does."""

from __future__ import annotations

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.status_records import Condition
from scheduler.model.reasons import BLOCKED_ON_GATES, EVICTED, PREEMPTED, QUOTA_RESERVED


def set_condition(
    work: WorkloadInfo, kind: str, status: bool, reason: str, message: str, now_us: int
) -> bool:
    """Set a condition; its time moves only with its status. Return whether it changed."""
    known = work.conditions.get(kind)
    if known is None:
        work.conditions[kind] = Condition(
            status, reason, message, now_us, work.generation
        )
        return True
    if (known.status, known.reason, known.message) == (status, reason, message):
        known.generation = work.generation
        return False
    since = known.since_us if known.status == status else now_us
    work.conditions[kind] = Condition(status, reason, message, since, work.generation)
    return True


def clear_eviction(work: WorkloadInfo, now_us: int) -> None:
    """Turn what an earlier eviction left behind to False.

    Source: docs/semantics/kueue-lifecycle.md#quota-reserved-and-admitted.
    """
    for kind in (EVICTED, PREEMPTED, BLOCKED_ON_GATES):
        known = work.conditions.get(kind)
        if known is not None and known.status:
            message = f"Previously: {known.message}"
            set_condition(work, kind, False, QUOTA_RESERVED, message, now_us)
