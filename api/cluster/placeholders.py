"""The pods that hold room for YuniKorn's gangs, as a cluster lists them.

They are no objects of the simulation: its engine keeps them with their application.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.models import Sandbox, StoredObject
from sandbox.world.worlds import policy_of, state_of
from scheduler.engine.yunikorn.messages import CLUSTER_IS_FULL
from scheduler.engine.yunikorn.shim.recorder import UNSCHEDULABLE, unscheduled
from scheduler.engine.yunikorn.shim.state import KeptPlaceholder, kept_placeholders
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
    kept = kept_placeholders(state_of(sandbox, "yunikorn"))
    for origin, holders in itertools.groupby(kept, key=lambda one: one.origin):
        place, _, name = origin.rpartition("/")
        owner = find(place, name) if namespace in ("", place) else None
        if owner is None:
            continue
        if start is None:
            text = policy_of(sandbox)["spec"]["simulation"]["startTime"]
            start = durations.stamp_us(text)
        for holder in holders:
            yield _document(holder, owner, start)


def _document(holder: KeptPlaceholder, owner: StoredObject, start_us: int) -> Document:
    group = holder.group.source
    created_us = start_us + holder.created_ms * 1000
    metadata, spec = owner.manifest["metadata"], owner.manifest["spec"]
    requests = {"requests": dict(group.get("minResource") or {})}
    container = {"name": "pause", "image": "registry.k8s.io/pause:3.7"}
    document: Document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": holder.name,
            "namespace": owner.namespace,
            "uid": str(uuid.uuid5(uuid.UUID(owner.uid), holder.name)),
            "creationTimestamp": durations.stamp_text(created_us),
            "resourceVersion": str(owner.revision),
            "labels": {
                **(group.get("labels") or {}),
                f"{_DOMAIN}app-id": holder.app,
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
            "priority": holder.priority,
            "containers": [{**container, "resources": requests}],
            **{name: group[name] for name in _OF_GROUP if group.get(name)},
        },
        "status": _status(holder),
    }
    if spec.get("priorityClassName"):
        document["spec"]["priorityClassName"] = spec["priorityClassName"]
    if holder.node:
        document["spec"]["nodeName"] = holder.node
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


def _status(holder: KeptPlaceholder) -> Document:
    if holder.node:
        conditions = [{"type": "PodScheduled", "status": "True"}]
        return {"phase": "Running", "conditions": conditions}
    if not holder.scale_up:
        return {"phase": "Pending"}
    condition = unscheduled(UNSCHEDULABLE, CLUSTER_IS_FULL)
    return {"phase": "Pending", "conditions": [condition]}
