"""Fields of Kueue's kinds that are kept and decide nothing here.

Source: docs/semantics/kueue.md#kueue-who-gets-quota.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.effects import Effect, Gap
from scheduler.input.manifests.workloads import MIN_PARALLELISM
from scheduler.model.kueue.slices import ELASTIC_JOB, ELASTIC_KINDS
from scheduler.model.sentence import Sentence
from scheduler.words.gaps import Unsimulated

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
