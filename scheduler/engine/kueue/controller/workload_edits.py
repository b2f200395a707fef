"""Edits of workloads that are known: what they hold may shrink, and their queue change."""

from __future__ import annotations

from scheduler.engine.kueue.cache.assumed import drop_quota, take_quota
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.controller.evictions import kept_out
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import update_from_document
from scheduler.model.decisions import Wait
from scheduler.model.objects import Object
from scheduler.model.reasons import DEACTIVATION_TARGET, REQUEUED


class WorkloadEdits:
    """Reads Workloads, and sees to what an edit of one changes.

    Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
    """

    def __init__(self, cluster: Cluster, life: Lifecycle) -> None:
        self.cluster = cluster
        self.life = life

    def read(self, work: WorkloadInfo, obj: Object) -> None:
        """Read into the workload what its document asks for; raises QuantityError."""
        cluster = self.cluster
        update_from_document(work, obj, cluster.catalogue, cluster.settings.gates)

    def take(self, work: WorkloadInfo, obj: Object) -> None:
        """Take an edit of a workload that is known; raises QuantityError, unchanged."""
        # Read first: an invalid quantity must leave everything as it was.
        self.cluster.catalogue.pod_sets(obj.spec.get("podSets") or (), work.namespace)
        before, queue = _deciding(work), work.cluster_queue
        active = work.active
        priority, done = work.priority, work.reclaimable
        if queue is not None:
            drop_quota(work)
        self.read(work, obj)
        if work.local_queue.key.name != work.local_queue_name:
            self._change_queue(work)
        if queue is not None:
            take_quota(work, queue, self.cluster)
            queue.generation += 1
            self.life.mark_queues_changed(work, queue)
        if _deciding(work) == before:
            return
        if not active:
            self._say_kept_out(work)
        self.life.leave_queue(work)
        freed = queue and (work.reclaimable != done or work.elastic)
        if work.priority != priority or freed or not work.active:
            self.life.request_requeue(work)

    def _say_kept_out(self, work: WorkloadInfo) -> None:
        """Tell that a workload was made active again and is not tried all the same."""
        reason = kept_out(work)
        if reason and not work.has_condition(DEACTIVATION_TARGET):
            self.life.context.journal.emit(
                Wait(
                    at_ms=self.life.context.now_ms,
                    subject=work.key,
                    reason=reason,
                    message=work.conditions[REQUEUED].message,
                    inadmissible=True,
                )
            )

    def _change_queue(self, work: WorkloadInfo) -> None:
        """Let a workload, without its quota for now, be of the LocalQueue it names."""
        self.life.leave_queue(work)
        self.life.mark_queues_changed(work, None)
        work.local_queue.workloads.pop(work, None)
        if self.life.ledger is not None:
            self.life.ledger.forget(work)
        work.local_queue = self.cluster.local_queue(
            work.namespace, work.local_queue_name
        )


def _deciding(work: WorkloadInfo) -> tuple[object, ...]:
    """Return what an edit must change to move a workload."""
    return (
        work.pod_sets,
        work.priority,
        work.local_queue_name,
        work.active,
        work.gated,
        work.max_execution_s,
        work.reclaimable,
        work.may_not_preempt,
    )
