"""Objects as `kubectl get` prints them: server-side tables with a column per fact.

Ages are of simulated time. Source: Kubernetes, receiving resources as tables;
the printer columns of Kueue's resource definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from scheduler import durations
from scheduler.errors import SchedulerError

Document = Mapping[str, Any]
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 365 * 86_400


class Column(NamedTuple):
    """One column: its header, what is in it, and whether only `-o wide` shows it."""

    name: str
    cell: Callable[[Document], Any]
    type: str = "string"
    wide: bool = False


def table(
    kind: str,
    documents: list[dict[str, Any]],
    *,
    now_us: int,
    include: str,
    metadata: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a meta.k8s.io/v1 Table; `include` is None, Metadata or Object."""
    columns = [_NAME, *_COLUMNS.get(kind, ()), _age(now_us)]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": dict(metadata),
        "columnDefinitions": [_definition(column) for column in columns],
        "rows": [
            {
                "cells": [column.cell(document) for column in columns],
                "object": _shown(document, include),
            }
            for document in documents
        ],
    }


def _definition(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "format": "name" if column is _NAME else "",
        "description": "",
        "priority": int(column.wide),
    }


def _shown(document: dict[str, Any], include: str) -> dict[str, Any] | None:
    if include == "None":
        return None
    if include == "Object":
        return document
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": document["metadata"],
    }


def _path(path: str, default: Any = "") -> Callable[[Document], Any]:
    names = path.split(".")

    def cell(document: Document) -> Any:
        value: Any = document
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        return default if value is None else value

    return cell


def _condition(name: str) -> Callable[[Document], str]:
    def cell(document: Document) -> str:
        for condition in _path("status.conditions", [])(document):
            if condition.get("type") == name:
                return str(condition.get("status", ""))
        return ""

    return cell


def _age(now_us: int) -> Column:
    return Column("Age", lambda d: age(d["metadata"].get("creationTimestamp"), now_us))


def age(stamp: Any, now_us: int) -> str:
    """Return how long ago, as kubectl writes it: 90s, 5m20s, 3h, 12d."""
    try:
        seconds = (now_us - durations.stamp_us(stamp)) // 1_000_000
    except (SchedulerError, TypeError, AttributeError, ValueError):
        return "<unknown>"
    return _human(max(0, seconds))


def _human(s: int) -> str:
    if s < 2 * _MINUTE:
        return f"{s}s"
    for unit, sign, smaller, small, most in (
        (_MINUTE, "m", 1, "s", 10 * _MINUTE),
        (_MINUTE, "m", 0, "", 3 * _HOUR),
        (_HOUR, "h", _MINUTE, "m", 8 * _HOUR),
        (_HOUR, "h", 0, "", 2 * _DAY),
        (_DAY, "d", _HOUR, "h", 8 * _DAY),
        (_DAY, "d", 0, "", 2 * _YEAR),
    ):
        if s < most:
            rest = s % unit // smaller if smaller else 0
            return f"{s // unit}{sign}" + (f"{rest}{small}" if rest else "")
    return f"{s // _YEAR}y"


def _roles(document: Document) -> str:
    labels = document["metadata"].get("labels") or {}
    head = "node-role.kubernetes.io/"
    roles = sorted(n.removeprefix(head) for n in labels if n.startswith(head))
    return ",".join(roles) or "<none>"


def _node_status(document: Document) -> str:
    ready = _condition("Ready")(document)
    words = ["NotReady" if ready in ("False", "Unknown") else "Ready"]
    if _path("spec.unschedulable", False)(document):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _containers(document: Document) -> int:
    return len(_path("spec.containers", [])(document))


def _pod_ready(document: Document) -> str:
    total = _containers(document)
    ready = total if _condition("Ready")(document) == "True" else 0
    return f"{ready}/{total}"


def _pod_status(document: Document) -> str:
    phase = str(_path("status.phase", "Pending")(document))
    return {"Succeeded": "Completed", "Failed": "Error"}.get(phase, phase)


def _job_status(document: Document) -> str:
    for name in ("Complete", "Failed"):
        if _condition(name)(document) == "True":
            return name
    return "Suspended" if _path("spec.suspend", False)(document) else "Running"


def _completions(document: Document) -> str:
    wanted = _path("spec.completions", 1)(document)
    return f"{_path('status.succeeded', 0)(document)}/{wanted}"


_NAME = Column("Name", _path("metadata.name"))
_COLUMNS: dict[str, tuple[Column, ...]] = {
    "Workload": (
        Column("Queue", _path("spec.queueName")),
        Column("Reserved in", _path("status.admission.clusterQueue")),
        Column("Admitted", _condition("Admitted")),
        Column("Finished", _condition("Finished")),
    ),
    "ClusterQueue": (
        Column(
            "Cohort",
            lambda d: d["spec"].get("cohortName") or d["spec"].get("cohort") or "",
        ),
        Column("Strategy", _path("spec.queueingStrategy"), wide=True),
        Column("Pending Workloads", _path("status.pendingWorkloads", 0), "integer"),
        Column(
            "Admitted Workloads",
            _path("status.admittedWorkloads", 0),
            "integer",
            wide=True,
        ),
    ),
    "LocalQueue": (
        Column("ClusterQueue", _path("spec.clusterQueue")),
        Column("Pending Workloads", _path("status.pendingWorkloads", 0), "integer"),
        Column("Admitted Workloads", _path("status.admittedWorkloads", 0), "integer"),
    ),
    "Cohort": (Column("Parent", _path("spec.parentName"), wide=True),),
    "WorkloadPriorityClass": (Column("Value", _path("value", 0), "integer"),),
    "PriorityClass": (
        Column("Value", _path("value", 0), "integer"),
        Column("Global-Default", _path("globalDefault", False), "boolean"),
    ),
    "Node": (
        Column("Status", _node_status),
        Column("Roles", _roles),
        Column("Version", _path("status.nodeInfo.kubeletVersion")),
    ),
    "Pod": (
        Column("Ready", _pod_ready),
        Column("Status", _pod_status),
        Column("Restarts", lambda _: 0, "integer"),
        Column("Node", _path("spec.nodeName", "<none>"), wide=True),
    ),
    "Namespace": (Column("Status", _path("status.phase", "Active")),),
    "Job": (Column("Status", _job_status), Column("Completions", _completions)),
    "Event": (
        Column("Type", _path("type")),
        Column("Reason", _path("reason")),
        Column("Object", _path("involvedObject.name")),
        Column("Message", _path("message")),
    ),
}
