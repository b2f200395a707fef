"""A job of a trace as a Job: size, user, and the requested time as its limit."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from scheduler.kueue.workload.reading import MAX_EXECUTION
from scheduler.traces.swf import TraceJob

QUEUE = "kueue.x-k8s.io/queue-name"
USER = "user"
_YUNIKORN_USER = "yunikorn.apache.org/user.info"


def job_of(
    job: TraceJob, *, namespace: str, queue: str, cpu: str, limited: bool = True
) -> dict[str, Any]:
    """Return the Job without a name: a pod per processor, each asking for `cpu`.

    Without a `queue` it has no queue label. Sizes that the trace lacks are 1.
    """
    labels = {QUEUE: queue} if queue else {}
    if job.user is not None:
        labels[USER] = f"user-{job.user}"
    if limited and job.limit_s is not None:
        labels[MAX_EXECUTION] = str(math.ceil(job.limit_s))
    processors = job.processors or 1
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"namespace": namespace, "labels": labels},
        "spec": {
            "parallelism": processors,
            "completions": processors,
            "template": _template(job, cpu),
        },
    }


def _template(job: TraceJob, cpu: str) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "trace",
        "resources": {"requests": {"cpu": cpu}},
    }
    spec = {"restartPolicy": "Never", "containers": [container]}
    if job.user is None:
        return {"spec": spec}
    user = msgspec.json.encode({"user": f"user-{job.user}"}).decode()
    return {"metadata": {"annotations": {_YUNIKORN_USER: user}}, "spec": spec}
