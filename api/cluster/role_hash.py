"""The role of a pod, as Kueue notes it: a hash of what of it matters for admission.

Pods of a group with the same are of one podset.
Source: docs/semantics/kueue-jobs.md#pods-and-pod-groups
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

Spec = Mapping[str, Any]
ROLE = "kueue.x-k8s.io/role-hash"
_PARTS = (
    "affinity",
    "nodeSelector",
    "overhead",
    "priority",
    "resourceClaims",
    "runtimeClassName",
    "topologySpreadConstraints",
)
#: As the server's own type has them.
_OF_TOLERATION = ("key", "operator", "value", "effect", "tolerationSeconds")


def role_hash(spec: Spec) -> str:
    """Return the hash of a pod spec with its defaults; eight digits."""
    shape: dict[str, Any] = {name: spec.get(name) or None for name in _PARTS}
    shape["priority"] = spec.get("priority")
    for part in ("containers", "initContainers"):
        shape[part] = _containers(spec.get(part) or ()) or None
    shape["tolerations"] = [
        {name: one[name] for name in _OF_TOLERATION if one.get(name) is not None}
        for one in spec.get("tolerations") or ()
    ] or None
    if spec.get("resources") is not None:
        shape["resources"] = _amounts(spec["resources"].get("requests"))
    ordered = {name: shape[name] for name in sorted(shape)}
    text = json.dumps({"spec": ordered}, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _containers(containers: Iterable[Spec]) -> list[dict[str, Any]]:
    return [
        {
            "ports": one.get("ports") or None,
            "resources": {
                "requests": _amounts((one.get("resources") or {}).get("requests"))
            },
        }
        for one in containers
    ]


def _amounts(requests: Mapping[str, Any] | None) -> dict[str, str] | None:
    return {n: str(requests[n]) for n in sorted(requests)} if requests else None
