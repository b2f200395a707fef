"""Objects to rows and rows to objects: the one place that knows the columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from sandbox.base import bulk
from sandbox.models import ALL_TABLES, StoredObject, table_of
from sandbox.models.fields import decode_json, json_text
from sandbox.page.phases import (
    conditions_of,
    is_true,
    phase_of,
)
from scheduler.model.objects import Key, Object

IDENTITY = ("sandbox_id", "kind", "namespace", "name")
COLUMNS = (*IDENTITY, "uid", "revision", "manifest", "status", "state")
_LOADED = ("kind", "namespace", "name", "manifest", "status", "state")

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"

#: Kind -> the columns of its own.
EXTRA: dict[str, tuple[str, ...]] = {
    "Cohort": ("parent",),
    "ClusterQueue": ("cohort",),
    "LocalQueue": ("cluster_queue",),
    "Node": ("unschedulable",),
    "Workload": ("queue", "cluster_queue", "phase", "priority", "reason"),
    "Pod": ("node", "phase", "priority"),
    "Job": ("queue",),
}


def store(sandbox_id: str, objects: Iterable[tuple[Object, int]]) -> None:
    """Write these objects, each with its revision, as they are; one statement per table."""
    by_table: dict[type[StoredObject], list[tuple[Object, int]]] = defaultdict(list)
    for obj, revision in objects:
        by_table[table_of(obj.key.kind)].append((obj, revision))
    for table, members in by_table.items():
        kind = table.__name__
        bulk.upsert(
            table,
            (*COLUMNS, *EXTRA.get(kind, ())),
            [_values(sandbox_id, obj, revision) for obj, revision in members],
            identity=IDENTITY,
        )


def remove(sandbox_id: str, keys: Iterable[Key]) -> None:
    """Delete the rows of these objects; one statement per kind and namespace."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key in keys:
        groups[key.kind, key.namespace].append(key.name)
    for (kind, namespace), names in groups.items():
        for start in range(0, len(names), 500):  # SQLite binds a bounded number
            table_of(kind)._default_manager.filter(
                sandbox_id=sandbox_id,
                kind=kind,
                namespace=namespace,
                name__in=names[start : start + 500],
            ).delete()


def load(sandbox_id: str) -> Iterator[Object]:
    """Yield every object of a sandbox; one query per table, always the same number."""
    for table in ALL_TABLES:
        for row in bulk.select(table, _LOADED, sandbox_id):
            kind, namespace, name, manifest, status, state = row
            yield Object(
                key=Key(kind, namespace, name),
                manifest=decode_json(manifest),
                status=decode_json(status),
                state=_unpack(state),
            )


def clear(sandbox_id: str) -> None:
    """Delete every object of a sandbox."""
    for table in ALL_TABLES:
        table._default_manager.filter(sandbox_id=sandbox_id).delete()


def _values(sandbox_id: str, obj: Object, revision: int) -> tuple[Any, ...]:
    key = obj.key
    return (
        sandbox_id,
        *key,
        obj.uid,
        revision,
        json_text(obj.manifest),
        json_text(obj.status),
        _pack(obj.state),
        *_extra(obj),
    )


def _extra(obj: Object) -> tuple[Any, ...]:
    spec = obj.spec
    match obj.key.kind:
        case "Cohort":
            return (spec.get("parentName") or "",)
        case "ClusterQueue":
            return (spec.get("cohortName") or spec.get("cohort") or "",)
        case "LocalQueue":
            return (spec.get("clusterQueue") or "",)
        case "Node":
            return (bool(spec.get("unschedulable")),)
        case "Workload":
            return _of_workload(obj)
        case "Pod":
            return (
                spec.get("nodeName") or "",
                str(obj.status.get("phase") or "Pending"),
                int(spec.get("priority") or 0),
            )
        case "Job":
            return (obj.labels.get(QUEUE_LABEL, ""),)
        case _:
            return ()


def _of_workload(obj: Object) -> tuple[Any, ...]:
    spec, status = obj.spec, obj.status
    admission = status.get("admission") or {}
    conditions = conditions_of(status)
    return (
        spec.get("queueName") or "",
        admission.get("clusterQueue") or "",
        phase_of(spec, is_set=lambda name: is_true(conditions, name)),
        int(spec.get("priority") or 0),
        summary_condition(status).get("reason", "")[:128],
    )


def summary_condition(status: dict[str, Any]) -> dict[str, Any]:
    """Return the condition that explains a Workload's phase; {} when none does."""
    conditions = conditions_of(status)
    for name in ("Finished", "Admitted"):
        if is_true(conditions, name):
            return dict(conditions[name])
    if is_true(conditions, "QuotaReserved"):
        return dict(conditions.get("Admitted") or conditions["QuotaReserved"])
    return dict(conditions.get("QuotaReserved") or {})
