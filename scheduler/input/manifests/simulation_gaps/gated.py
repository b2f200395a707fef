"""What of an import counts only with a feature gate of Kueue that is off.

The configuration may stand in another file than what it switches, or be that of the
world, so that this is asked when all is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.effects import Effect, Gap
from scheduler.input.manifests.loading.loaded import Loaded, unsupported
from scheduler.model.annotations import PRIORITY_BOOST
from scheduler.model.kueue.feature_gates import FeatureGates, read_feature_gates
from scheduler.model.kueue.slices import ELASTIC_JOB
from scheduler.model.quota import MOST_FLAVORS, refusal
from scheduler.model.releases.release import NO_RELEASE, Release
from scheduler.words.gaps import Gated

_POLICY = "concurrentAdmissionPolicy"
_GATES = (
    Gated.GATES.said(),
    Effect.NO_GATES,
)
_BOOST = (
    Gated.BOOST.said(),
    Effect.SAME_PRIORITY,
)
_ELASTIC = (
    Gated.ELASTIC.said(),
    Effect.ADMITTED_SIZE,
)
_CONCURRENT = (
    Gated.CONCURRENT.said(),
    Effect.ONE_FLAVOR,
)
_REFUSED = (
    Gated.REFUSED.said(most=MOST_FLAVORS),
    Effect.ONE_FLAVOR,
)
_NOTES = frozenset(
    note.text for note, _ in (_GATES, _BOOST, _ELASTIC, _CONCURRENT, _REFUSED)
)


def gated(manifest: Mapping[str, Any], gates: FeatureGates) -> Iterator[Gap]:
    """Yield the settings that a gate switches off, with the gate."""
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    if PRIORITY_BOOST in annotations and not gates.priority_boost:
        yield Gap(f"metadata.annotations.{PRIORITY_BOOST}", *_BOOST)
    if annotations.get(ELASTIC_JOB) == "true" and not gates.elastic_jobs:
        yield Gap(f"metadata.annotations.{ELASTIC_JOB}", *_ELASTIC)
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    if manifest.get("kind") == "ClusterQueue" and spec.get(_POLICY):
        yield from _concurrent(spec, gates)
    if gates.preemption_gates or gates.concurrent_admission:
        return
    if manifest.get("kind") == "Workload" and spec.get("preemptionGates"):
        yield Gap("spec.preemptionGates", *_GATES)


def _concurrent(spec: Mapping[str, Any], gates: FeatureGates) -> Iterator[Gap]:
    """Yield why a policy of concurrent admission decides nothing, if so."""
    if not gates.concurrent_admission:
        yield Gap(f"spec.{_POLICY}", *_CONCURRENT)
    elif refusal(spec):
        yield Gap(f"spec.{_POLICY}", *_REFUSED)


def find_gated(
    loaded: Loaded,
    kueue: Mapping[str, Any] | None = None,
    decides_as: Release = NO_RELEASE,
) -> None:
    """Name what the gates switch off: those loaded, over those of the world's `kueue`.

    Others are as the release has them.

    Takes the place of what was found by other gates. Cost: O(objects).
    """
    given = {
        **((kueue or {}).get("featureGates") or {}),
        **(loaded.policy.get("kueue", {}).get("featureGates") or {}),
    }
    gates = read_feature_gates(given, decides_as.of("kueue"))
    others = [found for found in loaded.findings if found.problem not in _NOTES]
    loaded.findings = others
    for obj in loaded.objects:
        document = loaded.places.get(obj.key)
        if document is None:  # of no file
            continue
        found = gated(obj.manifest, gates)
        others += [unsupported(document.place(gap.field), gap) for gap in found]
