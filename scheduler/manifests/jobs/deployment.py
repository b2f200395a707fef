"""Deployment: every pod is admitted for itself."""

from __future__ import annotations

from typing import Any

from scheduler.manifests.jobs import Manifest, Surroundings
from scheduler.manifests.jobs.base import QueuedJob, pod_set
from scheduler.manifests.jobs.making import count_of, make_workload, workload_name
from scheduler.manifests.jobs.topology import POD_GROUP_INDEX
from scheduler.registry import register


class Deployment(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#serving-kinds"""

    endless = True

    def suspended(self, manifest: Manifest) -> bool:
        """Return False: its pods are gated, it has no field."""
        return False

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return all its pods as one podset, as they run where nobody manages them."""
        return [_pods(manifest, count_of(manifest["spec"], "replicas", 1))]

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return a Workload per replica, as each of its pods gets one."""
        name = manifest["metadata"]["name"]
        return [
            make_workload(
                manifest,
                around,
                name=workload_name(manifest, name=f"{name}-{ordinal}"),
                pod_sets=[_pods(manifest, 1)],
            )
            for ordinal in range(count_of(manifest["spec"], "replicas", 1))
        ]

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether all its replicas are ready."""
        ready = count_of(manifest.get("status") or {}, "readyReplicas", 0)
        return ready >= count_of(manifest["spec"], "replicas", 1)


def _pods(manifest: Manifest, count: int) -> dict[str, Any]:
    template = manifest["spec"].get("template") or {}
    return pod_set("main", count, template, index=POD_GROUP_INDEX)


register(
    "job-kind",
    "Deployment",
    label="Deployment",
    help="apps/v1 Deployment: a Workload per replica; it serves.",
)(Deployment())
