"""JobSet: a podset per replicated job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, pod_set
from scheduler.input.manifests.jobs.topology import JOBSET_INDEX
from scheduler.model.jobs import (
    JOB_INDEX,
    Manifest,
    Served,
    Surroundings,
    count_of,
    pods_at_once,
    waves_of,
)
from scheduler.model.registry import register


class JobSet(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#jobset"""

    served = Served(group="jobset.x-k8s.io", versions=("v1alpha2",))
    succeeded = ("Completed",)

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return a podset per replicated job, of all its replicas' pods."""
        return replicated_pod_sets(replicated_jobs(manifest))

    def pods(self, manifest: Manifest) -> tuple[str, int]:
        """Return the pods of all its replicated jobs."""
        return "spec.replicatedJobs", pods_of(replicated_jobs(manifest))

    def waves(self, manifest: Manifest) -> int:
        """Return how many times the pods of its longest job run one after another."""
        jobs = replicated_jobs(manifest)
        return max((waves_of(job_spec(job)) for job in jobs), default=1)

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether each of its jobs is ready or has succeeded."""
        jobs = replicated_jobs(manifest)
        return jobs_ready(manifest, "replicatedJobsStatus", jobs)

    def reclaimable(self, manifest: Manifest, around: Surroundings) -> dict[str, int]:
        """Return the pods of the jobs that succeeded."""
        jobs = replicated_jobs(manifest)
        return reclaimable_jobs(manifest, "replicatedJobsStatus", jobs)


def replicated_jobs(manifest: Manifest) -> Sequence[Manifest]:
    """Return the replicated jobs of a JobSet."""
    jobs: Sequence[Manifest] = manifest["spec"].get("replicatedJobs") or ()
    return jobs


def replicated_pod_sets(jobs: Sequence[Manifest]) -> list[dict[str, Any]]:
    """Return the podSets of replicated jobs, in their order."""
    return [
        pod_set(
            job["name"],
            replicas_of(job) * pods_at_once(job_spec(job)),
            job_spec(job).get("template") or {},
            index=JOB_INDEX,
            sub_group=JOBSET_INDEX,
            sub_groups=replicas_of(job),
        )
        for job in jobs
    ]


def pods_of(jobs: Sequence[Manifest]) -> int:
    """Return how many pods replicated jobs make together."""
    return sum(max(1, pods_at_once(job_spec(job))) * replicas_of(job) for job in jobs)


def jobs_ready(manifest: Manifest, field: str, jobs: Sequence[Manifest]) -> bool:
    """Return whether as many jobs are ready or done as there are replicas."""
    found = (manifest.get("status") or {}).get(field) or ()
    done = sum(
        count_of(one, "ready", 0) + count_of(one, "succeeded", 0) for one in found
    )
    return done == sum(replicas_of(job) for job in jobs)


def reclaimable_jobs(
    manifest: Manifest, field: str, jobs: Sequence[Manifest]
) -> dict[str, int]:
    """Return the pods of succeeded jobs by podset."""
    found = (manifest.get("status") or {}).get(field) or ()
    succeeded = {one["name"]: count_of(one, "succeeded", 0) for one in found}
    pods = {
        str(job["name"]).lower(): min(succeeded.get(job["name"], 0), replicas_of(job))
        * pods_at_once(job_spec(job))
        for job in jobs
    }
    return {name: count for name, count in pods.items() if count}


def replicas_of(job: Manifest) -> int:
    """Return the replicas of a replicated job; 1 when left out."""
    return count_of(job, "replicas", 1)


def job_spec(job: Manifest) -> Manifest:
    """Return the spec of the Jobs that a replicated job makes."""
    spec: Manifest = job["template"]["spec"]
    return spec


register(
    "job-kind",
    "JobSet",
    label="JobSet",
    help="JobSet: a podset per replicated job, replicas x parallelism pods each.",
)(JobSet())
