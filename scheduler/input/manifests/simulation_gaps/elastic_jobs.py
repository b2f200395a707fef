"""Elastic jobs of queues whose work runs in other clusters: they are not scaled there.

Source: docs/semantics/kueue-multikueue.md#worker-clusters-in-a-sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.effects import Effect
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.model.admission_check import MULTI_KUEUE
from scheduler.model.kueue.slices import ELASTIC_JOB
from scheduler.model.objects import Key, cluster_of
from scheduler.words.gaps import Unsimulated

Manifest = Mapping[str, Any]

_QUEUE = "kueue.x-k8s.io/queue-name"


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
        queue = (metadata.get("labels") or {}).get(_QUEUE)
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
