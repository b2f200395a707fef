"""StatefulSet: its pods as one group, which is admitted together."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import ServingJob, pod_set, replicas_of
from scheduler.model.jobs import Manifest, Surroundings
from scheduler.model.registry import register

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
