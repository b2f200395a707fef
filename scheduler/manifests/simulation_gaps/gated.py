"""What of an import counts only with a feature gate of Kueue that is off.

The configuration may stand in another file than what it switches, or be that of the
world, so that this is asked when all is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.kueue.feature_gates import FeatureGates, read_feature_gates
from scheduler.kueue.workload.reading import PRIORITY_BOOST
from scheduler.kueue.workload.slices import ELASTIC_JOB
from scheduler.manifests.loading.loaded import Finding, Loaded

_GATES = "preemption gates count only with MultiKueueOrchestratedPreemption, off"
_BOOST = "it counts only with the feature gate PriorityBoost, which is off"
_ELASTIC = "elastic jobs are scaled only with ElasticJobsViaWorkloadSlices, off"
_NOTES = frozenset({_GATES, _BOOST, _ELASTIC})


def gated(
    manifest: Mapping[str, Any], gates: FeatureGates
) -> Iterator[tuple[str, str]]:
    """Yield (field, which gate it waits for) for what is given and switched off."""
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    if PRIORITY_BOOST in annotations and not gates.priority_boost:
        yield f"metadata.annotations.{PRIORITY_BOOST}", _BOOST
    if annotations.get(ELASTIC_JOB) == "true" and not gates.elastic_jobs:
        yield f"metadata.annotations.{ELASTIC_JOB}", _ELASTIC
    if manifest.get("kind") != "Workload" or gates.preemption_gates:
        return
    spec = manifest.get("spec")
    if isinstance(spec, Mapping) and spec.get("preemptionGates"):
        yield "spec.preemptionGates", _GATES


def find_gated(loaded: Loaded, kueue: Mapping[str, Any] | None = None) -> None:
    """Name what the gates switch off: those loaded, over those of the world's `kueue`.

    Takes the place of what was found by other gates. Cost: O(objects).
    """
    given = {
        **((kueue or {}).get("featureGates") or {}),
        **(loaded.policy.get("kueue", {}).get("featureGates") or {}),
    }
    gates = read_feature_gates(given)
    others = [found for found in loaded.findings if found.problem not in _NOTES]
    loaded.findings = others
    for obj in loaded.objects:
        for path, note in gated(obj.manifest, gates):
            place = loaded.places[obj.key].place(path)
            others.append(Finding(level="unsupported", place=place, problem=note))
