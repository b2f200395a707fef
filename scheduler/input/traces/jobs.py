"""A job of a trace as a Job: size, requests, user, and the requested time as limit."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from scheduler.input.manifests.dumps.openb import GPU_MODEL
from scheduler.input.manifests.loading.naming import label_of
from scheduler.input.traces.trace import TraceJob
from scheduler.model.annotations import MAX_EXECUTION

QUEUE = "kueue.x-k8s.io/queue-name"
USER = "user"
_YUNIKORN_USER = "yunikorn.apache.org/user.info"


def job_of(
    job: TraceJob, *, namespace: str, queue: str, limited: bool = True
) -> dict[str, Any]:
    """Return the Job without a name: `pods` pods, 1 where the trace has no number.

    Without a `queue` it has no queue label.
    """
    labels = {QUEUE: queue} if queue else {}
    if job.user:
        labels[USER] = label_of(job.user) or "user"
    if limited and job.limit_s is not None:
        labels[MAX_EXECUTION] = str(math.ceil(job.limit_s))
    pods = job.pods or 1
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"namespace": namespace, "labels": labels},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": _template(job),
        },
    }


def _template(job: TraceJob) -> dict[str, Any]:
    resources: dict[str, Any] = {"requests": dict(job.requests)}
    if devices := {k: v for k, v in job.requests.items() if "/" in k}:
        resources["limits"] = devices  # an extended resource must have its limit
    container = {"name": "main", "image": "trace", "resources": resources}
    spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [container]}
    if job.models:
        spec["affinity"] = _affinity(job.models)
    if not job.user:
        return {"spec": spec}
    user = msgspec.json.encode({"user": job.user}).decode()
    return {"metadata": {"annotations": {_YUNIKORN_USER: user}}, "spec": spec}


def _affinity(models: tuple[str, ...]) -> dict[str, Any]:
    wanted = {"key": GPU_MODEL, "operator": "In", "values": list(models)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
