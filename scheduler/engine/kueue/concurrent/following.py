"""Which variants go on while one is admitted.

Source: docs/semantics/kueue-concurrent-admission.md#after-an-admission.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.quota import RETAIN_FIRST, Migration


def standing(
    parent: WorkloadInfo,
    work: WorkloadInfo,
    admitted: WorkloadInfo | None,
    flavors: Sequence[str],
    migration: Migration,
) -> tuple[bool, str]:
    """Return whether a variant is to be active, and why.

    The admitted one stays as it is while its parent is active.
    """
    if not parent.active:
        return False, f'Parent Workload "{parent.key.path}" not active'
    if work is admitted:
        return work.active, ""
    if admitted is None:
        return True, "no other Variant being admitted"
    other, last = admitted.key.path, migration.last_acceptable
    if migration.mode == RETAIN_FIRST:
        return False, f'RetainFirstAdmission: another Variant "{other}" is admitted'
    if not migration.reaches(work.flavor, flavors):
        below = f'being below lastAcceptableFlavor: "{last}"'
        return False, f'{below} and another Variant admitted "{other}"'
    if flavors.index(work.flavor) > flavors.index(admitted.flavor):
        return False, f'being lower priority than admitted Variant "{other}"'
    higher = f'higher priority than admitted Variant "{other}"'
    above = f'at least lastAcceptableFlavor: "{last}" and ' if last else ""
    return True, f"being {above}{higher}"
