"""Volcano: Queues become ClusterQueues, Jobs of tasks become Jobs or JobSets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from scheduler.analysis.conversion.foreign.writing import (
    GROUP,
    LEAST,
    TOTAL,
    Manifest,
    Writing,
    amounts_of,
    group_of,
    metadata_of,
    object_of,
    spec_of,
    texts_of,
)
from scheduler.model.jobs import QUEUE
from scheduler.words.losses import LostOfForeign

_GROUPS = ("batch.volcano.sh", "scheduling.volcano.sh", "scheduling.incubator.k8s.io")
_MEMBER = "scheduling.k8s.io/group-name"
_QUEUE_NAME = "scheduling.volcano.sh/queue-name"
_DEFAULT, _ROOT = "default", "root"
COHORT = "volcano"


def is_mine(document: Manifest) -> bool:
    """Return whether a document is of Volcano."""
    return group_of(document) in _GROUPS


def names_queues(documents: Iterable[Manifest]) -> bool:
    """Return whether objects of Kubernetes name a group or queue of Volcano."""
    return any(
        name in object_of(object_of(one.get("metadata")).get("annotations"))
        for one in documents
        for name in (_MEMBER, _QUEUE_NAME)
    )


def write(writing: Writing, mine: list[Manifest]) -> None:
    """Write what Volcano's documents come to."""
    queues = [one for one in mine if one.get("kind") == "Queue"]
    groups = {_path(one): one for one in mine if one.get("kind") == "PodGroup"}
    _queues(writing, queues)
    for one in mine:
        if one.get("kind") == "Job":
            _job(writing, one)
        elif one.get("kind") not in ("Queue", "PodGroup"):
            name = metadata_of(one).get("name")
            writing.lose(f"{one.get('kind')} {name}", LostOfForeign.OBJECT.said())
    _members(writing, groups)
    writing.lose("Volcano", LostOfForeign.ACTIONS.said())


def _path(document: Manifest) -> tuple[str, str]:
    metadata = metadata_of(document)
    return str(metadata.get("namespace") or "default"), str(metadata.get("name"))


def _queues(writing: Writing, queues: list[Manifest]) -> None:
    """Write parents as Cohorts, leaves as ClusterQueues, what is over to the top."""
    parents = {str(spec_of(one).get("parent") or _ROOT) for one in queues}
    names = {str(metadata_of(one).get("name")) for one in queues}
    spare = writing.total("Volcano")
    for one in queues:
        name = str(metadata_of(one).get("name"))
        if name == _ROOT:
            continue
        cohort = _cohort_name(str(spec_of(one).get("parent") or _ROOT))
        if name in parents:
            _lose_of_queue(writing, one, f"Queue {name}")
            writing.cohort(_cohort_name(name), parent=cohort, own={})
            continue
        nominal = _leaf(writing, one, name, cohort)
        spare = {r: v - nominal.get(r, 0) for r, v in spare.items()}
    if _DEFAULT not in names:
        writing.cluster_queue(_DEFAULT, cohort=COHORT, nominal={})
    writing.cohort(COHORT, own={r: max(0, v) for r, v in spare.items()})


def _cohort_name(parent: str) -> str:
    return COHORT if parent == _ROOT else f"{COHORT}-{parent}"


def _leaf(writing: Writing, one: Manifest, name: str, cohort: str) -> dict[str, int]:
    spec, subject = spec_of(one), f"Queue {name}"
    deserved = amounts_of(writing, subject, spec.get("deserved"))
    kept = amounts_of(
        writing, subject, object_of(spec.get("guarantee")).get("resource")
    )
    nominal = {**kept, **deserved}
    limit = amounts_of(writing, subject, spec.get("capability"))
    _lose_of_queue(writing, one, subject)
    writing.cluster_queue(
        name,
        cohort=cohort,
        nominal=nominal,
        limit=limit,
        lend={r: v - kept.get(r, 0) for r, v in nominal.items()} if kept else None,
        weight=float(spec.get("weight") or 1),
    )
    return nominal


def _lose_of_queue(writing: Writing, one: Manifest, subject: str) -> None:
    spec = spec_of(one)
    for lost, given in {
        LostOfForeign.RECLAIMABLE: spec.get("reclaimable") is False,
        LostOfForeign.QUEUE_PRIORITY: bool(spec.get("priority")),
        LostOfForeign.AFFINITY: bool(spec.get("affinity")),
        LostOfForeign.DEQUEUE: bool(spec.get("dequeueStrategy")),
        LostOfForeign.EXTENDED: bool(spec.get("extendClusters")),
    }.items():
        if given:
            writing.lose(subject, lost.said())


