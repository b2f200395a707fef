"""batch/v1 Job: one podset, as many pods as run at once."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, pod_set
from scheduler.input.manifests.jobs.making import annotations_of
from scheduler.model.amounts import is_whole
from scheduler.model.jobs import (
    JOB_INDEX,
    Manifest,
    Surroundings,
    count_of,
    pods_at_once,
    spans_of,
    waves_of,
)
from scheduler.model.registry import register

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"


class BatchJob(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#batch-job"""

    succeeded = ("Complete",)

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its one podset, `main`."""
        spec = manifest["spec"]
        main = pod_set(
            "main", pods_at_once(spec), spec.get("template") or {}, index=JOB_INDEX
        )
        least = annotations_of(manifest).get(MIN_PARALLELISM, "")
        if is_whole(least):
            main["minCount"] = int(least)
        return [main]

    def pods(self, manifest: Manifest) -> tuple[str, int]:
        """Return its parallelism, or its completions where they are fewer."""
        return "spec.parallelism", pods_at_once(manifest["spec"])

    def waves(self, manifest: Manifest) -> int:
        """Return how many times its pods run one after another."""
        return waves_of(manifest["spec"])

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether as many pods are ready or done as it runs at once."""
        status = manifest.get("status") or {}
        uncounted = status.get("uncountedTerminatedPods") or {}
        done = count_of(status, "succeeded", 0) + len(uncounted.get("succeeded") or ())
        ready = count_of(status, "ready", 0)
        return done + ready >= pods_at_once(manifest["spec"])

    def reclaimable(self, manifest: Manifest, around: Surroundings) -> dict[str, int]:
        """Return the pods that no completion is left for."""
        spec = manifest["spec"]
        parallelism = count_of(spec, "parallelism", 1)
        done = _done(manifest)
        remaining = count_of(spec, "completions", parallelism) - done
        if parallelism <= 1 or not done or remaining >= parallelism:
            return {}
        return {"main": parallelism - remaining}


def _done(manifest: Manifest) -> int:
    """Return the completions that need no pod any longer."""
    spec, status = manifest["spec"], manifest.get("status") or {}
    if spec.get("completionMode") != "Indexed":
        return count_of(status, "succeeded", 0)
    completions = count_of(spec, "completions", count_of(spec, "parallelism", 1))
    spans: list[tuple[int, int]] = []
    for field in ("completedIndexes", "failedIndexes"):
        spans += spans_of(str(status.get(field) or ""))
    done, end = 0, 0
    for first, last in sorted(spans):  # counted, however long they are
        last = min(last, completions - 1)
        done += max(0, last + 1 - max(first, end))
        end = max(end, last + 1)
    return done


register(
    "job-kind", "Job", label="Job", help="batch/v1 Job: one podset of parallelism pods."
)(BatchJob())
