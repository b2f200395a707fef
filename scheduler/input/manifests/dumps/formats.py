"""Manifests of Alibaba's openb: what its pods ask of GPUs stands in their annotations.

GPUs are counted in thousandths over the whole node, as in the CSV of the trace.
Source: <https://github.com/hkust-adsl/kubernetes-scheduler-simulator> (data, pkg/type).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.model import amounts
from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import write
from scheduler.words.read_as import ReadAs

Manifest = dict[str, Any]

_GROUP = "alibabacloud.com"
GPU_MILLI = f"{_GROUP}/gpu-milli"
GPU_COUNT = f"{_GROUP}/gpu-count"
GPU_MODEL = f"{_GROUP}/gpu-card-model"
_INDEX = f"{_GROUP}/gpu-index"
_CREATED, _DELETED = f"{_GROUP}/creation-time", f"{_GROUP}/deletion-time"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_WHOLE = 1000
_ASKED = ReadAs.GPUS.said(resource=GPU_MILLI)
_NO_INDEX = ReadAs.NO_INDEX.said(annotation=_INDEX)


def filled(manifest: Manifest) -> tuple[Manifest, list[Sentence]]:
    """Return a Pod with its annotations' GPUs as requests, and what is to be said.

    Its times, in seconds, become arrival and run time. Other objects, and pods that
    ask for it themselves, are returned as they are; nothing given is changed.
    """
    metadata = manifest.get("metadata")
    given = metadata.get("annotations") if isinstance(metadata, dict) else None
    if manifest.get("kind") != "Pod" or not isinstance(given, dict):
        return manifest, []
    if GPU_MILLI not in given and GPU_COUNT not in given and _CREATED not in given:
        return manifest, []
    made = copy.deepcopy(manifest)
    _set_times(made["metadata"]["annotations"])
    amount = _number(given.get(GPU_MILLI, _WHOLE)) * _number(given.get(GPU_COUNT, 1))
    if not amount or not _ask(made["spec"], int(amount)):
        return made, []
    if models := [one for one in str(given.get(GPU_MODEL, "")).split("|") if one]:
        # Ask for a node with one of these cards, beside what is asked already.
        spec = made["spec"]
        wanted = {"key": GPU_MODEL, "operator": "In", "values": models}
        affinity = spec.setdefault("affinity", {})
        required = affinity.setdefault("nodeAffinity", {}).setdefault(_REQUIRED, {})
        terms = required.setdefault("nodeSelectorTerms", [])
        if not terms:
            terms.append({})
        for term in terms:
            term.setdefault("matchExpressions", []).append(wanted)
    return made, [_ASKED, *([_NO_INDEX] if given.get(_INDEX) else [])]


def whole_devices(status: Manifest) -> Manifest:
    """Return a Node's status with the thousandths of all its devices.

    Some files have them of one device, beside the number of devices.
    """
    made = dict(status)
    for part in ("allocatable", "capacity"):
        amounts = status.get(part)
        if isinstance(amounts, dict) and GPU_COUNT in amounts:
            milli = int(_number(amounts[GPU_COUNT]) * _WHOLE)
            made[part] = {**amounts, GPU_MILLI: str(milli)}
    return made


def _number(given: object) -> float:
    try:
        return max(0.0, float(str(given)))
    except ValueError:
        return 0.0


def _set_times(annotations: Manifest) -> None:
    if _CREATED not in annotations or ARRIVAL in annotations:
        return
    created = _number(annotations[_CREATED])
    annotations[ARRIVAL] = f"{round(created * 1000)}ms"
    if _DELETED in annotations and RUNTIME not in annotations:
        run = max(0.0, _number(annotations[_DELETED]) - created)
        annotations[RUNTIME] = f"{round(run * 1000)}ms"


def _ask(spec: Manifest, amount: int) -> bool:
    """Ask for the amount in the first container; False when one asks already."""
    containers = spec["containers"]
    for one in containers:
        if GPU_MILLI in ((one.get("resources") or {}).get("requests") or {}):
            return False
    resources = containers[0].setdefault("resources", {})
    for part in ("requests", "limits"):
        resources[part] = {**(resources.get(part) or {}), GPU_MILLI: str(amount)}
    return True


# ------------------------------------------------------------------------
# YuniKorn's full state dump: its queues, nodes and the pods of its applications.


_TAG = "kubernetes.io/meta/"
_GIVEN_NAMES = frozenset({"properties", "guaranteed", "max", "maxresources"})
_HELD = "namespace", "podName"


def is_dump(data: Mapping[str, Any]) -> bool:
    """Return whether a document is a full state dump."""
    return "rmDiagnostics" in data and "partitions" in data


def queues_text(data: Mapping[str, Any]) -> str:
    """Return the queues.yaml in a dump, "" for none.

    The dump writes it with the names of Go's fields, which YAML has in small letters.
    """
    config = data.get("config")
    if not isinstance(config, dict):
        return ""
    text = config.get("queues.yaml")
    if isinstance(text, str):
        return text
    given = config.get("Partitions") or config.get("partitions")
    return write({"partitions": _small(given)}) if isinstance(given, list) else ""


def _small(value: Any) -> Any:
    if isinstance(value, list):
        return [_small(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, inner in value.items():
        key = str(name).lower()
        inner = inner if key in _GIVEN_NAMES else _small(inner)
        if inner not in (None, "", 0, [], {}, False) or key == "name":
            found[key] = inner
    return found


def objects(data: Mapping[str, Any]) -> Iterator[Manifest]:
    """Yield the nodes, and the pods that hold or ask for something."""
    for partition in _dicts(data.get("nodes")):
        yield from map(_node, _dicts(partition.get("nodesInfo")))
    for app in _dicts(data.get("applications")):
        for field in ("allocations", "requests"):
            for one in _dicts(app.get(field)):
                yield _pod(app, one)


def _node(node: Mapping[str, Any]) -> Manifest:
    name = str(node.get("nodeID"))
    room = _amounts(node.get("capacity"))
    room.setdefault("pods", "110")
    labels = {"kubernetes.io/hostname": str(node.get("hostName") or name)}
    closed = {} if node.get("schedulable", True) else {"unschedulable": True}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        **({"spec": closed} if closed else {}),
        "status": {"capacity": room, "allocatable": dict(room)},
    }


def _pod(app: Mapping[str, Any], one: Mapping[str, Any]) -> Manifest:
    tags = one.get("allocationTags") or {}
    namespace, name = (str(tags.get(_TAG + word) or "") for word in _HELD)
    key = str(one.get("allocationKey") or one.get("allocationID"))
    where, _, called = key.rpartition("/")  # a uid, or namespace/name
    requests = _amounts(one.get("resource"))
    requests.pop("pods", None)
    devices = {what: amount for what, amount in requests.items() if "/" in what}
    resources = {"requests": requests, **({"limits": devices} if devices else {})}
    spec: Manifest = {
        "schedulerName": "yunikorn",
        "containers": [{"name": "main", "image": "unknown", "resources": resources}],
    }
    if node := one.get("nodeId"):
        spec["nodeName"] = str(node)
    if priority := one.get("priority"):
        spec["priority"] = int(priority)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name or called,
            "namespace": namespace or where or "default",
            "labels": {
                "applicationId": str(app.get("applicationID")),
                "queue": str(app.get("queueName")),
            },
        },
        "spec": spec,
    }


def _amounts(given: object) -> dict[str, str]:
    """Return amounts of YuniKorn as Kubernetes writes them: vcore is thousandths."""
    found = {}
    for name, amount in given.items() if isinstance(given, dict) else ():
        resource = "cpu" if name == "vcore" else str(name)
        found[resource] = amounts.request_text(resource, int(amount))
    return found


def _dicts(value: object) -> list[Mapping[str, Any]]:
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]


# ------------------------------------------------------------------------
# What `terraform show -json` prints: a state or a plan, and the objects in it.


#: Resource types that hold an object -> the field of its values that does.
_OBJECTS = {"kubernetes_manifest": "manifest"}
#: Resource types that hold text, and the fields with it: manifests, values of a chart.
_TEXTS = {
    "kubectl_manifest": ("yaml_body",),
    "helm_release": ("values",),
    "k8s_manifest": ("content",),
}

_QUEUES = "queues.yaml"  # the one value of a chart that is read


def is_shown(data: Mapping[str, Any]) -> bool:
    """Return whether a document is a state or a plan as Terraform shows it."""
    return "terraform_version" in data and "format_version" in data


def texts(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (address, YAML) of every resource that holds an object or a chart's values.

    Of a plan what is planned counts.
    """
    values = data.get("planned_values") or data.get("values") or {}
    left = [values.get("root_module")]
    while left:
        module = left.pop()
        if not isinstance(module, dict):
            continue
        left += module.get("child_modules") or ()
        for one in module.get("resources") or ():
            if isinstance(one, dict):
                address = str(one.get("address") or "")
                yield from ((address, text) for text in _texts_of(one))