def _job(writing: Writing, one: Manifest) -> None:
    namespace, name = _path(one)
    spec, subject = spec_of(one), f"Job {namespace}/{name}"
    queue = str(spec.get("queue") or _DEFAULT)
    writing.local_queue(namespace, queue)
    tasks = [task for task in spec.get("tasks") or () if isinstance(task, dict)]
    _lose_of_job(writing, spec, tasks, subject)
    labels = {**object_of(metadata_of(one).get("labels")), QUEUE: queue}
    metadata: Manifest = {"name": name, "namespace": namespace, "labels": labels}
    if annotations := object_of(metadata_of(one).get("annotations")):
        metadata["annotations"] = dict(annotations)
    total = sum(_replicas(task) for task in tasks)
    least = int(spec.get("minAvailable") or total)
    if len(tasks) == 1:
        if least < total:
            texts_of(metadata, "annotations")[LEAST] = str(least)
            writing.lose(subject, LostOfForeign.GROWING.said(least=least, total=total))
        body = _batch_spec(tasks[0], spec)
        made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata}
        writing.made.append({**made, "spec": body})
        return
    if least < total:
        writing.lose(
            subject, LostOfForeign.MIN_AVAILABLE.said(least=least, total=total)
        )
    writing.made.append(
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": metadata,
            "spec": {
                "suspend": True,
                "replicatedJobs": [
                    {
                        "name": str(task.get("name") or f"task-{number}"),
                        "replicas": 1,
                        "template": {"spec": _batch_spec(task, spec, set_of=True)},
                    }
                    for number, task in enumerate(tasks)
                ],
            },
        }
    )


def _replicas(task: Manifest) -> int:
    given = task.get("replicas")
    return 1 if given is None else int(given)


def _batch_spec(
    task: Manifest, spec: Manifest, *, set_of: bool = False
) -> dict[str, Any]:
    template = object_of(task.get("template"))
    pod = object_of(template.get("spec"))
    pod.pop("schedulerName", None)
    pod.setdefault("restartPolicy", "Never")
    if given := spec.get("priorityClassName"):
        pod.setdefault("priorityClassName", given)
    count = _replicas(task)
    found: dict[str, Any] = {"parallelism": count, "completions": count}
    if spec.get("maxRetry") is not None:
        found["backoffLimit"] = spec["maxRetry"]
    if not set_of:
        found["suspend"] = True
        if spec.get("ttlSecondsAfterFinished") is not None:
            found["ttlSecondsAfterFinished"] = spec["ttlSecondsAfterFinished"]
    return {**found, "template": {**template, "spec": pod}}


def _lose_of_job(
    writing: Writing, spec: Manifest, tasks: list[Manifest], subject: str
) -> None:
    for lost, given in {
        LostOfForeign.PLUGINS: bool(spec.get("plugins")),
        LostOfForeign.POLICIES: bool(spec.get("policies"))
        or any(task.get("policies") for task in tasks),
        LostOfForeign.ORDER: any(t.get("dependsOn") for t in tasks),
        LostOfForeign.TASK_AVAILABLE: any(
            t.get("minAvailable") is not None for t in tasks
        ),
        LostOfForeign.VOLUMES: bool(spec.get("volumes")),
        LostOfForeign.TOPOLOGY: bool(spec.get("networkTopology")),
        LostOfForeign.MIN_SUCCESS: spec.get("minSuccess") is not None,
    }.items():
        if given:
            writing.lose(subject, lost.said())


def _members(writing: Writing, groups: dict[tuple[str, str], Manifest]) -> None:
    """Write pods of a PodGroup as a group of Kueue's."""
    named = [(one, _group_name(one)) for one in writing.rest]
    counts = Counter((_path(one)[0], name) for one, name in named if name)
    for one, name in named:
        if not name:
            continue
        namespace = _path(one)[0]
        group = groups.get((namespace, name), {})
        queue = str(spec_of(group).get("queue") or _DEFAULT)
        writing.local_queue(namespace, queue)
        metadata = metadata_of(one)
        texts_of(metadata, "labels").update({QUEUE: queue, GROUP: name})
        total = counts[namespace, name]
        texts_of(metadata, "annotations")[TOTAL] = str(total)
        spec_of(one).pop("schedulerName", None)
        least = spec_of(group).get("minMember")
        if isinstance(least, int) and least < total:
            subject = f"PodGroup {namespace}/{name}"
            writing.lose(
                subject, LostOfForeign.MIN_MEMBER.said(least=least, total=total)
            )


def _group_name(one: Manifest) -> str:
    if one.get("kind") != "Pod":
        return ""
    annotations = object_of(object_of(one.get("metadata")).get("annotations"))
    return str(annotations.get(_MEMBER) or "")
