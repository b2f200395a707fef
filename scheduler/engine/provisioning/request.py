"""The documents of a request: its name, its pod sets, and a PodTemplate for each.

Source: docs/semantics/capacity.md#provisioningrequests.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from scheduler.model.autoscaling.provisioning_config import (
    IDENTICAL,
    REQUEST,
    RequestConfig,
)
from scheduler.model.objects import Key, Object

PREFIX = "provreq.kueue.x-k8s.io/"
TEMPLATE = "PodTemplate"
_LONGEST = 247
_DIGITS = 5
_NEEDS = ("nodeSelector", "tolerations", "affinity", "resourceClaims", "resources")

Manifest = dict[str, Any]


def request_name(workload: str, check: str, attempt: int) -> str:
    """Return the name of a workload's request; long ones end in digits of their hash."""
    name = f"{workload}-{check}-{attempt}"
    if len(name) <= _LONGEST:
        return name
    digits = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
    return f"{name[:_LONGEST]}-{digits[:_DIGITS]}"


def parameters_of(workload: Object, config: RequestConfig) -> dict[str, str]:
    """Return the config's parameters and those that the workload is annotated with."""
    own = {
        name.removeprefix(PREFIX): value
        for name, value in workload.annotations.items()
        if name.startswith(PREFIX)
    }
    return {**config.parameters, **own}


def documents(
    workload: Object, name: str, pod_sets: list[Manifest], config: RequestConfig
) -> list[Object]:
    """Return the PodTemplates of a new request, and the request itself.

    `pod_sets` have the count that was admitted, and what their flavors add.
    """
    objects, listed = [], []
    for pod_set in merged(pod_sets, config.merging):
        template = f"ppt-{name}-{pod_set['name']}"
        objects.append(_template(workload, template, pod_set))
        reference = {"name": template}
        listed.append({"podTemplateRef": reference, "count": pod_set["count"]})
    spec = {
        "provisioningClassName": config.class_name,
        "parameters": parameters_of(workload, config),
        "podSets": listed,
    }
    made = _document("autoscaling.x-k8s.io/v1", REQUEST, workload, name)
    made.manifest["spec"] = spec
    return [*objects, made]


def _template(workload: Object, name: str, pod_set: Manifest) -> Object:
    template = copy.deepcopy(dict(pod_set.get("template") or {}))
    spec = template.setdefault("spec", {})
    added = pod_set.get("nodeSelector") or {}
    if added:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **added}
    if pod_set.get("tolerations"):
        spec["tolerations"] = [
            *(spec.get("tolerations") or ()),
            *pod_set["tolerations"],
        ]
    made = _document("v1", TEMPLATE, workload, name)
    made.manifest["template"] = template
    return made


def _document(version: str, kind: str, workload: Object, name: str) -> Object:
    owner = {
        "apiVersion": workload.manifest["apiVersion"],
        "kind": workload.key.kind,
        "name": workload.key.name,
        "uid": workload.uid,
        "controller": True,
    }
    metadata = {
        "name": name,
        "namespace": workload.key.namespace,
        "labels": {"kueue.x-k8s.io/managed": "true"},
        "ownerReferences": [owner],
    }
    manifest = {"apiVersion": version, "kind": kind, "metadata": metadata}
    return Object(key=Key(kind, workload.key.namespace, name), manifest=manifest)


def merged(pod_sets: Iterable[Manifest], policy: str) -> list[Manifest]:
    """Return the pod sets with those that are alike counted together."""
    found: dict[bytes, Manifest] = {}
    for index, pod_set in enumerate(pod_sets):
        alike = _identity(pod_set, policy) if policy else str(index).encode()
        if alike in found:
            first = found[alike]
            found[alike] = {**first, "count": first["count"] + pod_set["count"]}
        else:
            found[alike] = pod_set
    return list(found.values())


def _identity(pod_set: Manifest, policy: str) -> bytes:
    """Return what two pod sets have in common that are merged."""
    template = pod_set.get("template") or {}
    added = [pod_set.get("nodeSelector"), pod_set.get("tolerations")]
    if policy == IDENTICAL:
        return msgspec.json.encode([template, added], order="sorted")
    spec = template.get("spec") or {}
    asked = [
        (container.get("resources") or {}).get("requests")
        for part in ("containers", "initContainers")
        for container in spec.get(part) or ()
    ]
    needs = [spec.get(name) for name in _NEEDS]
    return msgspec.json.encode([asked, needs, added], order="sorted")


def names_managed(pod_set: Mapping[str, Any], managed: frozenset[str]) -> bool:
    """Return whether a container of these pods names a managed resource."""
    if not managed:
        return True
    spec = (pod_set.get("template") or {}).get("spec") or {}
    return any(
        managed & ((container.get("resources") or {}).get(part) or {}).keys()
        for group in ("containers", "initContainers")
        for container in spec.get(group) or ()
        for part in ("requests", "limits")
    )
