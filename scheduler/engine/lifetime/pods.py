"""Pods as job controllers make them: from a template, named after their owner."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.engine.kueue.topology.nodes import PLACED_BY_TOPOLOGY, UNCONSTRAINED
from scheduler.model.annotations import PREFIX
from scheduler.model.objects import Key, Object
from scheduler.model.topology import Path

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
    injects them into the pod template at start, and from admission checks, as do
    `labels` and `annotations` of the pod set.
    Source: <https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/>
    """
    template = pod_set.get("template") or {}
    spec: dict[str, Any] = msgspec.to_builtins(template.get("spec") or {})  # a copy
    if node_selector:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **node_selector}
    if tolerations:
        spec["tolerations"] = [*(spec.get("tolerations") or []), *tolerations]
    key = pod_key(owner, pod_set["name"], ordinal)
    return Object(key=key, manifest=_manifest(key, owner, template, spec, pod_set))


def pod_key(owner: Object, pod_set: str, ordinal: int) -> Key:
    """Return the key of a pod that is made for an owner."""
    name = f"{owner.key.name}-{pod_set}-{ordinal}"
    return Key("Pod", owner.key.namespace, name)


def _manifest(
    key: Key,
    owner: Object,
    template: dict[str, Any],
    spec: dict[str, Any],
    pod_set: dict[str, Any],
) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), **(pod_set.get("labels") or {})}
    annotations = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if not name.startswith(PREFIX)
    } | (pod_set.get("annotations") or {})
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


def by_topology(pod_set: dict[str, Any]) -> dict[str, Any]:
    """Return the pod set with the annotation that its pods are placed by topology.

    Kueue adds it where the template asks for nothing: such pods are counted where
    their assignment is.
    """
    template = pod_set.get("template") or {}
    metadata = template.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if any(name in annotations for name in PLACED_BY_TOPOLOGY):
        return pod_set
    own = {**annotations, UNCONSTRAINED: "true"}
    return {
        **pod_set,
        "template": {**template, "metadata": {**metadata, "annotations": own}},
    }


def domain_of(pod: Object, levels: tuple[str, ...]) -> Path | None:
    """Return the domain that a pod's node selector names; None while it is gated."""
    selector = pod.spec.get("nodeSelector") or {}
    values = tuple(selector.get(level) for level in levels)
    return None if None in values else tuple(str(value) for value in values)
