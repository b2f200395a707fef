"""RayJob: a RayCluster for one job, with a pod that submits it."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, at_path, pod_set
from scheduler.input.manifests.jobs.ray.clusters import cluster_pod_sets, ray_shape
from scheduler.model.jobs import Finish, Manifest, Served, Surroundings
from scheduler.model.registry import register
from scheduler.model.releases.rules import RAY_SUBMITTER

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