def _texts_of(resource: Mapping[str, Any]) -> Iterator[str]:
    kind, values = str(resource.get("type")), resource.get("values")
    if not isinstance(values, dict):
        return
    given = values.get(_OBJECTS.get(kind, ""))
    if isinstance(given, dict):
        yield write(_without_nulls(given))
    for name in _TEXTS.get(kind, ()):
        found = values.get(name)
        for text in found if isinstance(found, list) else [found]:
            if isinstance(text, str) and (kind != "helm_release" or _QUEUES in text):
                yield text


def _without_nulls(value: Any) -> Any:
    """Return the value without the fields that Terraform writes as null."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


# ------------------------------------------------------------------------
# Exports of the kube-scheduler-simulator: lists of objects that do not name their
# kind.


#: Field of the export -> apiVersion and kind of its items.
#: Source: <https://github.com/kubernetes-sigs/kube-scheduler-simulator/tree/master/simulator>
_LISTS: Mapping[str, tuple[str, str]] = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "nodes": ("v1", "Node"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pods": ("v1", "Pod"),
}
_CONFIGURATION = "schedulerConfig"
_API = "kubescheduler.config.k8s.io/v1"


def is_export(data: Mapping[str, Any]) -> bool:
    """Return whether a document is an export: its lists and nothing else."""
    if not (data.keys() & {"pods", "nodes"}) or data.keys() - {*_LISTS, _CONFIGURATION}:
        return False
    return all(isinstance(data[n], list | None) for n in data if n != _CONFIGURATION)


def items(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (path, object with apiVersion and kind) of everything in an export."""
    for field, (version, kind) in _LISTS.items():
        for index, item in enumerate(data.get(field) or ()):
            named = {"apiVersion": version, "kind": kind}
            filled = {**named, **item} if isinstance(item, dict) else item
            yield f"{field}[{index}]", filled
    given = data.get(_CONFIGURATION)
    if isinstance(given, dict):
        named = {"apiVersion": _API, "kind": "KubeSchedulerConfiguration"}
        yield _CONFIGURATION, {**named, **given}
