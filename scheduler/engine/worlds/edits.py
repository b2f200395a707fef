"""What an edit of a known object may change, and what it keeps."""

from __future__ import annotations

from typing import Any

from scheduler.model.autoscaling.provisioning_config import REQUEST
from scheduler.model.conditions import has_ended
from scheduler.model.kueue.check_answers import check_answers, check_gate_positions
from scheduler.model.kueue.reclaimable import check_reclaimable
from scheduler.model.objects import Object

RECLAIMABLE = "reclaimablePods"
CHECKS = "admissionChecks"
GATES = "preemptionGates"
#: What the status of a known object may be given from outside: no stage writes it.
_REPORTED = {
    "Workload": (RECLAIMABLE, CHECKS, GATES, "nominatedClusterNames"),
    "AdmissionCheck": ("conditions",),
    "MultiKueueCluster": ("conditions",),
    REQUEST: ("conditions", "provisioningClassDetails"),
    "Node": ("allocatable", "capacity", "conditions", "images"),
}


def reported_status(obj: Object) -> dict[str, Any]:
    """Return the part of a status that an edit of a known object may change."""
    if obj.key.kind == "Pod":  # that it has ended; its kubelet says the rest
        return {"phase": obj.status["phase"]} if has_ended(obj.status) else {}
    fields = _REPORTED.get(obj.key.kind, ())
    return {name: obj.status[name] for name in fields if name in obj.status}


def is_checked(edited: Object) -> bool:
    """Return whether an edit is held against what the stages wrote."""
    if edited.key.kind == "Workload" and edited.spec.get(GATES):
        return True  # an eviction closes them again
    return not reported_status(edited).keys().isdisjoint({CHECKS, RECLAIMABLE})


def replace_manifest(known: Object, edited: Object) -> None:
    """Put an edited manifest in place; identity stays, generation counts.

    An edit that `is_checked` needs a known object with its status up to date.
    Raises ManifestError for reclaimable pods, or answers of admission checks,
    that it cannot have; nothing has changed then.
    """
    given = reported_status(edited)
    if CHECKS in given:
        check_answers(known, given.pop(CHECKS))
    if RECLAIMABLE in given:
        check_reclaimable(known, given[RECLAIMABLE])
    if GATES in given:
        check_gate_positions(edited, given[GATES])
    metadata, before = edited.metadata, known.metadata
    for name in ("uid", "creationTimestamp"):
        metadata[name] = before[name]
    if "deletionTimestamp" in before:
        metadata["deletionTimestamp"] = before["deletionTimestamp"]
    changed = edited.spec != known.spec
    metadata["generation"] = int(before.get("generation", 1)) + changed
    known.manifest = edited.manifest
    known.status = {**known.status, **given}
