"""What the slice before holds, podset by podset: a new slice needs only the rest.

Source: docs/semantics/kueue-elastic-jobs.md#scaling-up.
"""

from __future__ import annotations

import msgspec

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.workload import PodSetAssignment, remaining_usage


def held_by_pod_set(work: WorkloadInfo) -> dict[str, PodSetAssignment]:
    """Return the assignments of a slice by podset, with what they use now."""
    assert work.admission is not None
    left = {part.name: work.count_after_reclaim(part) for part in work.pod_sets}
    return {
        part.name: msgspec.structs.replace(
            part, usage=remaining_usage(part, left.get(part.name, part.count))
        )
        for part in work.admission.pod_sets
    }
