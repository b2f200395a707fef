"""JobSet: a podset per replicated job."""

from __future__ import annotations

from typing import Any

from scheduler.manifests.jobs import Manifest, Surroundings
from scheduler.manifests.jobs.making import (
    make_workload,
    pod_template,
    pods_at_once,
    queue_name,
    waves_of,
    workload_name,
)
from scheduler.registry import register


class JobSet:
    """Source: KUEUE.md 15.3."""

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for."""
        return queue_name(manifest)

    def suspended_by_user(self, manifest: Manifest) -> bool:
        """Tell whether it is suspended with no queue to wake it."""
        return bool(manifest["spec"].get("suspend")) and not queue_name(manifest)

    def pod_sets(self, manifest: Manifest) -> list[dict[str, Any]]:
        """Return a podset per replicated job, of all its replicas' pods."""
        return [
            {
                "name": job["name"],
                "count": _replicas(job) * pods_at_once(_spec(job)),
                "template": pod_template(_spec(job).get("template") or {}),
            }
            for job in manifest["spec"].get("replicatedJobs") or ()
        ]

    def waves(self, manifest: Manifest) -> int:
        """Return how many times the pods of its longest job run one after another."""
        jobs = manifest["spec"].get("replicatedJobs") or ()
        return max((waves_of(_spec(job)) for job in jobs), default=1)

    def workload(self, manifest: Manifest, around: Surroundings) -> dict[str, Any]:
        """Return the manifest of its Workload."""
        return make_workload(
            manifest,
            around,
            name=workload_name("jobset", manifest),
            pod_sets=self.pod_sets(manifest),
        )


def _replicas(job: Manifest) -> int:
    replicas = job.get("replicas")
    return 1 if replicas is None else int(replicas)


def _spec(job: Manifest) -> Manifest:
    spec: Manifest = job["template"]["spec"]
    return spec


register(
    "job-kind",
    "JobSet",
    label="JobSet",
    help="JobSet: a podset per replicated job, replicas x parallelism pods each.",
)(JobSet())
