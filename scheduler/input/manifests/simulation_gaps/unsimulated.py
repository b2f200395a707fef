"""Fields of Kueue's kinds that are kept and decide nothing here.

Source: docs/semantics/kueue.md#kueue-who-gets-quota.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.effects import Effect, Gap
from scheduler.input.manifests.loading.loaded import Finding, Loaded, unsupported
from scheduler.input.manifests.workloads import MIN_PARALLELISM
from scheduler.model.admission_check import MULTI_KUEUE
from scheduler.model.annotations import PRIORITY_BOOST
from scheduler.model.jobs import QUEUE
from scheduler.model.kueue.feature_gates import FeatureGates, read_feature_gates
from scheduler.model.kueue.slices import ELASTIC_JOB, ELASTIC_KINDS
from scheduler.model.objects import Key, cluster_of
from scheduler.model.quota import MOST_FLAVORS, refusal
from scheduler.model.releases.release import NO_RELEASE, Release
from scheduler.model.sentence import Sentence
from scheduler.words.gaps import Gated, Unsimulated

# ------------------------------------------------------------------------
# Fields of Kueue's kinds that are kept and decide nothing here.


Manifest = Mapping[str, Any]

_FIELDS: dict[str, dict[str, Sentence]] = {
    "NodePool": {"replicas": Unsimulated.FIXED_POOL.said()},
}


def unsimulated(manifest: Manifest) -> Iterator[Gap]:
    """Yield the settings that are not simulated."""
    yield from _annotations(manifest)
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    if manifest.get("kind") == "Node":
        yield from _of_node(spec)
    if not str(manifest.get("apiVersion")).startswith("karpenter.sh/"):
        return  # another project's NodePool
    if manifest.get("kind") == "NodePool":
        yield from _of_node_pool(spec)
    for name, note in _FIELDS.get(str(manifest.get("kind")), {}).items():
        if spec.get(name):
            yield Gap(f"spec.{name}", note)


_TEMPLATE = {
    "startupTaints": Unsimulated.STARTUP_TAINTS.said(),
    "terminationGracePeriod": Unsimulated.AT_ONCE.said(),
    "kubelet": Unsimulated.KUBELET.said(),
}


_DISRUPTED = "karpenter.sh/disrupted"
_ONE_BY_ONE = (
    Unsimulated.ONE_BY_ONE.said(),
    Effect.MORE_NODES,
)
_NO_DRIFT = (
    Unsimulated.NO_DRIFT.said(),
    Effect.OLDER_NODES,
)


def _of_node(spec: Mapping[str, Any]) -> Iterator[Gap]:
    """Yield the mark of a node that Karpenter was about to take."""
    for index, taint in enumerate(spec.get("taints") or ()):
        if taint.get("key") == _DISRUPTED:
            note = Unsimulated.DISRUPTED.said(taint=_DISRUPTED)
            yield Gap(f"spec.taints[{index}]", note, Effect.KEPT_OFF)


def _of_disruption(spec: Mapping[str, Any]) -> Iterator[Gap]:
    """Yield what of consolidation and drift is asked for and does not happen.

    Source: docs/semantics/capacity.md#not-simulated.
    """
    given = spec.get("disruption") or {}
    if given.get("consolidationPolicy") == "WhenEmptyOrUnderutilized":
        yield Gap("spec.disruption.consolidationPolicy", *_ONE_BY_ONE)
    for index, budget in enumerate(given.get("budgets") or ()):
        if "Drifted" in (budget.get("reasons") or ()):
            yield Gap(f"spec.disruption.budgets[{index}].reasons", *_NO_DRIFT)


def _of_node_pool(spec: Mapping[str, Any]) -> Iterator[Gap]:
    """Yield what of a NodePool is not obeyed."""
    yield from _of_disruption(spec)
    inner = (spec.get("template") or {}).get("spec") or {}
    for name, note in _TEMPLATE.items():
        if inner.get(name):
            yield Gap(f"spec.template.spec.{name}", note)


_KUEUE = "kueue.x-k8s.io/"
_LABEL = Unsimulated.LABEL.said()
_ANNOTATIONS = {f"{_KUEUE}queue-name": (_LABEL, Effect.NO_QUEUE)}


def _annotations(manifest: Manifest) -> Iterator[Gap]:
    """Yield the annotations that somebody may believe to be obeyed here."""
    metadata = manifest.get("metadata")
    given = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    annotations: Mapping[str, str] = given or {}
    for name in annotations:
        if name in _ANNOTATIONS:
            yield Gap(f"metadata.annotations.{name}", *_ANNOTATIONS[name])
    if annotations.get(ELASTIC_JOB) == "true" and (
        note := _keeps_its_size(manifest, annotations)
    ):
        yield Gap(f"metadata.annotations.{ELASTIC_JOB}", note, Effect.ADMITTED_SIZE)


def _keeps_its_size(
    manifest: Manifest, annotations: Mapping[str, str]
) -> Sentence | None:
    """Return why an elastic job is not scaled, if so.

    Source: docs/semantics/kueue-elastic-jobs.md#which-jobs.
    """
    if manifest.get("kind") not in (*ELASTIC_KINDS, "Workload"):
        return Unsimulated.ELASTIC_KIND.said()
    if MIN_PARALLELISM in annotations:
        return Unsimulated.ELASTIC_FEWER.said()
    if "kueue.x-k8s.io/podset-" in str(manifest.get("spec")):
        return Unsimulated.ELASTIC_TOPOLOGY.said()
    return None


# ------------------------------------------------------------------------
# What of an import counts only with a feature gate of Kueue that is off.


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
            said = Unsimulated.ELASTIC_ELSEWHERE.said()
            yield Finding("unsupported", place, said, effect=Effect.STARTS_ANEW)


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
