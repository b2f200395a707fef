"""Fields of Kueue's kinds that are kept and decide nothing here.

Source: docs/semantics/kueue.md#kueue-who-gets-quota.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.loading.loaded import Finding, Loaded, unsupported
from scheduler.input.manifests.simulation_gaps.unfollowed import given_fields
from scheduler.input.manifests.workloads import MIN_PARALLELISM
from scheduler.model.admission_check import MULTI_KUEUE
from scheduler.model.annotations import PRIORITY_BOOST
from scheduler.model.jobs import QUEUE
from scheduler.model.kueue.feature_gates import FeatureGates, read_feature_gates
from scheduler.model.kueue.slices import ELASTIC_JOB, ELASTIC_KINDS
from scheduler.model.objects import Key, cluster_of
from scheduler.model.quota import MOST_FLAVORS, refusal
from scheduler.model.releases.release import NO_RELEASE, Release
from scheduler.words.effects import Gap, NotSimulated
from scheduler.words.gaps import Gated, Unsimulated

Manifest = Mapping[str, Any]

#: Fields of a NodePool of Karpenter that are not followed once they are given.
_NODE_POOL: Mapping[str, NotSimulated] = {
    "spec.template.spec.startupTaints": Unsimulated.STARTUP_TAINTS,
    "spec.template.spec.terminationGracePeriod": Unsimulated.AT_ONCE,
    "spec.template.spec.kubelet": Unsimulated.KUBELET,
    "spec.replicas": Unsimulated.FIXED_POOL,
}


def unsimulated(manifest: Manifest) -> Iterator[Gap]:
    """Yield the settings that are not simulated."""
    # Annotations that somebody may believe to be obeyed here.
    metadata = manifest.get("metadata")
    given = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    annotations: Mapping[str, str] = given or {}
    if _QUEUE_NAME in annotations:
        yield Unsimulated.LABEL.at(f"metadata.annotations.{_QUEUE_NAME}")
    if annotations.get(ELASTIC_JOB) == "true" and (
        words := _keeps_its_size(manifest, annotations)
    ):
        yield words.at(f"metadata.annotations.{ELASTIC_JOB}")
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    if manifest.get("kind") == "Node":
        # The mark of a node that Karpenter was about to take.
        for index, taint in enumerate(spec.get("taints") or ()):
            if taint.get("key") == _DISRUPTED:
                yield Unsimulated.DISRUPTED.at(
                    f"spec.taints[{index}]", taint=_DISRUPTED
                )
    if not str(manifest.get("apiVersion")).startswith("karpenter.sh/"):
        return  # another project's NodePool
    if manifest.get("kind") == "NodePool":
        yield from _of_disruption(spec)
        yield from given_fields(manifest, _NODE_POOL)


_DISRUPTED = "karpenter.sh/disrupted"


def _of_disruption(spec: Mapping[str, Any]) -> Iterator[Gap]:
    """Yield what of consolidation and drift is asked for and does not happen.

    Source: docs/semantics/capacity.md#not-simulated.
    """
    given = spec.get("disruption") or {}
    if given.get("consolidationPolicy") == "WhenEmptyOrUnderutilized":
        yield Unsimulated.ONE_BY_ONE.at("spec.disruption.consolidationPolicy")
    for index, budget in enumerate(given.get("budgets") or ()):
        if "Drifted" in (budget.get("reasons") or ()):
            yield Unsimulated.NO_DRIFT.at(f"spec.disruption.budgets[{index}].reasons")


_QUEUE_NAME = "kueue.x-k8s.io/queue-name"


def _keeps_its_size(
    manifest: Manifest, annotations: Mapping[str, str]
) -> NotSimulated | None:
    """Return why an elastic job is not scaled, if so.

    Source: docs/semantics/kueue-elastic-jobs.md#which-jobs.
    """
    if manifest.get("kind") not in (*ELASTIC_KINDS, "Workload"):
        return Unsimulated.ELASTIC_KIND
    if MIN_PARALLELISM in annotations:
        return Unsimulated.ELASTIC_FEWER
    if "kueue.x-k8s.io/podset-" in str(manifest.get("spec")):
        return Unsimulated.ELASTIC_TOPOLOGY
    return None


# ------------------------------------------------------------------------
# What of an import counts only with a feature gate of Kueue that is off.


_POLICY = "concurrentAdmissionPolicy"


def gated(manifest: Mapping[str, Any], gates: FeatureGates) -> Iterator[Gap]:
    """Yield the settings that a gate switches off, with the gate."""
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    if PRIORITY_BOOST in annotations and not gates.priority_boost:
        yield Gated.BOOST.at(f"metadata.annotations.{PRIORITY_BOOST}")
    if annotations.get(ELASTIC_JOB) == "true" and not gates.elastic_jobs:
        yield Gated.ELASTIC.at(f"metadata.annotations.{ELASTIC_JOB}")
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    if manifest.get("kind") == "ClusterQueue" and spec.get(_POLICY):
        # A policy of concurrent admission may decide nothing: this says why.
        if not gates.concurrent_admission:
            yield Gated.CONCURRENT.at(f"spec.{_POLICY}")
        elif refusal(spec):
            yield Gated.REFUSED.at(f"spec.{_POLICY}", most=MOST_FLAVORS)
    if gates.preemption_gates or gates.concurrent_admission:
        return
    if manifest.get("kind") == "Workload" and spec.get("preemptionGates"):
        yield Gated.GATES.at("spec.preemptionGates")


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
    codes = frozenset(Gated)
    others = [one for one in loaded.findings if one.said.code not in codes]
    loaded.findings = others
    for obj in loaded.objects:
        document = loaded.places.get(obj.key)
        if document is None:  # of no file
            continue
        found = gated(obj.manifest, gates)
        others += [unsupported(document.place(gap.field), gap) for gap in found]


# ------------------------------------------------------------------------
# Elastic jobs of queues whose work runs in other clusters: they are not scaled there.


def elastic_elsewhere(
    manifests: Mapping[Key, Manifest], places: Mapping[Key, Document]
) -> Iterator[Finding]:
    """Yield a finding for each elastic job that a worker cluster would run.

    `manifests` are all objects, `places` those that come. Cost: O(objects).
    """
    for key, document in places.items():
        metadata = manifests.get(key, {}).get("metadata") or {}
        if (metadata.get("annotations") or {}).get(ELASTIC_JOB) != "true":
            continue
        queue = (metadata.get("labels") or {}).get(QUEUE)
        if queue and not cluster_of(key) and _dispatched(key, queue, manifests):
            place = document.place(f"metadata.annotations.{ELASTIC_JOB}")
            said = Unsimulated.ELASTIC_ELSEWHERE
            yield Finding("unsupported", place, said.said(), effect=said.effect)


def _dispatched(key: Key, queue: str, manifests: Mapping[Key, Manifest]) -> bool:
    """Return whether a check of the job's ClusterQueue sends it to other clusters."""
    local = _spec(manifests, Key("LocalQueue", key.namespace, queue))
    name = str(local.get("clusterQueue") or "")
    spec = _spec(manifests, Key("ClusterQueue", "", name))
    strategy = spec.get("admissionChecksStrategy") or {}
    checks = [
        *(item.get("name") for item in strategy.get("admissionChecks") or ()),
        *(spec.get("admissionChecks") or ()),
    ]
    return any(
        _spec(manifests, Key("AdmissionCheck", "", str(check))).get("controllerName")
        == MULTI_KUEUE
        for check in checks
    )


def _spec(manifests: Mapping[Key, Manifest], key: Key) -> Manifest:
    return manifests.get(key, {}).get("spec") or {}
