"""Fields of Kueue's kinds that are kept and decide nothing here.

Source: docs/semantics/kueue.md#kueue-who-gets-quota.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Manifest = Mapping[str, Any]

_TOPOLOGY = "topology-aware scheduling is not simulated"
_CONCURRENT = "concurrent admission is not simulated"
_GATES = "preemption gates are not simulated"

_FIELDS: dict[str, dict[str, str]] = {
    "ClusterQueue": {
        "concurrentAdmissionPolicy": _CONCURRENT,
    },
    "ResourceFlavor": {"topologyName": _TOPOLOGY},
    "Workload": {"preemptionGates": _GATES},
}


def unsimulated(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield (field, what it means) for what is given and not simulated."""
    yield from _annotations(manifest)
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    for name, note in _FIELDS.get(str(manifest.get("kind")), {}).items():
        if spec.get(name):
            yield f"spec.{name}", note
    if manifest.get("kind") == "Workload":
        for index, part in enumerate(spec.get("podSets") or ()):
            if isinstance(part, Mapping) and _asks(part.get("topologyRequest")):
                yield f"spec.podSets[{index}].topologyRequest", _TOPOLOGY


#: Of a topologyRequest: what asks for something. Kueue writes the other fields,
#: labels with ranks, for every podset.
_ASKING = (
    "required", "preferred", "unconstrained", "podSetGroupName",
    "podSetSliceRequiredTopology",
)  # fmt: skip


def _asks(request: Any) -> bool:
    return isinstance(request, Mapping) and any(request.get(name) for name in _ASKING)


_KUEUE = "kueue.x-k8s.io/"
_ANNOTATIONS = {
    f"{_KUEUE}queue-name": "Kueue reads the label of this name, not the annotation",
    f"{_KUEUE}elastic-job": "elastic jobs are not scaled while they run",
    f"{_KUEUE}priority-boost": "off by default in Kueue: the priority stays as it is",
}
_OF_TEMPLATES = f"{_KUEUE}podset-"


def _annotations(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the annotations that somebody may believe to be obeyed here."""
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    for name in annotations or ():
        if name in _ANNOTATIONS:
            yield f"metadata.annotations.{name}", _ANNOTATIONS[name]
    if manifest.get("kind") != "Workload":
        yield from _templates(manifest.get("spec"), "spec")


def _templates(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield topology annotations of pod templates, wherever a kind has them."""
    if isinstance(value, Mapping):
        metadata = value.get("metadata")
        annotations = (
            metadata.get("annotations") if isinstance(metadata, Mapping) else None
        )
        for name in annotations or ():
            if str(name).startswith(_OF_TEMPLATES):
                yield f"{path}.metadata.annotations.{name}", _TOPOLOGY
        for name, inner in value.items():
            if name != "metadata":
                yield from _templates(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _templates(inner, f"{path}[{index}]")
