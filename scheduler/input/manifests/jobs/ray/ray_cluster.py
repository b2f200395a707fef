"""RayCluster: a head and groups of workers that run until somebody deletes them."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, at_path
from scheduler.input.manifests.jobs.ray.clusters import cluster_pod_sets, ray_shape
from scheduler.model.jobs import Manifest, Served, Surroundings
from scheduler.model.registry import register


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
