"""The name of a role of a pod group, as Kueue's webhook works it out.

It is more than a name: podsets stand in its order, and the first one that has a
PriorityClass gives the Workload its priority.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler.model import amounts
from scheduler.model.jobs import Manifest

#: Fields of Kubernetes' types that are no maps, in the order in which Go writes them.
_FIELDS = [
    "name",
    "hostPort",
    "containerPort",
    "protocol",
    "hostIP",
    "resourceClaimName",
    "resourceClaimTemplateName",
    "nodeAffinity",
    "podAffinity",
    "podAntiAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
    "weight",
    "preference",
    "podAffinityTerm",
    "matchLabels",
    "matchExpressions",
    "matchFields",
    "key",
    "operator",
    "value",
    "values",
    "effect",
    "tolerationSeconds",
    "labelSelector",
    "namespaces",
    "topologyKey",
    "namespaceSelector",
    "matchLabelKeys",
    "mismatchLabelKeys",
]
_SPREADING = [
    "maxSkew",
    "topologyKey",
    "whenUnsatisfiable",
    "labelSelector",
    "minDomains",
    "nodeAffinityPolicy",
    "nodeTaintsPolicy",
    "matchLabelKeys",
]
#: What the API server lets each pod tolerate that says nothing of it.
_USUAL = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_ESCAPED = str.maketrans({one: f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"})


def role_hash(spec: Manifest) -> str:
    """Return the hash of a pod's spec as admission leaves it: eight hex digits.

    Limits count as requests and a class as its priority already. Two specs have one
    hash where containers ask for the same and nodes are chosen alike.
    Source: docs/semantics/kueue-jobs.md#pods-and-pod-groups.
    """
    shape = {
        "affinity": _written(spec.get("affinity")),
        "containers": _containers(spec.get("containers")),
        "initContainers": _containers(spec.get("initContainers")),
        "nodeSelector": _map(spec.get("nodeSelector")),
        "overhead": _quantities(spec.get("overhead")),
        "priority": spec.get("priority", 0),
        "resourceClaims": _written(spec.get("resourceClaims")),
        "runtimeClassName": spec.get("runtimeClassName"),
        "tolerations": _written([*_tolerations(spec.get("tolerations") or ())]),
        "topologySpreadConstraints": _written(spec.get("topologySpreadConstraints")),
    }
    if resources := spec.get("resources"):
        shape["resources"] = _quantities(resources.get("requests"))
    text = json.dumps(
        {"spec": dict(sorted(shape.items()))},
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return hashlib.sha256(text.translate(_ESCAPED).encode()).hexdigest()[:8]


def _containers(given: Iterable[Manifest] | None) -> list[dict[str, Any]] | None:
    return [
        {
            "ports": _written(
                [{"protocol": "TCP", **p} for p in one.get("ports") or ()]
            ),
            "resources": {
                "requests": _quantities((one.get("resources") or {}).get("requests"))
            },
        }
        for one in given or ()
    ] or None


def _tolerations(given: Iterable[Manifest]) -> Iterator[Manifest]:
    yield from given
    for key in _USUAL:
        if not any(
            one.get("key", key) in (key, "")
            and one.get("effect", "") in ("NoExecute", "")
            for one in given
        ):
            yield {
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }


def _map(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return dict(sorted(given.items())) if given else None


def _quantities(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return _map({name: amounts.quantity(text) for name, text in (given or {}).items()})


def _written(value: Any) -> Any:
    """Return a value with its fields in Go's order; None for what is empty."""
    if isinstance(value, list):
        return [_written(one) for one in value] or None
    if not isinstance(value, Mapping):
        return value
    order = _SPREADING if "maxSkew" in value else _FIELDS
    named = {**dict.fromkeys(order), **value}
    return {
        name: _map(one) if name == "matchLabels" else _written(one)
        for name, one in named.items()
        if one not in (None, "", [], {})
    }
