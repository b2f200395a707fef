"""YuniKorn's full state dump: its queues, nodes and the pods of its applications.

Source: <https://github.com/apache/yunikorn-core/blob/master/pkg/webservice/state_dump.go>
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.model import amounts
from scheduler.model.texts.writing import write

Manifest = dict[str, Any]
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
