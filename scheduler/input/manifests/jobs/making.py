"""What all job kinds share: queue, priority, labels and name of the Workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.model.amounts import is_whole
from scheduler.model.annotations import MAX_EXECUTION
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import PRIORITY_CLASS, QUEUE, Surroundings
from scheduler.model.problems import Problem, Wanted, expected, in_field
from scheduler.model.releases.rules import most_pod_sets

Manifest = Mapping[str, Any]

#: PriorityClasses that every cluster has.
BUILT_IN = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
JOB_UID = "kueue.x-k8s.io/job-uid"


def labels_of(manifest: Manifest) -> Mapping[str, str]:
    """Return the labels of a manifest."""
    return manifest["metadata"].get("labels") or {}


def annotations_of(manifest: Manifest) -> Mapping[str, str]:
    """Return the annotations of a manifest."""
    return manifest["metadata"].get("annotations") or {}


def queue_name(manifest: Manifest) -> str:
    """Return the LocalQueue that its label asks for; "" when there is none.

    Source: docs/semantics/kueue-jobs.md#queue-of-the-workload
    """
    return labels_of(manifest).get(QUEUE) or ""


def priority_of(
    manifest: Manifest, pod_class: str, around: Surroundings
) -> tuple[int, dict[str, str] | None]:
    """Return the priority and the reference to where it comes from.

    The label's WorkloadPriorityClass wins, then `pod_class`, then the global
    default. Raises ManifestError when a class that is named does not exist.
    Source: docs/semantics/kueue-jobs.md#priority-of-the-workload
    """
    named = labels_of(manifest).get(PRIORITY_CLASS, "")
    if named:
        value = _value(manifest, "WorkloadPriorityClass", named, around)
        return value, _reference("kueue.x-k8s.io", "WorkloadPriorityClass", named)
    named = pod_class or around.default_priority
    if named:
        value = _value(manifest, "PriorityClass", named, around)
        return value, _reference("scheduling.k8s.io", "PriorityClass", named)
    return 0, None


def _value(manifest: Manifest, kind: str, name: str, around: Surroundings) -> int:
    known = around.priorities if kind == "PriorityClass" else around.workload_priorities
    if name not in known and name not in BUILT_IN:
        raise ManifestError(
            Problem.NO_WORKLOAD.said(
                key=manifest["kind"],
                name=manifest["metadata"]["name"],
                kind=kind,
                other=repr(name),
                known=", ".join(sorted(known)) or "-",
            )
        )
    return known[name] if name in known else BUILT_IN[name]


def _reference(group: str, kind: str, name: str) -> dict[str, str]:
    return {"group": group, "kind": kind, "name": name}


def _check_count(manifest: Manifest, around: Surroundings, count: int) -> None:
    most = most_pod_sets(around.decides_as)
    if count > most:
        wanted = Wanted.COUNTED.said(least="1", most=most, kind="podsets")
        name = f"{manifest.get('kind')} {manifest['metadata']['name']}"
        raise ManifestError(in_field(name, expected(wanted, count)))


def make_workload(
    manifest: Manifest,
    around: Surroundings,
    *,
    name: str,
    pod_sets: list[dict[str, Any]],
    labels: Mapping[str, str] | None = None,
    pod_class: str | None = None,
    queue: str | None = None,
) -> dict[str, Any]:
    """Return the Workload that stands for a job.

    `queue` is its LocalQueue; by default that of its label, none where it has none.
    `labels` are those copied to it; by default the listed ones of the job.
    `pod_class` is its PriorityClass; by default the first one of its podSets.
    Raises ManifestError for more podSets than the release takes, as the API does.
    Source: docs/semantics/kueue-jobs.md#what-all-kinds-share
    """
    _check_count(manifest, around, len(pod_sets))
    metadata = manifest["metadata"]
    copied = copied_labels(manifest, around) if labels is None else dict(labels)
    if metadata.get("uid"):
        copied[JOB_UID] = metadata["uid"]
    if pod_class is None:
        pod_class = template_class(pod_sets)
    priority, reference = priority_of(manifest, pod_class, around)
    spec: dict[str, Any] = {"active": True, "podSets": pod_sets, "priority": priority}
    if asked := queue_name(manifest) if queue is None else queue:
        spec["queueName"] = asked
    if reference is not None:
        spec["priorityClassRef"] = reference
    seconds = labels_of(manifest).get(MAX_EXECUTION, "")
    if is_whole(seconds) and int(seconds):
        spec["maximumExecutionTimeSeconds"] = int(seconds)
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": metadata.get("namespace") or "default",
            "labels": copied,
            "ownerReferences": [owner_reference(manifest)],
        },
        "spec": spec,
    }


def owner_reference(manifest: Manifest) -> dict[str, Any]:
    """Return the reference from a Workload to its job."""
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "name": manifest["metadata"]["name"],
        "uid": manifest["metadata"].get("uid", ""),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def copied_labels(manifest: Manifest, around: Surroundings) -> dict[str, str]:
    """Return the labels of a job that its Workload gets. Source: docs/semantics/kueue-jobs.md#what-all-kinds-share"""
    labels = labels_of(manifest)
    return {name: labels[name] for name in around.labels_to_copy if name in labels}


def template_class(pod_sets: list[dict[str, Any]]) -> str:
    """Return the priorityClassName of the first podset that has one, or ""."""
    for pod_set in pod_sets:
        name = pod_set["template"].get("spec", {}).get("priorityClassName")
        if name:
            return str(name)
    return ""


def pod_template(template: Manifest) -> dict[str, Any]:
    """Return a pod template as a podset holds it."""
    metadata = template.get("metadata") or {}
    kept = {k: metadata[k] for k in ("labels", "annotations") if metadata.get(k)}
    spec = dict(template.get("spec") or {})
    return {"metadata": kept, "spec": spec} if kept else {"spec": spec}
