"""Objects as `kubectl get` prints them: server-side tables with a column per fact.

Ages are of simulated time. Source: the printer columns of Kueue's resource definitions;
<https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables>
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from scheduler.model import durations
from scheduler.model.errors import SchedulerError

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
    columns = [
        _since(column, now_us) if column.type == "date" else column
        for column in _COLUMNS.get(kind, (_NAME, _AGE))
    ]
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
        "type": "string" if column.type == "date" else column.type,
        "format": "name" if column.name == "Name" else "",
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


def _since(column: Column, now_us: int) -> Column:
    """Return a column of moments as one of how long ago they were."""
    moment = column.cell
    return column._replace(cell=lambda document: age(moment(document), now_us))


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
    if _path("status.active", 0)(document):
        return "Running"
    return "Suspended" if _path("spec.suspend", False)(document) else "Running"


def _completions(document: Document) -> str:
    wanted = _path("spec.completions", 1)(document)
    return f"{_path('status.succeeded', 0)(document)}/{wanted}"


def _duration(document: Document) -> str:
    """Return how long a Job ran; "" while it has not ended, as its rows hold no current time."""
    began = _path("status.startTime")(document)
    ended = _path("status.completionTime")(document)
    return age(began, durations.stamp_us(ended)) if began and ended else ""


def _object(document: Document) -> str:
    about = document["involvedObject"]
    return f"{about['kind'].lower()}/{about['name']}"


def _images(document: Document) -> str:
    spec = _path("spec.template.spec", _path("spec", {})(document))(document)
    containers = spec.get("containers") or ()
    return ",".join(str(c.get("image", "")) for c in containers) or "<none>"


_NAME = Column("Name", _path("metadata.name"))
_AGE = Column("Age", _path("metadata.creationTimestamp", None), "date")
_PENDING = Column("Pending Workloads", _path("status.pendingWorkloads", 0), "integer")
_ADMITTED = Column(
    "Admitted Workloads", _path("status.admittedWorkloads", 0), "integer"
)
_VALUE = Column("Value", _path("value", 0), "integer")

#: Kinds that are not here have their name and age alone, as in Kubernetes.
_COLUMNS: dict[str, tuple[Column, ...]] = {
    "Workload": (
        _NAME,
        Column("Queue", _path("spec.queueName")),
        Column("Reserved in", _path("status.admission.clusterQueue")),
        Column("Admitted", _condition("Admitted")),
        Column("Finished", _condition("Finished")),
        _AGE,
    ),
    "ClusterQueue": (
        _NAME,
        Column(
            "Cohort",
            lambda d: d["spec"].get("cohortName") or d["spec"].get("cohort") or "",
        ),
        Column("Strategy", _path("spec.queueingStrategy"), wide=True),
        _PENDING,
        _ADMITTED._replace(wide=True),
    ),
    "LocalQueue": (
        _NAME,
        Column("ClusterQueue", _path("spec.clusterQueue")),
        _PENDING,
        _ADMITTED,
    ),
    "WorkloadPriorityClass": (_NAME, _VALUE),
    "PriorityClass": (
        _NAME,
        _VALUE,
        Column("Global-Default", _path("globalDefault", False), "boolean"),
        _AGE,
        Column("PreemptionPolicy", _path("preemptionPolicy", "PreemptLowerPriority")),
    ),
    "Node": (
        _NAME,
        Column("Status", _node_status),
        Column("Roles", _roles),
        _AGE,
        Column("Version", _path("status.nodeInfo.kubeletVersion")),
        Column("OS-Image", _path("status.nodeInfo.osImage", "<unknown>"), wide=True),
    ),
    "Pod": (
        _NAME,
        Column("Ready", _pod_ready),
        Column("Status", _pod_status),
        Column("Restarts", lambda _: 0, "integer"),
        _AGE,
        Column("IP", _path("status.podIP", "<none>"), wide=True),
        Column("Node", _path("spec.nodeName", "<none>"), wide=True),
        Column(
            "Nominated Node", _path("status.nominatedNodeName", "<none>"), wide=True
        ),
    ),
    "Namespace": (_NAME, Column("Status", _path("status.phase", "Active")), _AGE),
    "Job": (
        _NAME,
        Column("Status", _job_status),
        Column("Completions", _completions),
        Column("Duration", _duration),
        _AGE,
        Column("Images", _images, wide=True),
    ),
    "PodDisruptionBudget": (
        _NAME,
        Column("Min Available", _path("spec.minAvailable", "N/A")),
        Column("Max Unavailable", _path("spec.maxUnavailable", "N/A")),
        Column("Allowed Disruptions", _path("status.disruptionsAllowed", 0), "integer"),
        _AGE,
    ),
    "Event": (
        Column("Last Seen", _path("lastTimestamp", None), "date"),
        Column("Type", _path("type")),
        Column("Reason", _path("reason")),
        Column("Object", _object),
        Column("Source", _path("source.component"), wide=True),
        Column("Message", _path("message")),
        Column("First Seen", _path("firstTimestamp", None), "date", wide=True),
        Column("Count", _path("count", 1), "integer", wide=True),
        Column("Name", _path("metadata.name"), wide=True),
    ),
}
