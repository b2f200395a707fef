"""KAI scheduler: its Queues become Cohorts and ClusterQueues, its groups pod groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from scheduler.analysis.conversion.foreign.writing import (
    GROUP,
    TOTAL,
    Manifest,
    Writing,
    group_of,
    metadata_of,
    object_of,
    spec_of,
    texts_of,
)
from scheduler.model.jobs import QUEUE
from scheduler.words.losses import LostOfForeign

_API_GROUP = "scheduling.run.ai"
_LABELS = ("kai.scheduler/queue", "runai/queue")
_MEMBER = "pod-group-name"
_FRACTION = ("gpu-fraction", "gpu-memory")
_GPU = "nvidia.com/gpu"
#: Its resources -> Kubernetes', and what one of its units is there: cpu in thousandths.
_UNITS = {"cpu": ("cpu", 1), "memory": ("memory", 10**6), "gpu": (_GPU, 1)}
_UNLIMITED = -1
COHORT = "kai"


def is_mine(document: Manifest) -> bool:
    """Return whether a document is of KAI."""
    return group_of(document) == _API_GROUP


def names_queues(documents: Iterable[Manifest]) -> bool:
    """Return whether objects of Kubernetes name a queue of KAI."""
    return any(_queue_name(one) for one in documents)


def write(writing: Writing, mine: list[Manifest]) -> None:
    """Write what KAI's documents come to."""
    if _GPU not in writing.resources:
        writing.resources.append(_GPU)
    queues = [one for one in mine if one.get("kind") == "Queue"]
    parents = {spec_of(one).get("parentQueue") for one in queues}
    spare = writing.total("KAI")
    for one in queues:
        is_parent = metadata_of(one).get("name") in parents
        quota = _queue(writing, one, is_parent=is_parent)
        spare = {name: v - quota.get(name, 0) for name, v in spare.items()}
    writing.cohort(COHORT, own={name: max(0, v) for name, v in spare.items()})
    groups = {_path(one): one for one in mine if one.get("kind") == "PodGroup"}
    for one in writing.rest:
        _runner(writing, one, groups)


def _path(document: Manifest) -> tuple[str, str]:
    metadata = object_of(document.get("metadata"))
    return str(metadata.get("namespace") or "default"), str(metadata.get("name"))


def _queue(writing: Writing, one: Manifest, *, is_parent: bool) -> dict[str, int]:
    """Write a queue; return the quota that it takes of the cluster."""
    name, spec = str(metadata_of(one).get("name")), spec_of(one)
    subject = f"Queue {name}"
    quota, limit, weight = _amounts(writing, subject, object_of(spec.get("resources")))
    parent = str(spec.get("parentQueue") or "")
    for lost, given in {
        LostOfForeign.QUEUE_PRIORITY: spec.get("priority") is not None,
        LostOfForeign.PREEMPT_MIN: spec.get("preemptMinRuntime") is not None,
        LostOfForeign.RECLAIM_MIN: spec.get("reclaimMinRuntime") is not None,
    }.items():
        if given:
            writing.lose(subject, lost.said())
    if is_parent:
        # Its quota is that of its queues: they share it, it adds none.
        if any(quota.values()) or limit:
            writing.lose(subject, LostOfForeign.PARENT_QUOTA.said())
        writing.cohort(name, parent=parent or COHORT, own={})
        return {}
    writing.cluster_queue(
        name, cohort=parent or COHORT, nominal=quota, limit=limit, weight=weight
    )
    return quota


def _amounts(
    writing: Writing, subject: str, resources: Manifest
) -> tuple[dict[str, int], dict[str, int], float]:
    quota: dict[str, int] = {}
    limit: dict[str, int] = {}
    weights: dict[str, float] = {}
    for given, (name, unit) in _UNITS.items():
        row = object_of(resources.get(given))
        own, most = row.get("quota", 0), row.get("limit", _UNLIMITED)
        quota[name] = (
            writing.total(subject).get(name, 0)
            if own == _UNLIMITED
            else round(float(own) * unit)
        )
        if own == _UNLIMITED:
            writing.lose(subject, LostOfForeign.UNLIMITED.said(resource=given))
        if most != _UNLIMITED:
            limit[name] = round(float(most) * unit)
        weights[given] = float(row.get("overQuotaWeight", 1))
    if len(set(weights.values())) > 1:
        writing.lose(subject, LostOfForeign.EACH_WEIGHT.said())
    return quota, limit, weights["gpu"]


def _queue_name(one: Manifest) -> str:
    labels = object_of(object_of(one.get("metadata")).get("labels"))
    return str(next((labels[n] for n in _LABELS if labels.get(n)), ""))


def _runner(
    writing: Writing, one: Manifest, groups: dict[tuple[str, str], Manifest]
) -> None:
    """Send a job or pod to its LocalQueue; pods of a PodGroup together."""
    metadata, (namespace, name) = metadata_of(one), _path(one)
    annotations = object_of(metadata.get("annotations"))
    member = str(annotations.get(_MEMBER) or "") if one.get("kind") == "Pod" else ""
    group = groups.get((namespace, member), {})
    queue = _queue_name(one) or str(spec_of(group).get("queue") or "")
    if not queue:
        return
    subject = f"{one.get('kind')} {namespace}/{name}"
    writing.local_queue(namespace, queue)
    labels = texts_of(metadata, "labels")
    labels[QUEUE] = queue
    if one.get("kind") == "Job":
        spec_of(one)["suspend"] = True
    if member:
        _join(writing, one, namespace, member, group)
    _strip(writing, one, subject)


def _join(
    writing: Writing, one: Manifest, namespace: str, member: str, group: Manifest
) -> None:
    counts = Counter(
        object_of(object_of(pod.get("metadata")).get("annotations")).get(_MEMBER)
        for pod in writing.rest
        if pod.get("kind") == "Pod" and _path(pod)[0] == namespace
    )
    total = counts[member]
    metadata = metadata_of(one)
    texts_of(metadata, "labels")[GROUP] = member
    texts_of(metadata, "annotations")[TOTAL] = str(total)
    least = spec_of(group).get("minMember")
    subject = f"PodGroup {namespace}/{member}"
    if isinstance(least, int) and least < total:
        writing.lose(subject, LostOfForeign.MIN_MEMBER.said(least=least, total=total))
    if spec_of(group).get("preemptibility"):
        writing.lose(subject, LostOfForeign.PREEMPTIBILITY.said())


def _strip(writing: Writing, one: Manifest, subject: str) -> None:
    """Leave out the scheduler's name; a part of a GPU becomes a whole one."""
    spec = spec_of(one)
    template = object_of(spec.get("template"))
    for metadata, pod in (
        (metadata_of(one), spec),
        (object_of(template.get("metadata")), object_of(template.get("spec"))),
    ):
        pod.pop("schedulerName", None)
        annotations = object_of(metadata.get("annotations"))
        parts = [name for name in _FRACTION if name in annotations]
        containers = pod.get("containers")
        if parts and isinstance(containers, list) and containers:
            writing.lose(subject, LostOfForeign.WHOLE_GPU.said(name=parts[0]))
            resources = containers[0].setdefault("resources", {})
            for part in ("requests", "limits"):
                resources.setdefault(part, {})[_GPU] = "1"
