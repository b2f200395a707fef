"""Older Kueue versions to the served one, and back: for texts, and for who asks in one.

What became of a field stands in its schema (`now`). Here is what takes more than a name.
Source: docs/semantics/kueue-lifecycle.md#api-v1beta1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.model.schemas import KUEUE, moved

Manifest = dict[str, Any]

_OLD = ("/v1beta1", "/v1alpha1")
_CLASSES = {
    "kueue.x-k8s.io/workloadpriorityclass": (KUEUE, "WorkloadPriorityClass"),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}
_STOPPING_WAS = {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}
_STOPPING = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}


def to_served(manifest: Manifest) -> Manifest:
    """Return the manifest in the served version; the given one is not changed."""
    kind, version = str(manifest.get("kind")), str(manifest.get("apiVersion", ""))
    if not version.startswith(KUEUE) or not version.endswith(_OLD):
        return manifest
    served = _copied(manifest)
    if isinstance(served.get("spec"), dict) and kind in _CONVERSIONS:
        _CONVERSIONS[kind](served["spec"])
    for part, old, now in moved(kind):
        if isinstance(holder := served.get(part), dict) and old in holder:
            value = holder.pop(old)
            if now:
                _put(holder, now, value)
    return served


def to_older(manifest: Manifest) -> Manifest:
    """Return a served manifest as v1beta1 spells it; the given one is not changed."""
    older, kind = _copied(manifest), str(manifest.get("kind"))
    for part, old, now in moved(kind):
        if now and (value := _taken(older.get(part), now)) is not None:
            older[part][old] = value
    spec = older.get("spec") or {}
    if kind == "Workload" and not spec.get("priorityClassSource"):
        spec.pop("priorityClassSource", None)
        reference = spec.pop("priorityClassRef", None)
        if isinstance(reference, dict) and reference.get("name"):
            group, of = reference.get("group"), str(reference.get("kind")).lower()
            spec["priorityClassName"] = reference["name"]
            if group and reference.get("kind"):  # an older import took it without
                spec["priorityClassSource"] = f"{group}/{of}"
    return older


def as_written(manifest: Manifest, text: Manifest) -> Manifest:
    """Return a served ClusterQueue or Cohort as a text of an older version has it.

    Others are returned as they are. Checks, and the words for stopping, are written in
    one of two ways in v1beta1.
    """
    kind = manifest.get("kind")
    if kind not in ("ClusterQueue", "Cohort"):
        return manifest
    older, spec = to_older(manifest), text.get("spec") or {}
    own = older.get("spec") or {}
    is_oldest = str(text.get("apiVersion")).endswith("/v1alpha1") or "parent" in spec
    if kind == "Cohort" and is_oldest and "parentName" in own:
        own["parent"] = own.pop("parentName")
    fungibility = own.get("flavorFungibility")
    if isinstance(fungibility, dict):
        own["flavorFungibility"] = {
            name: _STOPPING_WAS.get(name, value) if value == "MayStopSearch" else value
            for name, value in fungibility.items()
        }
    strategy = own.get("admissionChecksStrategy") or {}
    checks: list[Any] = strategy.get("admissionChecks") or []
    bare = checks and all(one.keys() == {"name"} for one in checks)
    if bare and "admissionChecksStrategy" not in spec:
        del own["admissionChecksStrategy"]
        own["admissionChecks"] = [one["name"] for one in checks]
    return older


def _copied(manifest: Manifest) -> Manifest:
    """Return a copy whose spec and status may be changed."""
    copied = {**manifest}
    for part in ("spec", "status"):
        if isinstance(given := manifest.get(part), dict):
            copied[part] = dict(given)
    return copied


def _put(holder: Manifest, path: str, value: Any) -> None:
    *above, last = path.split(".")
    for name in above:
        inner = holder.get(name)
        holder[name] = holder = dict(inner) if isinstance(inner, dict) else {}
    holder[last] = value


def _taken(holder: Any, path: str) -> Any:
    """Take the value at a path away, with what is empty without it."""
    if not isinstance(holder, dict):
        return None
    name, _, rest = path.partition(".")
    if not rest:
        return holder.pop(name, None)
    if not isinstance(holder.get(name), dict):
        return None
    holder[name] = dict(holder[name])
    value = _taken(holder[name], rest)
    if not holder[name]:
        del holder[name]
    return value


def _cluster_queue(spec: Manifest) -> None:
    checks = spec.pop("admissionChecks", None)
    if isinstance(checks, list) and checks:
        named = [{"name": name} for name in checks]
        spec["admissionChecksStrategy"] = {"admissionChecks": named}
    fungibility = spec.get("flavorFungibility")
    if isinstance(fungibility, dict):
        spec["flavorFungibility"] = {
            name: _STOPPING.get(value, value) if isinstance(value, str) else value
            for name, value in fungibility.items()
        }


def _workload(spec: Manifest) -> None:
    source, name = (
        spec.pop("priorityClassSource", ""),
        spec.pop("priorityClassName", ""),
    )
    if name and str(source) in _CLASSES:
        group, kind = _CLASSES[str(source)]
        spec["priorityClassRef"] = {"group": group, "kind": kind, "name": name}


def _cohort(spec: Manifest) -> None:
    if "parent" in spec:  # of v1alpha1
        spec["parentName"] = spec.pop("parent")


_CONVERSIONS: dict[str, Callable[[Manifest], None]] = {
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "Workload": _workload,
}
