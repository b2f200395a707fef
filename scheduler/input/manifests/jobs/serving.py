"""Deployment: every pod is admitted for itself."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import ServingJob, pod_set, replicas_of
from scheduler.input.manifests.jobs.making import queue_name
from scheduler.input.manifests.jobs.topology import POD_GROUP_INDEX
from scheduler.model.jobs import Manifest, Served, Shape, Surroundings, count_of
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


# ------------------------------------------------------------------------
# StatefulSet: its pods as one group, which is admitted together.


_INDEX = "apps.kubernetes.io/pod-index"


class StatefulSet(ServingJob):
    """Source: docs/semantics/kueue-jobs.md#serving-kinds"""

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its one podset, `main`."""
        template = manifest["spec"].get("template") or {}
        return [pod_set("main", replicas_of(manifest), template, index=_INDEX)]

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its Workload; none when it is scaled to zero."""
        if not replicas_of(manifest):
            return []
        return super().workloads(manifest, around)


register(
    "job-kind",
    "StatefulSet",
    label="StatefulSet",
    help="apps/v1 StatefulSet: one podset of its replicas; it serves.",
)(StatefulSet())


# ------------------------------------------------------------------------
# LeaderWorkerSet: a Workload per group of a leader and its workers.


_GROUPS = "spec.leaderWorkerTemplate!"
_GROUP_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"


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
        return [pod_set("main", size, worker, index=_GROUP_INDEX)]
    return [
        pod_set("leader", 1, leader),
        pod_set("worker", size - 1, worker, index=_GROUP_INDEX),
    ]


register(
    "job-kind",
    "LeaderWorkerSet",
    label="LeaderWorkerSet",
    help="LeaderWorkerSet: a Workload per group, podsets leader and worker; it serves.",
)(LeaderWorkerSet())
