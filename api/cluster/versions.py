"""The served version back to an older one, for clients that speak that one.

Source: docs/semantics/kueue-lifecycle.md#api-v1beta1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from api.cluster.resources import Resource

Manifest = dict[str, Any]


def in_version(document: Manifest, resource: Resource) -> Manifest:
    """Return the document as the resource's version writes it."""
    document = {**document, "apiVersion": resource.group_version}
    convert = _OLD.get((resource.kind.kind, resource.version))
    if convert is not None:
        document["spec"] = dict(document.get("spec") or {})
        if "status" in document:
            document["status"] = dict(document["status"])
        convert(document)
    return document


def _cluster_queue(document: Manifest) -> None:
    spec = document["spec"]
    _rename(spec, "cohortName", "cohort")


def _workload(document: Manifest) -> None:
    if not document["spec"].get("priorityClassSource"):
        document["spec"].pop("priorityClassSource", None)
    reference = document["spec"].pop("priorityClassRef", None)
    if reference:
        group, kind = reference["group"], reference["kind"].lower()
        document["spec"]["priorityClassSource"] = f"{group}/{kind}"
        document["spec"]["priorityClassName"] = reference["name"]
    if "status" in document:
        _rename(
            document["status"],
            "accumulatedPastExecutionTimeSeconds",
            "accumulatedPastExexcutionTimeSeconds",
        )


def _local_queue(document: Manifest) -> None:
    if "status" in document:
        _rename(document["status"], "flavorsUsage", "flavorUsage")


def _rename(holder: Manifest, old: str, new: str) -> None:
    if old in holder:
        holder[new] = holder.pop(old)


_OLD: dict[tuple[str, str], Callable[[Manifest], None]] = {
    ("ClusterQueue", "v1beta1"): _cluster_queue,
    ("Workload", "v1beta1"): _workload,
    ("LocalQueue", "v1beta1"): _local_queue,
}
