"""Fields of Kueue's kinds that are kept and decide nothing here.

Source: docs/semantics/kueue.md#kueue-who-gets-quota.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Manifest = Mapping[str, Any]

_CONCURRENT = "concurrent admission is not simulated"
_GATES = "preemption gates are not simulated"

_FIELDS: dict[str, dict[str, str]] = {
    "ClusterQueue": {
        "concurrentAdmissionPolicy": _CONCURRENT,
    },
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


_KUEUE = "kueue.x-k8s.io/"
_ANNOTATIONS = {
    f"{_KUEUE}queue-name": "Kueue reads the label of this name, not the annotation",
    f"{_KUEUE}elastic-job": "elastic jobs are not scaled while they run",
    f"{_KUEUE}priority-boost": "off by default in Kueue: the priority stays as it is",
}


def _annotations(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the annotations that somebody may believe to be obeyed here."""
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    for name in annotations or ():
        if name in _ANNOTATIONS:
            yield f"metadata.annotations.{name}", _ANNOTATIONS[name]
