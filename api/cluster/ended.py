"""The pods of Jobs that have succeeded, as a cluster keeps them until their Job goes.

The simulation lets go of a Job's pod when it succeeds. Which there were is read from the
Job, from its Workload, and from the events that placed its pods: a world that places
no pods has none to show. Nothing of this is kept.

Source: <https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup>
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from api.cluster import controlled
from api.cluster.controlled import Owners
from sandbox.models import Event, Sandbox, StoredObject, table_of
from sandbox.world import history
from sandbox.world.worlds import policy_of
from scheduler.model import durations, streams
from scheduler.model.amounts import is_whole
from scheduler.model.jobs import workload_of
from scheduler.model.objects import Key

Document = dict[str, Any]
_SUCCEEDED = {
    "phase": "Succeeded",
    "conditions": [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": "False", "reason": "PodCompleted"},
    ],
}
_AT_ONCE = 50  # Jobs whose pods are looked for one by one


class Placed(NamedTuple):
    """A pod that was placed: the last number of its name, its node, when (ms)."""

    number: int
    node: str
    at_ms: int


def jobs_with_some(
    sandbox: Sandbox, namespace: str = "", those: Q | None = None
) -> list[StoredObject]:
    """Return the Jobs of a namespace, or ("") of all, of which pods have ended.

    `those` picks among them.
    """
    rows = _jobs(sandbox)
    if namespace:
        rows = rows.filter(namespace=namespace)
    if those is not None:
        rows = rows.filter(those)
    rows = rows.filter(status__contains="succeeded").order_by("namespace", "name")
    return [row for row in rows.iterator() if _ended(row)]


def uids_of_jobs(sandbox: Sandbox) -> set[str]:
    """Return the UIDs of the Jobs that are there."""
    return set(_jobs(sandbox).values_list("uid", flat=True))


def _jobs(sandbox: Sandbox) -> QuerySet[Any]:
    return table_of("Job")._default_manager.filter(sandbox_id=sandbox.pk, kind="Job")


def _ended(row: StoredObject) -> int:
    """Return how many pods of a Job have succeeded."""
    return int((row.status or {}).get("succeeded") or 0)


def documents(
    sandbox: Sandbox, jobs: Iterable[StoredObject], owners: Owners
) -> Iterator[tuple[str, Key, Document]]:
    """Yield the pods of these Jobs that have ended: uid of the Job, key, the pod.

    Each belongs to its Job and goes with it; none has a key of a pod that is there.
    Costs two queries, of up to fifty Jobs one per Job.
    """
    listed = [(row, _bases(row)) for row in jobs if _ended(row)]
    if not listed:
        return
    placed = _placed(sandbox, [key for _, keys in listed for key in keys])
    there = _there(sandbox, placed)
    start = durations.stamp_us(policy_of(sandbox)["spec"]["simulation"]["startTime"])
    for row, keys in listed:
        base = next((key for key in keys if key in placed), None)
        if base is None:
            continue
        gone = [
            one
            for one in placed[base]
            if (base.namespace, _name(base, one)) not in there
        ]
        for index, one in enumerate(gone[-_ended(row) :]):  # those placed last
            key = base._replace(name=_name(base, one))
            pod = _pod(row, key, one, index, start, owners)
            pod["metadata"]["uid"] = streams.uid(sandbox.seed, *key)
            yield row.uid, key, pod


def _bases(row: StoredObject) -> tuple[Key, ...]:
    """Return what the keys of a Job's pods begin with: under Kueue, and without."""
    names = (f"{workload_of(row.manifest)}-main", f"{row.name}-main")
    return tuple(Key("Pod", row.namespace, name) for name in names)


def _placed(sandbox: Sandbox, bases: list[Key]) -> dict[Key, list[Placed]]:
    """Return where pods were placed, by what their keys begin with, in order."""
    bound = history.rows_of(Event, sandbox).filter(type="Bind")
    if len(bases) > _AT_ONCE:
        return _by_base(bound.filter(subject__startswith="Pod/"))
    found: dict[Key, list[Placed]] = {}
    for base in bases:
        first = f"{base}-"
        found |= _by_base(bound.filter(subject__gte=first, subject__lt=f"{first}:"))
    return found


def _by_base(events: QuerySet[Event]) -> dict[Key, list[Placed]]:
    found: dict[Key, dict[int, Placed]] = {}
    ordered = events.order_by("revision", "seq")
    for subject, at_ms, data in ordered.values_list("subject", "t_ms", "data"):
        kind, namespace, name = subject.split("/", 2)
        base, _, number = name.rpartition("-")
        if is_whole(number):
            one = Placed(int(number), str(data.get("node", "")), at_ms)
            found.setdefault(Key(kind, namespace, base), {})[one.number] = one
    return {base: [each[n] for n in sorted(each)] for base, each in found.items()}


def _there(sandbox: Sandbox, placed: dict[Key, list[Placed]]) -> set[tuple[str, str]]:
    """Return namespace and name of those of the pods that are there."""
    rows = table_of("Pod")._default_manager.filter(sandbox_id=sandbox.pk, kind="Pod")
    names = [f"{key.name}-{one.number}" for key, each in placed.items() for one in each]
    if len(names) <= _AT_ONCE:
        rows = rows.filter(name__in=names)
    return set(rows.values_list("namespace", "name"))


def _name(base: Key, one: Placed) -> str:
    return f"{base.name}-{one.number}"


def _pod(
    row: StoredObject, key: Key, one: Placed, index: int, start_us: int, owners: Owners
) -> Document:
    """Return one pod, less its uid."""
    job = row.manifest
    spec = {**copy.deepcopy(_template(row, owners)), "nodeName": one.node}
    metadata = {
        "name": key.name,
        "namespace": key.namespace,
        "creationTimestamp": durations.stamp_text(start_us + one.at_ms * 1000),
        "resourceVersion": str(row.revision),
        "labels": dict(_inner(job).get("labels") or {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": controlled.ended_pod(metadata, job, index, owners),
        "spec": spec,
        "status": copy.deepcopy(_SUCCEEDED),
    }


def _inner(job: Document) -> Document:
    return (job["spec"].get("template") or {}).get("metadata") or {}


def _template(row: StoredObject, owners: Owners) -> Document:
    """Return the pod spec of a Job with what Kueue put into it."""
    document = {**row.manifest, "status": row.status or {}}
    shown = controlled.shown(document, owners)
    found: Document = (shown["spec"].get("template") or {}).get("spec") or {}
    return found
