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
from scheduler.records.quota import MOST_FLAVORS, refusal

_POLICY = "concurrentAdmissionPolicy"
_GATES = "preemption gates count only with MultiKueueOrchestratedPreemption, off"
_BOOST = "it counts only with the feature gate PriorityBoost, which is off"
_ELASTIC = "elastic jobs are scaled only with ElasticJobsViaWorkloadSlices, off"
_CONCURRENT = "it counts only with the feature gate ConcurrentAdmission, which is off"
_REFUSED = (
    "Kueue refuses this policy, and it is left out here: it takes one resource group of "
    f"at most {MOST_FLAVORS} flavors, the last acceptable one among them, and no StrictFIFO"
)
_NOTES = frozenset({_GATES, _BOOST, _ELASTIC, _CONCURRENT, _REFUSED})


def gated(
    manifest: Mapping[str, Any], gates: FeatureGates
) -> Iterator[tuple[str, str]]:
    """Yield (field, which gate it waits for) for what is given and switched off."""
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    if PRIORITY_BOOST in annotations and not gates.priority_boost:
        yield f"metadata.annotations.{PRIORITY_BOOST}", _BOOST
    if annotations.get(ELASTIC_JOB) == "true" and not gates.elastic_jobs:
        yield f"metadata.annotations.{ELASTIC_JOB}", _ELASTIC
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    if manifest.get("kind") == "ClusterQueue" and spec.get(_POLICY):
        yield from _concurrent(spec, gates)
    if gates.preemption_gates or gates.concurrent_admission:
        return
    if manifest.get("kind") == "Workload" and spec.get("preemptionGates"):
        yield "spec.preemptionGates", _GATES


def _concurrent(
    spec: Mapping[str, Any], gates: FeatureGates
) -> Iterator[tuple[str, str]]:
    """Yield why a policy of concurrent admission decides nothing, if so."""
    if not gates.concurrent_admission:
        yield f"spec.{_POLICY}", _CONCURRENT
    elif refusal(spec):
        yield f"spec.{_POLICY}", _REFUSED


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
