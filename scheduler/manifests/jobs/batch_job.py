"""batch/v1 Job: one podset, as many pods as run at once."""

from __future__ import annotations

from typing import Any

from scheduler.manifests.jobs import Manifest, Surroundings
from scheduler.manifests.jobs.making import (
    annotations_of,
    make_workload,
    pod_template,
    pods_at_once,
    queue_name,
    waves_of,
    workload_name,
)
from scheduler.registry import register

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"


class BatchJob:
    """Source: KUEUE.md 15.3."""

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for."""
        return queue_name(manifest)

    def suspended_by_user(self, manifest: Manifest) -> bool:
        """Tell whether it is suspended with no queue to wake it."""
        return bool(manifest["spec"].get("suspend")) and not queue_name(manifest)

    def pod_sets(self, manifest: Manifest) -> list[dict[str, Any]]:
        """Return its one podset, `main`."""
        spec = manifest["spec"]
        pod_set = {
            "name": "main",
            "count": pods_at_once(spec),
            "template": pod_template(spec.get("template") or {}),
        }
        least = annotations_of(manifest).get(MIN_PARALLELISM, "")
        if least.isdigit():
            pod_set["minCount"] = int(least)
        return [pod_set]

    def waves(self, manifest: Manifest) -> int:
        """Return how many times its pods run one after another."""
        return waves_of(manifest["spec"])

    def workload(self, manifest: Manifest, around: Surroundings) -> dict[str, Any]:
        """Return the manifest of its Workload."""
        return make_workload(
            manifest,
            around,
            name=workload_name("job", manifest),
            pod_sets=self.pod_sets(manifest),
        )


register(
    "job-kind",
    "Job",
    label="Job",
    help="batch/v1 Job: one podset of parallelism pods.",
)(BatchJob())
