"""The pods that hold room for YuniKorn's gangs, as a cluster lists them.

They are no objects of the simulation: its engine keeps them with their application.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sandbox.models import Sandbox, StoredObject
from sandbox.world.worlds import policy_of, state_of
from scheduler.model import durations

Document = dict[str, Any]
#: (namespace, name) -> the row of a pod, or None.
FindPod = Callable[[str, str], StoredObject | None]

_DOMAIN = "yunikorn.apache.org/"
_FLAG = "internal.yunikorn.apache.org/placeholder"
_GROUPS, _PARAMETERS = f"{_DOMAIN}task-groups", f"{_DOMAIN}schedulingPolicyParameters"
_OF_GROUP = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")


def documents(sandbox: Sandbox, namespace: str, find: FindPod) -> Iterator[Document]:
    """Yield the placeholders of a namespace, or ("") of all, by gang and name.

    Each belongs to the pod that declared the task groups and goes with it. They are
    read-only, and a watch does not show them. Costs a query per gang.
    """
    if sandbox.stack != "yunikorn":
        return
    start: int | None = None
    for app, groups, *_, holders, origin, _replaced in _gangs(sandbox):
        place, _, name = origin.rpartition("/")
        owner = find(place, name) if namespace in ("", place) else None
        if owner is None:
            continue
        if start is None:
            text = policy_of(sandbox)["spec"]["simulation"]["startTime"]
            start = durations.stamp_us(text)
        for holder in holders:
            yield _document(app, _group_of(holder, groups), holder, owner, start)


def _gangs(sandbox: Sandbox) -> Iterator[list[Any]]:
    for values in state_of(sandbox, "yunikorn").get("gangs", []):
        if len(values) > 7:  # of a world of before there are none
            yield values


def _group_of(holder: list[Any], groups: list[Document]) -> Document:
    """Return the task group of a placeholder: those of one name are counted on."""
    number = int(str(holder[0]).rpartition("-")[2])
    of_name = [group for group in groups if str(group["name"]) == holder[1]]
    for group in of_name:
        if number < int(group["minMember"]):
            return group
        number -= int(group["minMember"])
    return of_name[-1]


def _document(
    app: str,
    group: Mapping[str, Any],
    holder: list[Any],
    owner: StoredObject,
    start_us: int,
) -> Document:
    key, _, priority, created_ms, _, node, *_ = holder
    metadata, spec = owner.manifest["metadata"], owner.manifest["spec"]
    requests = {"requests": dict(group.get("minResource") or {})}
    container = {"name": "pause", "image": "registry.k8s.io/pause:3.7"}
    document: Document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": key,
            "namespace": owner.namespace,
            "uid": str(uuid.uuid5(uuid.UUID(owner.uid), key)),
            "creationTimestamp": durations.stamp_text(start_us + created_ms * 1000),
            "resourceVersion": str(owner.revision),
            "labels": {
                **(group.get("labels") or {}),
                f"{_DOMAIN}app-id": app,
                f"{_DOMAIN}queue": _queue(metadata),
            },
            "annotations": {
                **(group.get("annotations") or {}),
                _FLAG: "true",
                f"{_DOMAIN}task-group-name": str(group["name"]),
                **_declared(metadata),
            },
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": owner.name,
                    "uid": owner.uid,
                    "controller": False,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "schedulerName": "yunikorn",
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "priority": priority,
            "containers": [{**container, "resources": requests}],
            **{name: group[name] for name in _OF_GROUP if group.get(name)},
        },
        "status": _status(holder),
    }
    if spec.get("priorityClassName"):
        document["spec"]["priorityClassName"] = spec["priorityClassName"]
    if node:
        document["spec"]["nodeName"] = node
    plain: Document = json.loads(json.dumps(document))
    return plain


def _queue(metadata: Document) -> str:
    for values in (metadata.get("labels") or {}, metadata.get("annotations") or {}):
        for name in (f"{_DOMAIN}queue", "queue"):
            if values.get(name):
                return str(values[name])
    return ""


def _declared(metadata: Document) -> Document:
    annotations = metadata.get("annotations") or {}
    names = (_GROUPS, _PARAMETERS)
    return {name: annotations[name] for name in names if annotations.get(name)}


def _status(holder: list[Any]) -> Document:
    node, reasons = holder[5], holder[7][3]
    if node:
        conditions = [{"type": "PodScheduled", "status": "True"}]
        return {"phase": "Running", "conditions": conditions}
    if not reasons:
        return {"phase": "Pending"}
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "; ".join(reasons),
    }
    return {"phase": "Pending", "conditions": [condition]}
