"""What could be different in a topology request, so that a waiting workload gets in."""

from __future__ import annotations

import copy
from typing import Any

from scheduler.analysis.explain.changes import edit
from scheduler.analysis.explain.shapes import Change
from scheduler.engine.kueue.workload.info import WorkloadInfo

PodSets = list[dict[str, Any]]


def relaxations(work: WorkloadInfo) -> list[tuple[str, str, str, Change]]:
    """Return (now, subject, value, change): preferred, then anywhere.

    Only where a podset requires a level, or has one preferred.
    """
    found = []
    required = [p.topology.required for p in work.pod_sets if p.topology]
    levels = sorted({level for level in required if level})
    if levels:
        change = Change(edits=[edit(work.key, podSets=_preferring(work))])
        named = " and ".join(levels)
        subject = f"topology at {named} is preferred instead of required"
        found.append(("required", subject, "preferred", change))
    if any(p.topology and p.topology.required for p in work.pod_sets):
        change = Change(edits=[edit(work.key, podSets=_anywhere(work))])
        subject = "its pods may stand anywhere (unconstrained topology)"
        found.append(("required", subject, "unconstrained", change))
    return found


def _preferring(work: WorkloadInfo) -> PodSets:
    """Return the podsets with the required level preferred."""
    pod_sets: PodSets = copy.deepcopy([dict(part) for part in work.pod_set_specs])
    for part in pod_sets:
        request = part.get("topologyRequest") or {}
        if "required" in request:
            request["preferred"] = request.pop("required")
    return pod_sets


def _anywhere(work: WorkloadInfo) -> PodSets:
    """Return the podsets without a level, slices and groups kept out as well."""
    pod_sets: PodSets = copy.deepcopy([dict(part) for part in work.pod_set_specs])
    for part in pod_sets:
        request = part.get("topologyRequest") or {}
        if "required" in request:
            kept = ("podIndexLabel", "subGroupIndexLabel", "subGroupCount")
            part["topologyRequest"] = {
                "unconstrained": True,
                **{name: request[name] for name in kept if name in request},
            }
    return pod_sets
