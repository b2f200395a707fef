"""Ray clusters: a head and groups of workers, as three kinds hold them."""

from __future__ import annotations

import math
from typing import Any

from scheduler.input.manifests.jobs.base import pod_set
from scheduler.input.manifests.jobs.making import annotations_of
from scheduler.model import amounts
from scheduler.model.jobs import Manifest, Shape, count_of
from scheduler.model.releases.release import Release
from scheduler.model.releases.rules import RAY, RAY_STATE

_AUTOSCALER = {"cpu": "500m", "memory": "512Mi"}
_LEAST_OF_HEAD = {"cpu": "200m", "memory": "256Mi"}  # with GCS fault tolerance
_FAULT_TOLERANT = "ray.io/ft-enabled"


def ray_shape(cluster: str) -> Shape:
    """Return the shape of a kind that has the spec of a cluster at a path."""
    workers = f"{cluster}.workerGroupSpecs[]"
    return Shape(
        templates=(f"{cluster}.headGroupSpec!.template!", f"{workers}.template!"),
        counts=(f"{workers}.replicas", f"{workers}.numOfHosts"),
        names=(f"{workers}.groupName",),
    )


def cluster_pod_sets(
    owner: Manifest,
    cluster: Manifest,
    release: Release,
    *,
    sidecar: Manifest | None = None,
    hosts: bool = True,
) -> list[dict[str, Any]]:
    """Return the podSets of a cluster's spec: the head, then each worker group.

    `owner` is the object with the annotations, `sidecar` one more container of
    the head; without `hosts` a replica counts once, however many hosts it has.
    Source: docs/semantics/kueue-jobs.md#ray
    """
    head = cluster["headGroupSpec"].get("template") or {}
    containers = list((head.get("spec") or {}).get("containers") or ())
    tolerant = _fault_tolerant(owner, cluster) and RAY_STATE.holds(release)
    if tolerant and containers:
        containers[0] = _raised(containers[0])
    if cluster.get("enableInTreeAutoscaling") and RAY.holds(release):
        containers.append(_autoscaler(cluster))
    if sidecar is not None:
        containers.append(dict(sidecar))
    spec = {**(head.get("spec") or {}), "containers": containers}
    return [
        pod_set("head", 1, {**head, "spec": spec}),
        *(
            pod_set(
                group["groupName"], _workers(group, hosts), group.get("template") or {}
            )
            for group in cluster.get("workerGroupSpecs") or ()
        ),
    ]


def _workers(group: Manifest, hosts: bool) -> int:
    """Return the pods of a group; a missing count is what the API fills in."""
    return count_of(group, "replicas", 0) * (
        count_of(group, "numOfHosts", 1) if hosts else 1
    )


def _fault_tolerant(owner: Manifest, cluster: Manifest) -> bool:
    return (
        cluster.get("gcsFaultToleranceOptions") is not None
        or annotations_of(owner).get(_FAULT_TOLERANT) == "true"
    )


def _raised(container: Manifest) -> dict[str, Any]:
    """Return the container with requests that are at least what the GCS needs."""
    resources = dict(container.get("resources") or {})
    requests = dict(resources.get("requests") or {})
    given = {**(resources.get("limits") or {}), **requests}
    for name, least in _LEAST_OF_HEAD.items():
        asked = amounts.parse(given[name]) if name in given else -math.inf
        if asked < amounts.parse(least):
            requests[name] = least
    return {**container, "resources": {**resources, "requests": requests}}


def _autoscaler(cluster: Manifest) -> dict[str, Any]:
    options = cluster.get("autoscalerOptions") or {}
    resources = options.get("resources")
    if resources is None:
        resources = {"requests": _AUTOSCALER, "limits": _AUTOSCALER}
    return {"name": "autoscaler", "resources": resources}
