"""Deployment: every pod is admitted for itself."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import ServingJob, pod_set, replicas_of
from scheduler.input.manifests.jobs.making import queue_name
from scheduler.input.manifests.jobs.topology import POD_GROUP_INDEX
from scheduler.model.jobs import Manifest, Surroundings
from scheduler.model.registry import register


class Deployment(ServingJob):
    """Source: docs/semantics/kueue-jobs.md#serving-kinds"""

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for, or that its pods do by their labels."""
        template = (manifest.get("spec") or {}).get("template") or {}
        return super().queue_name(manifest) or queue_name(
            {"metadata": template.get("metadata") or {}}
        )

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return all its pods as one podset, as they run where nobody manages them."""
        return [_pods(manifest, replicas_of(manifest))]

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return a Workload per replica, as each of its pods gets one."""
        return self.workload_per_replica(manifest, around, [_pods(manifest, 1)])


def _pods(manifest: Manifest, count: int) -> dict[str, Any]:
    template = manifest["spec"].get("template") or {}
    return pod_set("main", count, template, index=POD_GROUP_INDEX)


register(
    "job-kind",
    "Deployment",
    label="Deployment",
    help="apps/v1 Deployment: a Workload per replica; it serves.",
)(Deployment())
