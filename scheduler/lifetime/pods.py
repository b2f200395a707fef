"""Pods as job controllers make them: from a template, named after their owner."""

from __future__ import annotations

import copy
from typing import Any

from scheduler.records.annotations import PREFIX
from scheduler.records.objects import Key, Object

POD_SET = "kueue.x-k8s.io/podset"  # label: the pod set that a pod belongs to


def make_pod(
    owner: Object,
    pod_set: dict[str, Any],
    ordinal: int,
    *,
    node_selector: dict[str, str],
    tolerations: list[dict[str, Any]],
) -> Object:
    """Return one pod of this pod set, with what its admission adds.

    `node_selector` and `tolerations` come from the flavors assigned, as Kueue
    injects them into the pod template at start.
    Source: <https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/>
    """
    template = pod_set.get("template") or {}
    spec = copy.deepcopy(template.get("spec") or {})
    if node_selector:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **node_selector}
    if tolerations:
        spec["tolerations"] = [*(spec.get("tolerations") or []), *tolerations]
    name = f"{owner.key.name}-{pod_set['name']}-{ordinal}"
    key = Key("Pod", owner.key.namespace, name)
    return Object(key=key, manifest=_manifest(key, owner, template, spec, pod_set))


def _manifest(
    key: Key,
    owner: Object,
    template: dict[str, Any],
    spec: dict[str, Any],
    pod_set: dict[str, Any],
) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    labels = dict(metadata.get("labels") or {})
    annotations = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if not name.startswith(PREFIX)
    }
    reference = {
        "apiVersion": owner.manifest["apiVersion"],
        "kind": owner.key.kind,
        "name": owner.key.name,
        "uid": owner.uid,
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "labels": {**labels, POD_SET: pod_set["name"]},
            "annotations": annotations,
            "ownerReferences": [reference],
        },
        "spec": spec,
    }


def owner_key(pod: Object, kinds: frozenset[str]) -> Key | None:
    """Return the key of the pod's owner, if it is of one of these kinds."""
    for reference in pod.metadata.get("ownerReferences") or []:
        if reference.get("kind") in kinds:
            return Key(
                str(reference["kind"]), pod.key.namespace, str(reference.get("name"))
            )
    return None
