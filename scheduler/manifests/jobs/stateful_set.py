"""StatefulSet: its pods as one group, which is admitted together."""

from __future__ import annotations

from typing import Any

from scheduler.manifests.jobs import Manifest, Surroundings
from scheduler.manifests.jobs.base import QueuedJob, pod_set
from scheduler.manifests.jobs.making import count_of
from scheduler.registry import register

_INDEX = "apps.kubernetes.io/pod-index"


class StatefulSet(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#serving-kinds"""

    endless = True

    def suspended(self, manifest: Manifest) -> bool:
        """Return False: its pods are gated, it has no field."""
        return False

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its one podset, `main`."""
        spec = manifest["spec"]
        template = spec.get("template") or {}
        replicas = count_of(spec, "replicas", 1)
        return [pod_set("main", replicas, template, index=_INDEX)]

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its Workload; none when it is scaled to zero."""
        if not count_of(manifest["spec"], "replicas", 1):
            return []
        return super().workloads(manifest, around)

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether all its replicas are ready."""
        ready = count_of(manifest.get("status") or {}, "readyReplicas", 0)
        return ready >= count_of(manifest["spec"], "replicas", 1)


register(
    "job-kind",
    "StatefulSet",
    label="StatefulSet",
    help="apps/v1 StatefulSet: one podset of its replicas; it serves.",
)(StatefulSet())
