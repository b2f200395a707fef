"""Objects as `kubectl get` prints them: server-side tables with a column per fact.

Ages are of simulated time. Source: the printer columns of Kueue's resource definitions;
<https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables>
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from api.cluster.resources import Resource
from scheduler.model import durations
from scheduler.model.errors import SchedulerError

Document = Mapping[str, Any]
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 365 * 86_400


class Column(NamedTuple):
    """One column: its header, what is in it, and whether only `-o wide` shows it."""

    name: str
    cell: Callable[[Document], Any]
    type: str = "string"  # date: a moment, shown as an age
    wide: bool = False
    shown: str = ""  # the type that is said, where it is another


def table(
    resource: Resource,
    documents: list[dict[str, Any]],
    *,
    now_us: int,
    include: str,
    metadata: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a meta.k8s.io/v1 Table; `include` is None, Metadata or Object."""
    columns = [_aged(column, now_us) for column in _columns_of(resource)]
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
        ]
        or (None if _is_plain(columns) else []),
    }


def _columns_of(resource: Resource) -> tuple[Column, ...]:
    if not resource.is_built_in:
        found = resource.definition
        return _of_definition(found.columns if found else [])
    return _COLUMNS.get(resource.kind.kind, (_NAME, _AGE))


def _definition(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.shown or column.type,
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


def _is_plain(columns: list[Column]) -> bool:
    """Return whether a kind has no columns of its own: then no rows are null."""
    return [column.name for column in columns] == ["Name", "Created At"]


def _condition(name: str) -> Callable[[Document], str]:
    def cell(document: Document) -> str:
        for condition in _path("status.conditions", [])(document):
            if condition.get("type") == name:
                return str(condition.get("status", ""))
        return ""

    return cell


def _aged(column: Column, now_us: int) -> Column:
    """Return a column of moments as one of how long ago they were."""
    moment = column.cell
    if column.type == "date":
        return column._replace(
            cell=lambda document: age(moment(document), now_us),
            shown=column.shown or "string",
        )
    if column.type == "date or none":
        return column._replace(
            cell=lambda d: age(moment(d), now_us) if moment(d) else "<none>",
            type="string",
        )
    if column.type == "span":
        return column._replace(cell=lambda d: _span(d, now_us), type="string")
    return column


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
    if document["metadata"].get("deletionTimestamp"):
        return "Terminating"
    if phase == "Pending" and _path("spec.schedulingGates", ())(document):
        return "SchedulingGated"
    if reason := _path("status.reason")(document):
        return str(reason)
    return {"Succeeded": "Completed", "Failed": "Error"}.get(phase, phase)


def _job_status(document: Document) -> str:
    for name in ("Complete", "Failed"):
        if _condition(name)(document) == "True":
            return name
    if document["metadata"].get("deletionTimestamp"):
        return "Terminating"
    suspended = _path("spec.suspend", False)(document)
    if suspended and not _path("status.active", 0)(document):
        return "Suspended"
    for name in ("FailureTarget", "SuccessCriteriaMet"):
        if _condition(name)(document) == "True":
            return name
    return "Running"


def _completions(document: Document) -> str:
    done, wanted = (
        _path(p, None)(document) for p in ("status.succeeded", "spec.completions")
    )
    if wanted is not None:
        return f"{done or 0}/{wanted}"
    parallel = _path("spec.parallelism", 1)(document)
    return f"{done or 0}/1 of {parallel}" if parallel > 1 else f"{done or 0}/1"


def _span(document: Document, now_us: int) -> str | None:
    """Return how long a Job runs, or ran."""
    began = _path("status.startTime", None)(document)
    ended = _path("status.completionTime", None)(document)
    if not began:
        return ""
    return age(began, durations.stamp_us(ended) if ended else now_us)


def _object(document: Document) -> str:
    about = document["involvedObject"]
    return f"{about['kind'].lower()}/{about['name']}"


_NAME = Column("Name", _path("metadata.name"))
_CREATED = Column("Created At", _path("metadata.creationTimestamp", None), shown="date")
_AGE = Column("Age", _path("metadata.creationTimestamp", None), "date")


def _size(path: str) -> Callable[[Document], int]:
    found = _path(path, ())

    def cell(document: Document) -> int:
        return len(found(document))

    return cell


def _data(document: Document) -> int:
    return _size("data")(document) + _size("binaryData")(document)


def _ready_of(document: Document) -> str:
    ready = _path("status.readyReplicas", 0)(document)
    return f"{ready}/{_path('spec.replicas', 0)(document)}"


def _pairs(labels: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(labels.items()))


def _selector(document: Document) -> str:
    """Return a label selector as texts write it: pairs, then the terms."""
    given = _path("spec.selector", {})(document)
    if "matchLabels" not in given and "matchExpressions" not in given:
        return _pairs(given) or "<none>"
    parts = [_pairs(given.get("matchLabels") or {})]
    for term in given.get("matchExpressions") or ():
        key, values = term.get("key", ""), ",".join(sorted(term.get("values") or ()))
        parts.append(
            {
                "In": f"{key} in ({values})",
                "NotIn": f"{key} notin ({values})",
                "Exists": str(key),
                "DoesNotExist": f"!{key}",
            }.get(term.get("operator", ""), "")
        )
    return ",".join(filter(None, parts)) or "<none>"


def _inner(document: Document) -> list[Mapping[str, Any]]:
    """Return the containers of a pod, of a template, of a template of Jobs."""
    for path in (
        "spec.jobTemplate.spec.template.spec",
        "spec.template.spec",
        "template.spec",
        "spec",
    ):
        spec = _path(path, {})(document)
        if spec.get("containers"):
            return list(spec["containers"])
    return []


def _names(document: Document) -> str:
    return ",".join(str(c.get("name", "")) for c in _inner(document))


def _images(document: Document) -> str:
    return ",".join(str(c.get("image", "")) for c in _inner(document))


def _address(kind: str) -> Callable[[Document], str]:
    def cell(document: Document) -> str:
        for address in _path("status.addresses", ())(document):
            if address.get("type") == kind:
                return str(address.get("address", ""))
        return "<none>"

    return cell


def _kernel(document: Document) -> str:
    about = _path("status.nodeInfo", {})(document)
    kernel, machine = about.get("kernelVersion") or "", about.get("architecture")
    if not kernel:
        return "<unknown>"
    return f"{kernel} ({machine})" if machine else str(kernel)


def _named(path: str, missing: str = "<none>") -> Callable[[Document], Any]:
    """Return a cell that says what is missing where a text is empty too."""
    found = _path(path, "")
    return lambda document: found(document) or missing


def _gates(document: Document) -> str:
    return (
        str(len(gates))
        if (gates := _path("spec.readinessGates", ())(document))
        else "<none>"
    )


def _yes(path: str) -> Callable[[Document], str]:
    found = _path(path, False)
    return lambda document: str(bool(found(document)))


def _amounts(kind: str) -> Callable[[Document], str]:
    """Return used/hard of a ResourceQuota: of limits, or of all else."""

    def cell(document: Document) -> str:
        hard = _path("status.hard", {})(document)
        used = _path("status.used", {})(document)
        return ", ".join(
            f"{name}: {used.get(name, '0')}/{hard[name]}"
            for name in sorted(hard)
            if name.startswith("limits.") == (kind == "limits")
        )

    return cell


def _ports(document: Document) -> str:
    found = []
    for port in _path("spec.ports", ())(document):
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        found.append(f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}")
    return ",".join(found) or "<none>"


def _external(document: Document) -> str:
    spec = _path("spec", {})(document)
    if spec.get("type") == "LoadBalancer":
        return "<pending>"
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", "<none>"))
    return ",".join(spec.get("externalIPs") or ()) or "<none>"


def _roles_of(document: Document) -> str:
    role = document.get("roleRef") or {}
    return f"{role.get('kind', '')}/{role.get('name', '')}"


_WIDE_PODS = (
    Column("Containers", _names, wide=True),
    Column("Images", _images, wide=True),
    Column("Selector", _selector, wide=True),
)


def _subjects(kind: str) -> Callable[[Document], str]:
    """Return a cell of those of a kind that a binding names."""

    def cell(document: Document) -> str:
        found = []
        for one in document.get("subjects") or ():
            if one.get("kind") == kind:
                space = f"{one['namespace']}/" if one.get("namespace") else ""
                found.append(f"{space}{one.get('name', '')}")
        return ", ".join(found)

    return cell


_WIDE_SUBJECTS = (
    Column("Users", _subjects("User"), wide=True),
    Column("Groups", _subjects("Group"), wide=True),
    Column("ServiceAccounts", _subjects("ServiceAccount"), wide=True),
)


def _some(found: list[str], most: int = 3) -> str:
    """Return the first of a list, and how many more there are."""
    if not found:
        return "<none>"
    shown = ",".join(found[:most])
    return f"{shown} + {len(found) - most} more..." if len(found) > most else shown


def _hosts(document: Document) -> str:
    rules = _path("spec.rules", [])(document)
    found = [rule["host"] for rule in rules if rule.get("host")]
    more = f" + {len(rules) - 3} more..." if len(rules) > 3 else ""
    return ",".join(found[:3]) + more if found else "*"


def _balancers(document: Document) -> str:
    found = _path("status.loadBalancer.ingress", [])(document)
    return ",".join(str(one.get("ip") or one.get("hostname") or "") for one in found)


def _parameters(document: Document) -> str:
    given = _path("spec.parameters", None)(document)
    if not given:
        return "<none>"
    group = f".{given['apiGroup']}" if given.get("apiGroup") else ""
    return f"{given.get('kind', '')}{group}/{given.get('name', '')}"


def _slice_ports(document: Document) -> str:
    ports = document.get("ports") or ()
    return _some([str(one.get("port") or one.get("name") or "*") for one in ports])


def _slice_addresses(document: Document) -> str:
    found = document.get("endpoints") or ()
    return _some([address for one in found for address in one.get("addresses") or ()])


def _endpoints(document: Document) -> str:
    found = []
    for subset in document.get("subsets") or ():
        addresses = [one.get("ip", "") for one in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        found += [f"{a}:{p['port']}" for p in ports for a in addresses]
        found += [] if ports else addresses
    return _some(found)


def _pod_selector(document: Document) -> str:
    return _selector({"spec": {"selector": _path("spec.podSelector", {})(document)}})


def _metrics(document: Document) -> str:
    """Return what a HorizontalPodAutoscaler aims at: nobody measures it here."""
    found = []
    for one in _path("spec.metrics", [])(document):
        kind = str(one.get("type", ""))
        given = one.get(kind[:1].lower() + kind[1:]) or {}
        target = given.get("target") or {}
        aim, average = target.get("averageValue"), ""
        if kind in ("Resource", "ContainerResource"):
            if aim is None and target.get("averageUtilization") is not None:
                aim = f"{target['averageUtilization']}%"
            found.append(f"{given.get('name', '')}: <unknown>/{aim or '<auto>'}")
            continue
        if aim is None:
            aim = target.get("value")
        elif kind != "Pods":
            average = " (avg)"
        found.append(f"<unknown>/{aim}{average}")
    more = f" + {len(found) - 2} more..." if len(found) > 2 else ""
    return ", ".join(found[:2]) + more if found else "<none>"


def _target(document: Document) -> str:
    given = _path("spec.scaleTargetRef", {})(document)
    return f"{given.get('kind', '')}/{given.get('name', '')}"


def _claim(document: Document) -> str:
    given = _path("spec.claimRef", None)(document)
    return f"{given.get('namespace', '')}/{given.get('name', '')}" if given else ""


def _claim_state(document: Document) -> str:
    going = bool(document["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if going else []
    if not _path("status.allocation", None)(document):
        return ",".join(states or ["pending"])
    states.append("allocated")
    if _path("status.reservedFor", None)(document):
        states.append("reserved")
    return ",".join(states)


#: Kinds that are not here have their name and age alone, as in Kubernetes.
_COLUMNS: dict[str, tuple[Column, ...]] = {
    "ConfigMap": (_NAME, Column("Data", _data), _AGE),
    "ControllerRevision": (
        _NAME,
        Column("Controller", lambda d: _owner(d)),
        Column("Revision", _path("revision", 0)),
        _AGE,
    ),
    "CSIDriver": (
        _NAME,
        Column("AttachRequired", _path("spec.attachRequired", True), "boolean"),
        Column("PodInfoOnMount", _path("spec.podInfoOnMount", False), "boolean"),
        Column("StorageCapacity", _path("spec.storageCapacity", False), "boolean"),
        Column(
            "TokenRequests",
            lambda d: (
                ",".join(
                    str(one.get("audience", ""))
                    for one in _path("spec.tokenRequests", [])(d)
                )
                or "<unset>"
            ),
        ),
        Column("RequiresRepublish", _path("spec.requiresRepublish", False), "boolean"),
        Column(
            "Modes",
            lambda d: ",".join(_path("spec.volumeLifecycleModes", [])(d)) or "<none>",
        ),
        _AGE,
    ),
    "CSINode": (_NAME, Column("Drivers", _size("spec.drivers"), "integer"), _AGE),
    "CSIStorageCapacity": (
        _NAME,
        Column("StorageClassName", _path("storageClassName")),
        Column("Capacity", _named("capacity", "<unset>")),
    ),
    "CronJob": (
        _NAME,
        Column("Schedule", _path("spec.schedule")),
        Column("Timezone", _named("spec.timeZone")),
        Column("Suspend", _yes("spec.suspend"), shown="boolean"),
        Column("Active", _size("status.active"), "integer"),
        Column("Last Schedule", _path("status.lastScheduleTime", None), "date or none"),
        _AGE,
        *_WIDE_PODS[:2],
        Column("Selector", lambda _: "<none>", wide=True),
    ),
    "DaemonSet": (
        _NAME,
        Column("Desired", _path("status.desiredNumberScheduled", 0), "integer"),
        Column("Current", _path("status.currentNumberScheduled", 0), "integer"),
        Column("Ready", _path("status.numberReady", 0), "integer"),
        Column("Up-to-date", _path("status.updatedNumberScheduled", 0), "integer"),
        Column("Available", _path("status.numberAvailable", 0), "integer"),
        Column(
            "Node Selector",
            lambda d: (
                _pairs(_path("spec.template.spec.nodeSelector", {})(d)) or "<none>"
            ),
        ),
        _AGE,
        *_WIDE_PODS,
    ),
    "Deployment": (
        _NAME,
        Column("Ready", _ready_of),
        Column("Up-to-date", _path("status.updatedReplicas", 0)),
        Column("Available", _path("status.availableReplicas", 0)),
        _AGE,
        *_WIDE_PODS,
    ),
    "EndpointSlice": (
        _NAME,
        Column("AddressType", _path("addressType")),
        Column("Ports", _slice_ports),
        Column("Endpoints", _slice_addresses),
        _AGE,
    ),
    "Endpoints": (_NAME, Column("Endpoints", _endpoints), _AGE),
    "Event": (
        Column("Last Seen", _path("lastTimestamp", None), "date"),
        Column("Type", _path("type")),
        Column("Reason", _path("reason")),
        Column("Object", _object),
        Column("Subobject", _path("involvedObject.fieldPath"), wide=True),
        Column("Source", _path("source.component"), wide=True),
        Column("Message", _path("message")),
        Column("First Seen", _path("firstTimestamp", None), "date", wide=True),
        Column("Count", _path("count", 1), wide=True),
        _NAME._replace(wide=True),
    ),
    "HorizontalPodAutoscaler": (
        _NAME,
        Column("Reference", _target),
        Column("Targets", _metrics),
        Column("MinPods", lambda d: str(_path("spec.minReplicas", "<unset>")(d))),
        Column("MaxPods", _path("spec.maxReplicas", 0)),
        Column("Replicas", _path("status.currentReplicas", 0)),
        _AGE,
    ),
    "Ingress": (
        _NAME,
        Column("Class", _named("spec.ingressClassName")),
        Column("Hosts", _hosts),
        Column("Address", _balancers),
        Column("Ports", lambda d: "80, 443" if _path("spec.tls")(d) else "80"),
        _AGE,
    ),
    "IngressClass": (
        _NAME,
        Column("Controller", _path("spec.controller")),
        Column("Parameters", _parameters),
        _AGE,
    ),
    "Job": (
        _NAME,
        Column("Status", _job_status),
        Column("Completions", _completions),
        Column("Duration", _path("status.startTime"), "span"),
        _AGE,
        *_WIDE_PODS,
    ),
    "Lease": (_NAME, Column("Holder", _path("spec.holderIdentity")), _AGE),
    "LimitRange": (_NAME, _CREATED),
    "Namespace": (_NAME, Column("Status", _path("status.phase", "Active")), _AGE),
    "NetworkPolicy": (_NAME, Column("Pod-Selector", _pod_selector), _AGE),
    "Node": (
        _NAME,
        Column("Status", _node_status),
        Column("Roles", _roles),
        _AGE,
        Column("Version", _path("status.nodeInfo.kubeletVersion")),
        Column("Internal-IP", _address("InternalIP"), wide=True),
        Column("External-IP", _address("ExternalIP"), wide=True),
        Column("OS-Image", _named("status.nodeInfo.osImage", "<unknown>"), wide=True),
        Column("Kernel-Version", _kernel, wide=True),
        Column(
            "Container-Runtime",
            _named("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
            wide=True,
        ),
    ),
    "PersistentVolume": (
        _NAME,
        Column("Capacity", lambda d: str(_path("spec.capacity.storage", "0")(d))),
        Column("Access Modes", lambda d: _modes(d, "spec")),
        Column("Reclaim Policy", _path("spec.persistentVolumeReclaimPolicy")),
        Column("Status", _path("status.phase")),
        Column("Claim", _claim),
        Column("StorageClass", _path("spec.storageClassName")),
        Column(
            "VolumeAttributesClass", _named("spec.volumeAttributesClassName", "<unset>")
        ),
        Column("Reason", _path("status.reason")),
        _AGE,
        Column("VolumeMode", _named("spec.volumeMode", "<unset>"), wide=True),
    ),
    "PersistentVolumeClaim": (
        _NAME,
        Column("Status", _path("status.phase")),
        Column("Volume", _path("spec.volumeName")),
        Column("Capacity", _path("status.capacity.storage")),
        Column("Access Modes", lambda d: _modes(d)),
        Column("StorageClass", _path("spec.storageClassName")),
        Column(
            "VolumeAttributesClass", _named("spec.volumeAttributesClassName", "<unset>")
        ),
        _AGE,
        Column("VolumeMode", _path("spec.volumeMode"), wide=True),
    ),
    "Pod": (
        _NAME,
        Column("Ready", _pod_ready),
        Column("Status", _pod_status),
        Column("Restarts", lambda _: "0"),
        _AGE,
        Column("IP", _named("status.podIP"), wide=True),
        Column("Node", _named("spec.nodeName"), wide=True),
        Column("Nominated Node", _named("status.nominatedNodeName"), wide=True),
        Column("Readiness Gates", _gates, wide=True),
    ),
    "PodDisruptionBudget": (
        _NAME,
        Column("Min Available", lambda d: str(_path("spec.minAvailable", "N/A")(d))),
        Column(
            "Max Unavailable", lambda d: str(_path("spec.maxUnavailable", "N/A")(d))
        ),
        Column("Allowed Disruptions", _path("status.disruptionsAllowed", 0), "integer"),
        _AGE,
    ),
    "PodTemplate": (
        _NAME,
        Column("Containers", _names),
        Column("Images", _images),
        Column(
            "Pod Labels",
            lambda d: _pairs(_path("template.metadata.labels", {})(d)) or "<none>",
        ),
    ),
    "PriorityClass": (
        _NAME,
        Column("Value", _path("value", 0), "integer"),
        Column("Global-Default", _path("globalDefault", False), "boolean"),
        _AGE,
        Column("PreemptionPolicy", _path("preemptionPolicy", "PreemptLowerPriority")),
    ),
    "ReplicaSet": (
        _NAME,
        Column("Desired", _path("spec.replicas", 0), "integer"),
        Column("Current", _path("status.replicas", 0), "integer"),
        Column("Ready", _path("status.readyReplicas", 0), "integer"),
        _AGE,
        *_WIDE_PODS,
    ),
    "ReplicationController": (
        _NAME,
        Column("Desired", _path("spec.replicas", 0), "integer"),
        Column("Current", _path("status.replicas", 0), "integer"),
        Column("Ready", _path("status.readyReplicas", 0), "integer"),
        _AGE,
        *_WIDE_PODS,
    ),
    "ResourceClaim": (_NAME, Column("State", _claim_state), _AGE),
    "ResourceSlice": (
        _NAME,
        Column("Node", _path("spec.nodeName")),
        Column("Driver", _path("spec.driver")),
        Column("Pool", _path("spec.pool.name")),
        _AGE,
    ),
    "ResourceQuota": (
        _NAME,
        Column("Request", _amounts("requests")),
        Column("Limit", _amounts("limits")),
        _AGE,
    ),
    "RoleBinding": (_NAME, Column("Role", _roles_of), _AGE, *_WIDE_SUBJECTS),
    "ClusterRoleBinding": (_NAME, Column("Role", _roles_of), _AGE, *_WIDE_SUBJECTS),
    "Role": (_NAME, _CREATED),
    "ClusterRole": (_NAME, _CREATED),
    "CustomResourceDefinition": (_NAME, _CREATED),
    "RuntimeClass": (_NAME, Column("Handler", _path("handler")), _AGE),
    "Secret": (
        _NAME,
        Column("Type", _path("type")),
        Column("Data", _size("data")),
        _AGE,
    ),
    "Service": (
        _NAME,
        Column("Type", _path("spec.type")),
        Column("Cluster-IP", _named("spec.clusterIP")),
        Column("External-IP", _external),
        Column("Port(s)", _ports),
        _AGE,
        Column("Selector", _selector, wide=True),
    ),
    "ServiceAccount": (_NAME, _AGE),
    "StatefulSet": (_NAME, Column("Ready", _ready_of), _AGE, *_WIDE_PODS[:2]),
    "StorageClass": (
        _NAME,
        Column("Provisioner", _path("provisioner")),
        Column("ReclaimPolicy", _path("reclaimPolicy", "Delete")),
        Column("VolumeBindingMode", _path("volumeBindingMode", "Immediate")),
        Column("AllowVolumeExpansion", _path("allowVolumeExpansion", False)),
        _AGE,
    ),
    "VolumeAttachment": (
        _NAME,
        Column("Attacher", _path("spec.attacher")),
        Column("PV", _path("spec.source.persistentVolumeName")),
        Column("Node", _path("spec.nodeName")),
        Column("Attached", _path("status.attached", False), "boolean"),
        _AGE,
    ),
}
_MODES = {
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOnce": "RWO",
    "ReadWriteOncePod": "RWOP",
}


def _modes(document: Document, part: str = "status") -> str:
    given = _path(f"{part}.accessModes", ())(document)
    return ",".join(_MODES.get(mode, mode) for mode in given)


def _owner(document: Document) -> str:
    for owner in document["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return f"{owner['kind'].lower()}.apps/{owner['name']}"
    return "<none>"


def _of_definition(columns: list[tuple[str, str, str, int]]) -> tuple[Column, ...]:
    """Return the columns that a resource definition prints."""
    found = [_NAME]
    for name, type_, path, priority in columns:
        shown = "date" if type_ == "date" else ""
        found.append(Column(name, _json_path(path), type_, priority > 0, shown))
    return tuple(found) if columns else (_NAME, _AGE._replace(shown="date"))


def _json_path(path: str) -> Callable[[Document], Any]:
    """Return a reader of `.a.b` or of `.conditions[?(@.type=='X')].status`."""
    if match := re.fullmatch(
        r"\.status\.conditions\[\?\(@\.type=='(\w+)'\)\]\.status", path
    ):
        found = _condition(match[1])
        return lambda document: found(document) or None
    return _path(path.removeprefix("."), None)
