"""LeaderWorkerSet: a Workload per group of a leader and its workers."""

from __future__ import annotations

from typing import Any

from scheduler.manifests.jobs import Manifest, Surroundings
from scheduler.manifests.jobs.base import QueuedJob, pod_set
from scheduler.manifests.jobs.making import count_of, make_workload, workload_name
from scheduler.registry import register

_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"


class LeaderWorkerSet(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#serving-kinds"""

    endless = True

    def suspended(self, manifest: Manifest) -> bool:
        """Return False: its pods are gated, it has no field."""
        return False

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return the podSets of all its groups together."""
        groups = count_of(manifest["spec"], "replicas", 1)
        return [{**one, "count": one["count"] * groups} for one in _group(manifest)]

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return a Workload per group."""
        name = manifest["metadata"]["name"]
        return [
            make_workload(
                manifest,
                around,
                name=workload_name(manifest, name=f"{name}-{ordinal}"),
                pod_sets=_group(manifest),
            )
            for ordinal in range(count_of(manifest["spec"], "replicas", 1))
        ]

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether all its groups are ready."""
        ready = count_of(manifest.get("status") or {}, "readyReplicas", 0)
        return ready >= count_of(manifest["spec"], "replicas", 1)


def _group(manifest: Manifest) -> list[dict[str, Any]]:
    template = manifest["spec"]["leaderWorkerTemplate"]
    size = count_of(template, "size", 1)
    worker = template.get("workerTemplate") or {}
    leader = template.get("leaderTemplate")
    if leader is None:
        return [pod_set("main", size, worker, index=_INDEX)]
    return [
        pod_set("leader", 1, leader),
        pod_set("worker", size - 1, worker, index=_INDEX),
    ]


register(
    "job-kind",
    "LeaderWorkerSet",
    label="LeaderWorkerSet",
    help="LeaderWorkerSet: a Workload per group, podsets leader and worker; it serves.",
)(LeaderWorkerSet())
