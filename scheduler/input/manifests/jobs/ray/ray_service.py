"""RayService: a RayCluster that serves, and never ends by itself."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob
from scheduler.input.manifests.jobs.ray.clusters import cluster_pod_sets, ray_shape
from scheduler.model.jobs import Manifest, Served, Surroundings
from scheduler.model.registry import register


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
