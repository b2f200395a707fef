"""What all job kinds share: queue, priority, labels and name of the Workload."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from scheduler.manifests.jobs import Surroundings

Manifest = Mapping[str, Any]

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"
MAX_EXECUTION = "kueue.x-k8s.io/max-exec-time-seconds"
JOB_UID = "kueue.x-k8s.io/job-uid"
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_LONGEST_NAME = 63
_SUFFIX = 5


def labels_of(manifest: Manifest) -> Mapping[str, str]:
    """Return the labels of a manifest."""
    return manifest["metadata"].get("labels") or {}


def annotations_of(manifest: Manifest) -> Mapping[str, str]:
    """Return the annotations of a manifest."""
    return manifest["metadata"].get("annotations") or {}


def queue_name(manifest: Manifest) -> str:
    """Return the LocalQueue it asks for: the label, else the older annotation.

    Source: KUEUE.md 15.3.
    """
    return labels_of(manifest).get(QUEUE) or annotations_of(manifest).get(QUEUE) or ""


def workload_name(prefix: str, manifest: Manifest) -> str:
    """Return `prefix-name-xxxxx`, the last part a stable hash of what owns it.

    Source: KUEUE.md 15.3.
    """
    metadata = manifest["metadata"]
    name = f"{prefix}-{metadata['name']}"
    owner = f"{manifest['kind']}/{metadata['name']}/{metadata.get('uid', '')}"
    digest = hashlib.sha256(owner.encode()).digest()
    suffix = "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:_SUFFIX])
    return f"{name[: _LONGEST_NAME - _SUFFIX - 1]}-{suffix}"


def priority_of(
    manifest: Manifest, template_class: str, around: Surroundings
) -> tuple[int, dict[str, str] | None]:
    """Return the priority and the reference to where it comes from.

    The label's WorkloadPriorityClass wins, then the pods' PriorityClass, then
    the global default. Source: KUEUE.md 15.4.
    """
    named = labels_of(manifest).get(PRIORITY_CLASS, "")
    if named:
        reference = _reference("kueue.x-k8s.io", "WorkloadPriorityClass", named)
        return around.workload_priorities.get(named, 0), reference
    named = template_class or around.default_priority
    if named:
        reference = _reference("scheduling.k8s.io", "PriorityClass", named)
        return around.priorities.get(named, 0), reference
    return 0, None


def _reference(group: str, kind: str, name: str) -> dict[str, str]:
    return {"group": group, "kind": kind, "name": name}


def make_workload(
    manifest: Manifest,
    around: Surroundings,
    *,
    name: str,
    pod_sets: list[dict[str, Any]],
    labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the Workload that stands for a job.

    `labels` are those copied to it; by default the listed ones of the job.
    Source: KUEUE.md 15.3 to 15.5.
    """
    metadata = manifest["metadata"]
    copied = copied_labels(manifest, around) if labels is None else dict(labels)
    if metadata.get("uid"):
        copied[JOB_UID] = metadata["uid"]
    priority, reference = priority_of(manifest, _template_class(pod_sets), around)
    spec: dict[str, Any] = {
        "active": True,
        "podSets": pod_sets,
        "priority": priority,
        "queueName": queue_name(manifest),
    }
    if reference is not None:
        spec["priorityClassRef"] = reference
    seconds = labels_of(manifest).get(MAX_EXECUTION, "")
    if seconds.isdigit() and int(seconds):
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
    """Return the labels of a job that its Workload gets. Source: KUEUE.md 15.5."""
    labels = labels_of(manifest)
    return {name: labels[name] for name in around.labels_to_copy if name in labels}


def _template_class(pod_sets: list[dict[str, Any]]) -> str:
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


def pods_at_once(spec: Manifest) -> int:
    """Return how many pods of a Job run together.

    Source: KUEUE.md 15.3.
    """
    parallelism = _count(spec, "parallelism")
    return min(parallelism, _count(spec, "completions", parallelism))


def waves_of(spec: Manifest) -> int:
    """Return how many times a Job's pods run one after another."""
    at_once = pods_at_once(spec)
    completions = _count(spec, "completions", at_once)
    return max(1, -(-completions // at_once)) if at_once else 1


def _count(spec: Manifest, name: str, default: int = 1) -> int:
    value = spec.get(name)
    return default if value is None else int(value)
