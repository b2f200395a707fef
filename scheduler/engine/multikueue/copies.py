"""Copies of a Workload and its job, as a worker cluster gets them.

Source: docs/semantics/kueue-multikueue.md#dispatch.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model.annotations import ARRIVAL, CLUSTER, PREFIX, RUNTIME, read_timing
from scheduler.model.durations import NEVER
from scheduler.model.objects import Key, Object

# ------------------------------------------------------------------------
# Where one Workload is, as MultiKueue knows it.


@dataclass(slots=True, kw_only=True)
class Dispatch:
    """The clusters of one reservation. Virtual milliseconds; None means not yet."""

    attempt: int = 0  # how often the Workload was evicted before
    cluster: str = ""  # that admitted its copy
    nominated: list[str] = field(default_factory=list)
    round_ms: int | None = None  # when clusters were nominated last
    lost_ms: int | None = None  # since when its cluster is not reached
    evictions: int = 0  # of the copy, before it was admitted

    def state(self) -> list[Any]:
        """Return plain values from which `from_state` makes it again."""
        return [
            self.attempt,
            self.cluster,
            list(self.nominated),
            self.round_ms,
            self.lost_ms,
            self.evictions,
        ]

    @classmethod
    def from_state(cls, values: list[Any]) -> Dispatch:
        """Return the dispatch that wrote these values."""
        attempt, cluster, nominated, round_ms, lost_ms, evictions = values
        return cls(
            attempt=attempt,
            cluster=cluster,
            nominated=list(nominated),
            round_ms=round_ms,
            lost_ms=lost_ms,
            evictions=evictions,
        )


# ------------------------------------------------------------------------
# Copies of a Workload and its job, as a worker cluster gets them.


ORIGIN = "kueue.x-k8s.io/multikueue-origin"
MANAGED_BY = "kueue.x-k8s.io/multikueue"
_WITHOUT_ADAPTER = frozenset({"SparkApplication"})
_PRIORITY = frozenset(
    {"priority", "priorityClassRef", "priorityClassName", "priorityClassSource"}
)


def job_of(workload: Object, objects: dict[Key, Object]) -> Object | None:
    """Return the job that a Workload is made of, where it is a job."""
    owner = owner_key(workload, frozenset(JOB_KINDS))
    return None if owner is None else objects.get(owner)


def refusal(job: Object | None) -> str:
    """Return why a Workload of this job cannot be dispatched; "" if it can."""
    if job is None:
        return ""
    if job.key.kind in _WITHOUT_ADAPTER:
        group, _, version = job.manifest["apiVersion"].partition("/")
        kind = f"{group}/{version}, Kind={job.key.kind}"
        return f'No multikueue adapter found for owner kind "{kind}"'
    managed = job.spec.get("managedBy")
    if managed not in (None, MANAGED_BY):
        return (
            "The owner is not managed by Kueue: Expecting spec.managedBy to be "
            f'"{MANAGED_BY}" not "{managed}"'
        )
    return ""


def is_copy(obj: Object) -> bool:
    """Return whether a manager put this object into a worker."""
    return ORIGIN in obj.labels


def copies(
    workload: Object, job: Object | None, *, origin: str, seed: int
) -> list[Object]:
    """Return the Workload and its job, if any, as they are put into a worker.

    A run time that is drawn is drawn here: it is the same in every cluster.
    """
    ours = _annotations(workload, seed)
    made = [_copy(workload, origin, ours)]
    if job is not None:
        api, kind = job.manifest["apiVersion"], job.key.kind
        owner = {"apiVersion": api, "kind": kind, "name": job.key.name}
        made[0].metadata["ownerReferences"] = [{**owner, "controller": True}]
        made.append(_copy(job, origin, _annotations(job, seed, ours)))
        made[1].spec.pop("managedBy", None)
    return made


def _copy(obj: Object, origin: str, annotations: dict[str, str]) -> Object:
    metadata: dict[str, Any] = {
        "name": obj.key.name,
        "labels": {**obj.labels, ORIGIN: origin},
        "annotations": annotations,
    }
    if obj.key.namespace:
        metadata["namespace"] = obj.key.namespace
    manifest = copy.deepcopy(
        {name: part for name, part in obj.manifest.items() if name != "metadata"}
    )
    return Object(key=obj.key, manifest={**manifest, "metadata": metadata})


def _annotations(
    obj: Object, seed: int, workload: dict[str, str] | None = None
) -> dict[str, str]:
    """Return the annotations of a copy: when the original came is not of it."""
    kept = {k: v for k, v in obj.annotations.items() if k not in (ARRIVAL, CLUSTER)}
    if workload is not None:
        drawn = {k: v for k, v in workload.items() if k.startswith(PREFIX)}
        return {**kept, **drawn}
    runtime = read_timing(kept).runtime
    if runtime is not None and runtime.shape != "fixed":
        length = runtime.draw(seed, "runtime", str(obj.key))
        kept[RUNTIME] = "never" if length >= NEVER else f"{length}ms"
    return kept


def differences(workload: Object, copied: Object) -> set[str]:
    """Return the fields of the spec in which a copy is not as the Workload is."""
    names = {*workload.spec, *copied.spec} - {"active"}
    return {n for n in names if workload.spec.get(n) != copied.spec.get(n)}


def is_priority(fields: set[str]) -> bool:
    """Return whether only the priority differs, which is forwarded."""
    return bool(fields) and fields <= _PRIORITY


def with_priority(copied: Object, workload: Object) -> Object:
    """Return the copy as it is put again with the Workload's priority."""
    spec = {k: v for k, v in copied.spec.items() if k not in _PRIORITY}
    spec |= {k: v for k, v in workload.spec.items() if k in _PRIORITY}
    manifest = {**copied.manifest, "metadata": dict(copied.metadata), "spec": spec}
    return Object(key=copied.key, manifest=manifest)
