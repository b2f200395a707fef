"""Fields of Kueue's kinds that are kept and decide nothing here.

Source: KUEUE.md, out of scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Manifest = Mapping[str, Any]

_CHECKS = "admission checks are not simulated; admission goes on without them"
_USAGE = "admission by usage over time is not simulated"
_TOPOLOGY = "topology-aware scheduling is not simulated"
_CONCURRENT = "concurrent admission is not simulated"
_GATES = "preemption gates are not simulated"

_FIELDS: dict[str, dict[str, str]] = {
    "ClusterQueue": {
        "admissionChecksStrategy": _CHECKS,
        "admissionScope": _USAGE,
        "concurrentAdmissionPolicy": _CONCURRENT,
    },
    "LocalQueue": {"fairSharing": _USAGE},
    "ResourceFlavor": {"topologyName": _TOPOLOGY},
    "Workload": {"preemptionGates": _GATES},
}


def unsimulated(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield (field, what it means) for what is given and not simulated."""
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    for name, note in _FIELDS.get(str(manifest.get("kind")), {}).items():
        if spec.get(name):
            yield f"spec.{name}", note
    if manifest.get("kind") == "Workload":
        for index, part in enumerate(spec.get("podSets") or ()):
            if isinstance(part, Mapping) and part.get("topologyRequest"):
                yield f"spec.podSets[{index}].topologyRequest", _TOPOLOGY
