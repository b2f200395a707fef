"""Deployment: a ReplicaSet of its template, which makes the pods.

Of a Deployment that Kueue manages, whose pods are admitted one by one.
Source: docs/semantics/controllers.md#deployment.
"""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import msgspec

from scheduler.model.annotations import ARRIVAL, PREFIX
from scheduler.model.jobs import PRIORITY_CLASS, QUEUE
from scheduler.model.objects import Key, Object

REPLICA_SET = "ReplicaSet"
#: On the pods of what Kueue admits by its pods: the integration that answers for them.
SUSPENDED_BY = "kueue.x-k8s.io/pod-suspending-parent"
_HASH = "pod-template-hash"


def replica_set_of(deployment: Object) -> Object:
    """Return the ReplicaSet of what a Deployment asks for now."""
    template = _template(deployment)
    number = _number_of(template)
    template["metadata"]["labels"][_HASH] = number
    key = Key(REPLICA_SET, deployment.key.namespace, f"{deployment.key.name}-{number}")
    selector = copy.deepcopy(deployment.spec.get("selector") or {})
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), _HASH: number}
    reference = {
        "apiVersion": deployment.manifest["apiVersion"],
        "kind": deployment.key.kind,
        "name": deployment.key.name,
        "uid": deployment.uid,
        "controller": True,
    }
    manifest = {
        "apiVersion": deployment.manifest["apiVersion"],
        "kind": REPLICA_SET,
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "labels": dict(template["metadata"]["labels"]),
            "annotations": ours(deployment),
            "ownerReferences": [reference],
        },
        "spec": {
            "replicas": wanted_of(deployment),
            "selector": selector,
            "template": template,
        },
    }
    return Object(key=key, manifest=manifest)


def is_made_here(replica_set: Object) -> bool:
    """Return whether a ReplicaSet was made here, and did not come with its Deployment."""
    template = copy.deepcopy(replica_set.spec.get("template") or {})
    labels = (template.get("metadata") or {}).get("labels") or {}
    number = labels.pop(_HASH, "")
    named = replica_set.key.name.rpartition("-")[2]
    return bool(number) and number == named == _number_of(template)


def _number_of(template: dict[str, Any]) -> str:
    text = msgspec.json.encode(template, order="deterministic")
    return hashlib.sha256(text).hexdigest()[:10]


def _template(deployment: Object) -> dict[str, Any]:
    """Return the pod template as Kueue's webhook hands the queue and the class on."""
    template: dict[str, Any] = copy.deepcopy(deployment.spec.get("template") or {})
    metadata = template.setdefault("metadata", {})
    handed = {
        name: deployment.labels[name]
        for name in (QUEUE, PRIORITY_CLASS)
        if name in deployment.labels
    }
    metadata["labels"] = {**(metadata.get("labels") or {}), **handed}
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        SUSPENDED_BY: "deployment",
    }
    return template


def wanted_of(deployment: Object) -> int:
    """Return how many pods a Deployment asks for."""
    return int(deployment.spec.get("replicas", 1))


def ours(obj: Object) -> dict[str, str]:
    """Return what an object's annotations say of its time, but for its arrival."""
    return {
        name: value
        for name, value in obj.annotations.items()
        if name.startswith(PREFIX) and name != ARRIVAL
    }
