"""Claims that a StatefulSet makes for its pods, one per template and ordinal.

Source: docs/semantics/controllers.md#statefulset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from scheduler.model.objects import Key, Object


def give_claims(pod: Object, owner: Object, others: Iterable[Object]) -> list[Object]:
    """Let a pod use the claims of the first ordinal that is free; return these claims.

    `owner` is the StatefulSet, `others` are its pods. The claims may exist already:
    those of a pod that is gone are used again. Volumes of the template by the name
    of a claim's give way to it.
    """
    templates = owner.spec.get("volumeClaimTemplates") or []
    if not templates:
        return []
    used = {name for other in others for name in _claim_names(other)}
    start = int((owner.spec.get("ordinals") or {}).get("start") or 0)
    suffix = next(
        found
        for number in count(start)
        if (found := f"{owner.key.name}-{number}")
        and not any(f"{_name(one)}-{found}" in used for one in templates)
    )
    names = {_name(one): f"{_name(one)}-{suffix}" for one in templates}
    spec = pod.manifest["spec"]
    given = [one for one in spec.get("volumes") or [] if one.get("name") not in names]
    spec["volumes"] = given + [
        {"name": name, "persistentVolumeClaim": {"claimName": claim}}
        for name, claim in names.items()
    ]
    return [_claim(owner, one, names[_name(one)]) for one in templates]


def _claim_names(pod: Object) -> Iterator[str]:
    for volume in pod.spec.get("volumes") or []:
        if claim := volume.get("persistentVolumeClaim"):
            yield str(claim.get("claimName"))


def _name(template: dict[str, Any]) -> str:
    return str((template.get("metadata") or {}).get("name"))


def _claim(owner: Object, template: dict[str, Any], name: str) -> Object:
    metadata = template.get("metadata") or {}
    selected = (owner.spec.get("selector") or {}).get("matchLabels") or {}
    key = Key("PersistentVolumeClaim", owner.key.namespace, name)
    manifest = {
        "apiVersion": "v1",
        "kind": key.kind,
        "metadata": {
            "name": name,
            "namespace": key.namespace,
            "labels": {**(metadata.get("labels") or {}), **selected},
            "annotations": dict(metadata.get("annotations") or {}),
        },
        "spec": dict(template.get("spec") or {}),
    }
    return Object(key=key, manifest=manifest)
