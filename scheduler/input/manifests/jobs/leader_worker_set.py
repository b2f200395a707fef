"""LeaderWorkerSet: a Workload per group of a leader and its workers."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import ServingJob, pod_set, replicas_of
from scheduler.model.jobs import Manifest, Served, Shape, Surroundings, count_of
from scheduler.model.registry import register

_GROUPS = "spec.leaderWorkerTemplate!"
_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"


class LeaderWorkerSet(ServingJob):
    """Source: docs/semantics/kueue-jobs.md#serving-kinds"""

    served = Served(group="leaderworkerset.x-k8s.io", versions=("v1",))
    shape = Shape(
        templates=(f"{_GROUPS}.workerTemplate!", f"{_GROUPS}.leaderTemplate"),
        counts=("spec.replicas", f"{_GROUPS}.size"),
    )

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return the podSets of all its groups together."""
        groups = replicas_of(manifest)
        return [{**one, "count": one["count"] * groups} for one in _group(manifest)]

    def pods(self, manifest: Manifest) -> tuple[str, int]:
        """Return the pods of all its groups."""
        size = count_of(manifest["spec"]["leaderWorkerTemplate"], "size", 1)
        return "spec.replicas", replicas_of(manifest) * max(1, size)

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return a Workload per group."""
        return self.workload_per_replica(manifest, around, _group(manifest))


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
