"""Ray clusters: a head and groups of workers, as three kinds hold them."""

from __future__ import annotations

import json
import math
from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, at_path, pod_set
from scheduler.input.manifests.jobs.making import annotations_of
from scheduler.model import amounts
from scheduler.model.jobs import Finish, Manifest, Served, Shape, Surroundings, count_of
from scheduler.model.registry import register
from scheduler.model.releases.release import Release
from scheduler.model.releases.rules import RAY, RAY_STATE, RAY_SUBMITTER

_AUTOSCALER = {"cpu": "500m", "memory": "512Mi"}
_LEAST_OF_HEAD = {"cpu": "200m", "memory": "256Mi"}  # with GCS fault tolerance
_FAULT_TOLERANT = "ray.io/ft-enabled"
#: A cluster with this label is placed at once, or not at all.
GANG = "ray.io/gang-scheduling-enabled"
_HEAD_GROUP = "headgroup"
_YUNIKORN = "yunikorn.apache.org"
#: Labels of a cluster -> those of its pods.
_FOR_PODS = {f"{_YUNIKORN}/app-id": "applicationId", f"{_YUNIKORN}/queue": "queue"}


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
    found = [
        pod_set("head", 1, {**head, "spec": spec}),
        *(
            pod_set(
                group["groupName"], _workers(group, hosts), group.get("template") or {}
            )
            for group in cluster.get("workerGroupSpecs") or ()
        ),
    ]
    _label_for_yunikorn(found, owner, cluster)
    return found


def _label_for_yunikorn(
    pod_sets: list[dict[str, Any]], owner: Manifest, cluster: Manifest
) -> None:
    """Give pods what KubeRay gives them for YuniKorn: application, queue, task group.

    Source: docs/semantics/yunikorn.md#ray-clusters
    """
    labels = (owner.get("metadata") or {}).get("labels") or {}
    given = {own: labels[name] for name, own in _FOR_PODS.items() if name in labels}
    if not given:
        return
    groups = list(cluster.get("workerGroupSpecs") or ())
    names = [_HEAD_GROUP, *(str(group["groupName"]) for group in groups)]
    least = [1, *(_least(group) for group in groups)]
    tasks = json.dumps(
        [
            _task_group(name, count, one["template"].get("spec") or {})
            for name, count, one in zip(names, least, pod_sets, strict=True)
        ]
    )
    for name, one in zip(names, pod_sets, strict=True):
        metadata = dict(one["template"].get("metadata") or {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **given}
        if GANG in labels:
            own = {
                f"{_YUNIKORN}/task-group-name": name,
                f"{_YUNIKORN}/task-groups": tasks,
            }
            metadata["annotations"] = {**(metadata.get("annotations") or {}), **own}
        one["template"] = {**one["template"], "metadata": metadata}


def _least(group: Manifest) -> int:
    return count_of(group, "minReplicas", 0) * count_of(group, "numOfHosts", 1)


def _task_group(name: str, count: int, spec: Manifest) -> dict[str, Any]:
    asked: dict[str, int] = {}
    for container in spec.get("containers") or ():
        resources = container.get("resources") or {}
        given = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
        for resource, value in given.items():
            more = amounts.quota(resource, value)
            asked[resource] = asked.get(resource, 0) + more
    texts = {one: amounts.text_of(one, value) for one, value in asked.items()}
    kept = ("nodeSelector", "tolerations", "affinity")
    placed = {field: spec[field] for field in kept if spec.get(field)}
    return {"name": name, "minMember": count, "minResource": texts, **placed}


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


# ------------------------------------------------------------------------
# RayCluster: a head and groups of workers that run until somebody deletes them.


class RayCluster(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#ray"""

    served = Served(group="ray.io", versions=("v1", "v1alpha1"))
    shape = ray_shape("spec")
    endless = True

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return head and worker groups."""
        return cluster_pod_sets(manifest, manifest["spec"], around.decides_as)

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether the cluster says that it is ready."""
        return bool(at_path(manifest, ("status", "state")) == "ready")


register(
    "job-kind",
    "RayCluster",
    label="RayCluster",
    help="ray.io RayCluster: podset head, then one per worker group.",
)(RayCluster())


# ------------------------------------------------------------------------
# RayService: a RayCluster that serves, and never ends by itself.


class RayService(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#ray"""

    served = Served(group="ray.io", versions=("v1", "v1alpha1"))
    shape = ray_shape("spec.rayClusterConfig!")
    endless = True
    suspend_path = ("spec", "rayClusterConfig", "suspend")
    ready = ("Ready",)

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return head and worker groups of its cluster."""
        cluster = manifest["spec"]["rayClusterConfig"]
        return cluster_pod_sets(manifest, cluster, around.decides_as)


register(
    "job-kind",
    "RayService",
    label="RayService",
    help="ray.io RayService: podset head, then one per worker group; it serves.",
)(RayService())


# ------------------------------------------------------------------------
# RayJob: a RayCluster for one job, with a pod that submits it.


_CLUSTER_STATE = ("status", "rayClusterStatus", "state")
_SUBMITTER = {
    "name": "ray-job-submitter",
    "resources": {"requests": {"cpu": "500m", "memory": "200Mi"}},
}


class RayJob(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#ray"""

    served = Served(group="ray.io", versions=("v1", "v1alpha1"))
    shape = ray_shape("spec.rayClusterSpec")

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for; none where it runs in a given cluster."""
        if manifest["spec"].get("clusterSelector"):
            return ""
        return super().queue_name(manifest)

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return head, worker groups and, where a Job submits, the submitter."""
        spec = manifest["spec"]
        cluster = spec.get("rayClusterSpec")
        if cluster is None:  # runs in a cluster that somebody else made
            return []
        mode = spec.get("submissionMode") or "K8sJobMode"
        charged = mode == "SidecarMode" and RAY_SUBMITTER.holds(around.decides_as)
        sidecar = _SUBMITTER if charged else None
        found = cluster_pod_sets(manifest, cluster, around.decides_as, sidecar=sidecar)
        if mode == "K8sJobMode":
            template = spec.get("submitterPodTemplate") or {
                "spec": {"containers": [_SUBMITTER]}
            }
            found.append(pod_set("submitter", 1, template))
        return found

    def finish(self, manifest: Manifest) -> Finish | None:
        """Return how it ended, by the state of its deployment."""
        status = manifest.get("status") or {}
        if status.get("jobDeploymentStatus") not in ("Complete", "Failed"):
            return None
        success = status.get("jobStatus") == "SUCCEEDED"
        return Finish(success=success, message=str(status.get("message") or ""))

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether its cluster is ready."""
        return bool(at_path(manifest, _CLUSTER_STATE) == "ready")


register(
    "job-kind",
    "RayJob",
    label="RayJob",
    help="ray.io RayJob: podsets head, worker groups, and submitter in K8sJobMode.",
)(RayJob())
