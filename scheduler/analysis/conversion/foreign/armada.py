"""Armada: queues share the cluster by their priority factors; submitted jobs are Jobs.

A file of jobs has neither apiVersion nor kind: `queue`, `jobSetId` and `jobs`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from scheduler.analysis.conversion.foreign.writing import (
    GROUP,
    PRIORITY,
    TOTAL,
    Manifest,
    Writing,
    metadata_of,
    object_of,
)
from scheduler.input.manifests.loading.checking import apart, label_of
from scheduler.model.jobs import QUEUE
from scheduler.words.losses import LostOfForeign

_API = "armadaproject.io"
_GANG, _SIZE = "armadaproject.io/gangId", "armadaproject.io/gangCardinality"
COHORT = "armada"


def is_mine(document: Manifest) -> bool:
    """Return whether a document is of Armada."""
    return str(document.get("apiVersion") or "").startswith(_API) or _is_jobs(document)


def _is_jobs(document: Manifest) -> bool:
    jobs = document.get("jobs")
    named = "queue" in document and "jobSetId" in document
    return named and isinstance(jobs, list) and not document.get("kind")


def names_queues(documents: Iterable[Manifest]) -> bool:
    """Return False: only its own files name its queues."""
    del documents
    return False


def write(writing: Writing, mine: list[Manifest]) -> None:
    """Write what Armada's documents come to."""
    writing.cohort(COHORT, own=writing.total("Armada"))
    queues = [one for one in mine if one.get("kind") == "Queue"]
    for one in queues:
        _queue(writing, one)
    taken: set[str] = set()
    for one in mine:
        if _is_jobs(one):
            _jobs(writing, one, taken)
    writing.lose("Armada", LostOfForeign.CLUSTERS.said())


def _queue(writing: Writing, one: Manifest) -> None:
    name = str(one.get("name") or metadata_of(one).get("name"))
    factor = float(one.get("priorityFactor") or 1)
    for lost, key in {
        LostOfForeign.CLASS_LIMITS: "resourceLimitsByPriorityClassName",
        LostOfForeign.OWNERS: "permissions",
    }.items():
        if one.get(key):
            writing.lose(f"Queue {name}", lost.said())
    writing.cluster_queue(name, cohort=COHORT, nominal={}, weight=1 / factor)


def _jobs(writing: Writing, document: Manifest, taken: set[str]) -> None:
    """Write the jobs of one submission; a job set may have several."""
    queue = str(document["queue"])
    set_id = label_of(str(document["jobSetId"])) or "job"
    writing.cluster_queue(queue, cohort=COHORT, nominal={})
    jobs = [job for job in document["jobs"] if isinstance(job, dict)]
    gangs = Counter(_gang(job) for job in jobs)
    for number, job in enumerate(jobs, start=1):
        _job(writing, job, queue, apart(f"{set_id}-{number}", taken), gangs)


def _gang(job: Manifest) -> str:
    return str(object_of(job.get("annotations")).get(_GANG) or "")


def _job(
    writing: Writing, job: Manifest, queue: str, name: str, gangs: Counter[str]
) -> None:
    namespace = str(job.get("namespace") or "default")
    writing.local_queue(namespace, queue)
    labels = {**object_of(job.get("labels")), QUEUE: queue}
    if priority := job.get("priority"):
        labels[PRIORITY] = _priority(writing, float(priority))
    metadata: dict[str, Any] = {"namespace": namespace, "labels": labels}
    if annotations := object_of(job.get("annotations")):
        metadata["annotations"] = dict(annotations)
    specs = job.get("podSpecs") or [job.get("podSpec")]
    for lost, key in {
        LostOfForeign.INGRESS: "ingress",
        LostOfForeign.SERVICES: "services",
    }.items():
        if job.get(key):
            writing.lose(f"job {name}", lost.said())
    gang = _gang(job)
    pods = [spec for spec in specs if isinstance(spec, dict)]
    for number, spec in enumerate(pods):
        own = name if len(pods) == 1 else f"{name}-{number}"
        spec.setdefault("restartPolicy", "Never")
        if gang or len(pods) > 1:
            size = gangs[gang] if gang else len(pods)
            writing.made.append(_member(metadata, own, spec, gang or name, size))
        else:
            writing.made.append(_one(metadata, own, spec))


def _priority(writing: Writing, priority: float) -> str:
    """Write the class of a priority: in Armada the smaller number goes first."""
    name = f"armada-{priority:g}".replace(".", "-").replace("--", "-minus-")
    writing.add("WorkloadPriorityClass", name, {"value": -round(priority)})
    return name


def _one(metadata: Manifest, name: str, spec: Manifest) -> Manifest:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**metadata, "name": name},
        "spec": {"suspend": True, "template": {"spec": spec}},
    }


def _member(
    metadata: Manifest, name: str, spec: Manifest, gang: str, size: int
) -> Manifest:
    """Return a pod of a gang: all of it is admitted together."""
    labels = {**metadata["labels"], GROUP: gang}
    annotations = {**object_of(metadata.get("annotations")), TOTAL: str(size)}
    annotations.pop(_SIZE, None)
    own = {**metadata, "name": name, "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": spec}
