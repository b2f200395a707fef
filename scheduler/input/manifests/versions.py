"""Older Kueue versions to the served one, and back for a text that is in an older.

Source: docs/semantics/kueue-lifecycle.md#api-v1beta1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Manifest = dict[str, Any]

_OLD = ("/v1beta1", "/v1alpha1")
_CLASSES = {
    "kueue.x-k8s.io/workloadpriorityclass": (
        "kueue.x-k8s.io",
        "WorkloadPriorityClass",
    ),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}
_PARENT = {"ClusterQueue": "cohort", "Cohort": "parent"}
_STOPPING_WAS = {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}
_STOPPING = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}


def to_served(manifest: Manifest) -> Manifest:
    """Return the manifest in the served version; the given one is not changed."""
    old = str(manifest.get("apiVersion", "")).endswith(_OLD)
    convert = _CONVERSIONS.get(str(manifest.get("kind"))) if old else None
    if convert is None:
        return manifest
    served = {**manifest, "spec": dict(manifest.get("spec") or {})}
    if isinstance(manifest.get("status"), dict):
        served["status"] = dict(manifest["status"])
    convert(served)
    return served


def to_older(manifest: Manifest, spec: Manifest) -> Manifest:
    """Return a served ClusterQueue or Cohort as v1beta1 spells it; others as they are.

    `spec` is that of the text in v1beta1, which has checks in one of two ways.
    """
    kind = manifest.get("kind")
    if kind not in ("ClusterQueue", "Cohort"):
        return manifest
    older = dict(manifest.get("spec") or {})
    _rename(
        older, "cohortName" if kind == "ClusterQueue" else "parentName", _PARENT[kind]
    )
    fungibility = older.get("flavorFungibility")
    if isinstance(fungibility, dict):
        older["flavorFungibility"] = {
            name: _STOPPING_WAS.get(name, value) if value == "MayStopSearch" else value
            for name, value in fungibility.items()
        }
    strategy = older.get("admissionChecksStrategy") or {}
    checks: list[Any] = strategy.get("admissionChecks") or []
    bare = checks and all(one.keys() == {"name"} for one in checks)
    if bare and "admissionChecksStrategy" not in spec:
        del older["admissionChecksStrategy"]
        older["admissionChecks"] = [one["name"] for one in checks]
    return {**manifest, "spec": older}


def _cluster_queue(manifest: Manifest) -> None:
    spec = manifest["spec"]
    _rename(spec, "cohort", "cohortName")
    checks = spec.pop("admissionChecks", None)
    if checks:
        named = [{"name": name} for name in checks]
        spec["admissionChecksStrategy"] = {"admissionChecks": named}
    fungibility = spec.get("flavorFungibility")
    if isinstance(fungibility, dict):
        spec["flavorFungibility"] = {
            name: _STOPPING.get(value, value) for name, value in fungibility.items()
        }


def _workload(manifest: Manifest) -> None:
    spec, status = manifest["spec"], manifest.get("status")
    source, name = (
        spec.pop("priorityClassSource", ""),
        spec.pop("priorityClassName", ""),
    )
    if name and source in _CLASSES:
        group, kind = _CLASSES[source]
        spec["priorityClassRef"] = {"group": group, "kind": kind, "name": name}
    if isinstance(status, dict):
        _rename(
            status,
            "accumulatedPastExexcutionTimeSeconds",
            "accumulatedPastExecutionTimeSeconds",
        )


def _local_queue(manifest: Manifest) -> None:
    status = manifest.get("status")
    if isinstance(status, dict):
        _rename(status, "flavorUsage", "flavorsUsage")


def _cohort(manifest: Manifest) -> None:
    _rename(manifest["spec"], "parent", "parentName")


def _rename(holder: Manifest, old: str, new: str) -> None:
    if old in holder:
        holder[new] = holder.pop(old)


_CONVERSIONS: dict[str, Callable[[Manifest], None]] = {
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "Workload": _workload,
    "LocalQueue": _local_queue,
}
