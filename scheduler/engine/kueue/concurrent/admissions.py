"""A parent is admitted as its variant is; the variant knows of the job's pods by it.

Source: docs/semantics/kueue-concurrent-admission.md#what-the-controller-does.
"""

from __future__ import annotations

from scheduler.engine.kueue.controller.admissions import emit_admission
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.conditions import clear_eviction
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.decisions import Admit
from scheduler.model.reasons import (
    ADMITTED,
    PODS_DO_NOT_RUN,
    PODS_READY,
    QUOTA_RESERVED,
    WAIT_FOR_START,
    reserved_in,
    variant_admitted,
)


def admit_parent(
    life: Lifecycle, parent: WorkloadInfo, variant: WorkloadInfo, queue: ClusterQueue
) -> None:
    """Write the admission of a variant into its parent, which takes no quota by it."""
    sentence = variant_admitted(variant.key.name)
    parent.admission = variant.admission
    life.set_condition(
        parent, QUOTA_RESERVED, True, QUOTA_RESERVED, reserved_in(queue.name)
    )
    clear_eviction(parent, life.context.now_us)
    life.set_condition(parent, ADMITTED, True, ADMITTED, sentence)
    if life.cluster.settings.waiting is not None:
        life.set_condition(parent, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)
    life.arm_timer(parent)
    emit_admission(life, parent, Admit, ADMITTED, sentence)


def sync_pods_ready(
    life: Lifecycle, parent: WorkloadInfo, variant: WorkloadInfo
) -> None:
    """Have a variant say of pods what its parent says."""
    known = parent.conditions.get(PODS_READY)
    if known is None or not parent.has_condition(ADMITTED):
        return
    variant.pods_ready = parent.pods_ready
    if life.set_condition(
        variant, PODS_READY, known.status, known.reason, known.message
    ):
        life.arm_timer(variant)
