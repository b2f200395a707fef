"""An answer as manifests that `kubectl apply -f` takes, and as they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.analysis.advice.space import Point, Space
from scheduler.analysis.experiments.bases import changed, key_of
from scheduler.model.objects import Key, Object
from scheduler.model.patches import merge
from scheduler.model.texts.plain_text import write, write_all

#: Metadata that says what an object is; the rest is the cluster's.
_METADATA = ("name", "namespace", "labels", "annotations")
_CONFIG = "controller_manager_config.yaml"


def patches_of(
    space: Space, point: Point, objects: Mapping[Key, Object], policy: Mapping[str, Any]
) -> tuple[str, str]:
    """Return (the manifests of what changes, the same as they are now).

    Whole objects, as lists of a spec are replaced as one. Kueue's own
    configuration comes as the ConfigMap that it reads. Deleted and created nodes
    are comments: they are not the API's to make.
    """
    variant = space.variant(point)
    after: list[Any] = []
    before: list[Any] = []
    words: list[str] = []
    for change in variant.objects:
        if change.create or change.delete:
            name = change.object or f"Node/{change.create['metadata']['name']}"
            words.append(f"{'remove' if change.delete else 'add'} {name}")
            continue
        obj = objects[key_of(change.object)]
        before.append(_served(obj.manifest))
        after.append(_served(changed(obj, change)))
    if "kueue" in variant.policy:
        words.append(
            "then: kubectl -n kueue-system rollout restart deployment/kueue-controller-manager"
        )
    if variant.policy:
        after.append(_configuration(merge(policy, variant.policy), variant.policy))
        before.append(_configuration(policy, variant.policy))
    return _text(space.texts(point) + words, after), _text(["as it is"], before)


def _served(manifest: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(manifest)
    metadata = {
        k: v for k, v in data.get("metadata", {}).items() if k in _METADATA and v
    }
    kept = {k: v for k, v in data.items() if k not in ("status", "metadata")}
    head = {"apiVersion": kept.pop("apiVersion"), "kind": kept.pop("kind")}
    return {**head, "metadata": metadata, **kept}


def _configuration(
    policy: Mapping[str, Any], patch: Mapping[str, Any]
) -> dict[str, Any]:
    """Return Kueue's ConfigMap; what is not Kueue's as a Policy of the sandbox."""
    if set(patch) != {"kueue"}:
        spec = {name: policy[name] for name in patch if name in policy}
        return {"apiVersion": "quotalab.dev/v1", "kind": "Policy", "spec": spec}
    usual = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    document = {**usual, **dict(policy.get("kueue") or {})}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
        "data": {_CONFIG: write(document)},
    }


def _text(words: list[str], documents: list[Any]) -> str:
    head = "".join(f"# {word}\n" for word in words)
    body = write_all(documents) if documents else ""
    return head + body
