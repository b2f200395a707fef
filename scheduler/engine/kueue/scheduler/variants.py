"""A variant in a cycle: not where a better one runs, and not before a worse one ends.

Source: docs/semantics/kueue-concurrent-admission.md#in-a-cycle.
"""

from __future__ import annotations

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.queue.requeue import RequeueReason
from scheduler.engine.kueue.scheduler.entries import Entry, EntryStatus
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.reasons import (
    BELOW_LAST_ACCEPTABLE,
    PENDING_EVALUATION,
    PREFERRED_ADMITTED,
    WAITING_FOR_PREEMPTED,
    pending_migration,
)


def is_overtaken(cluster: Cluster, entry: Entry) -> bool:
    """Skip a variant while one of a more preferred flavor is admitted."""
    if _sibling(cluster, entry, preferred=True) is None:
        return False
    entry.skip(PREFERRED_ADMITTED)
    entry.reason = PENDING_EVALUATION
    return True


def moves_from(cluster: Cluster, entry: Entry) -> bool:
    """Have a variant that fits wait for the end of the one that runs, if one does.

    Where the policy does not let it move there, it is refused.
    """
    sibling = _sibling(cluster, entry, preferred=False)
    if sibling is None:
        return False
    assert entry.assignment is not None
    migration, flavors = entry.queue.spec.migration, entry.queue.spec.groups[0].flavors
    if migration is not None and not migration.reaches(entry.work.flavor, flavors):
        entry.refuse(RequeueReason.GENERIC, PENDING_EVALUATION, BELOW_LAST_ACCEPTABLE)
        return True
    entry.status, entry.migrated = EntryStatus.MIGRATING, sibling
    entry.requeue = RequeueReason.PENDING_MIGRATION
    entry.reason = WAITING_FOR_PREEMPTED
    entry.message = pending_migration(entry.assignment.message())
    entry.work.last_assignment = None
    return True


def _sibling(cluster: Cluster, entry: Entry, *, preferred: bool) -> WorkloadInfo | None:
    groups = entry.queue.spec.groups
    if cluster.families is None or not groups:
        return None
    flavors = groups[0].flavors
    return cluster.families.admitted_sibling(entry.work, flavors, preferred=preferred)
