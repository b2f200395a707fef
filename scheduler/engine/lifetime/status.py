"""What time writes into statuses: phases of pods, progress of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.engine.lifetime.runs import OVERRAN, Due, Run
from scheduler.engine.lifetime.runtime_state import RuntimeState
from scheduler.model.durations import stamp_text
from scheduler.model.jobs import (
    completions_of,
    is_managed_elsewhere,
    is_work_queue,
    pods_at_once,
    succeeded_of,
    with_index,
)
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import (
    BACKOFF_LIMIT,
    BACKOFF_LIMIT_SENTENCE,
    COMPLETIONS_REACHED,
    COMPLETIONS_REACHED_SENTENCE,
    JOB_RESUMED,
    JOB_SUSPENDED,
    SUCCESS_POLICY,
    SUCCESS_POLICY_SENTENCE,
    condition,
    has_ended,
    is_true,
    true_condition,
)

if TYPE_CHECKING:
    from scheduler.engine.lifetime.starting import RunStarting

_OVER = ("Finished", "Complete", "Completed", "Failed")
#: The kinds whose spec.suspend Kueue sets.
_SUSPENDED = ("Job", "JobSet")
#: The kinds that keep a number of pods.
_REPLICATED = ("Deployment", "ReplicaSet", "StatefulSet")


def write(lifetime: RunStarting, obj: Object) -> None:
    """Write the lifetime's part of the object's status."""
    if obj.key.kind == "Pod":
        _write_pod(lifetime, obj)
    elif obj.key.kind in ("Job", "JobSet"):
        _write_job(lifetime, obj)
    elif obj.key.kind in _REPLICATED:
        _write_replicas(lifetime, obj)


def _write_replicas(lifetime: RuntimeState, obj: Object) -> None:
    """Write how many pods a serving controller has, and how many of them are ready.

    Source: docs/semantics/controllers.md#deployment.
    """
    pods = lifetime.jobs.pods_served(obj)
    if (run := _run_of(lifetime, obj)) is not None:
        pods = [*pods, *run.pods]
    pods = list(dict.fromkeys(pods))  # those of a run may be served ones
    ready = sum(map(lifetime.is_ready, pods))
    obj.status = {**obj.status, "replicas": len(pods), "readyReplicas": ready}


def _write_pod(lifetime: RunStarting, pod: Object) -> None:
    """Write phase and Ready. A pod that runs, ready or not, never waits again.

    Source: <https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/>
    """
    if has_ended(pod.status) or _came_running(lifetime, pod):
        return
    owner = lifetime.owners.get(pod.key)
    run = lifetime.runs.get(owner) if owner is not None else None
    ready = run is not None and pod.key in run.ready
    runs = pod.status.get("phase") == "Running" and bool(pod.spec.get("nodeName"))
    runs = runs or _has_started(lifetime, run, pod.key)
    pod.status["phase"] = "Running" if ready or runs else "Pending"
    given = pod.status.get("conditions") or []
    if runs and not ready:
        return  # as it came: its containers started, and it is not ready yet
    conditions = [c for c in given if c["type"] != "Ready"]
    if ready:
        known = true_condition(pod.status, "Ready")
        conditions.append(known or {"type": "Ready", "status": "True"})
    if conditions:
        pod.status["conditions"] = conditions


def _has_started(lifetime: RunStarting, run: Run | None, pod: Key) -> bool:
    """Return whether a pod that is not ready has containers that have started."""
    if run is None or pod not in run.waiting:
        return False
    return lifetime.starts_at(run, pod) <= lifetime.context.now_ms


def _came_running(lifetime: RuntimeState, pod: Object) -> bool:
    """Return whether a pod that runs already was not taken up yet."""
    return pod.key not in lifetime.arrived and pod.status.get("phase") == "Running"


def came_ended(obj: Object) -> bool:
    """Return whether an object's status says that it was over before it came."""
    if obj.key.kind == "Pod":
        return has_ended(obj.status)
    return is_true(obj.status, *_OVER)


def write_ended(pod: Object, *, failed: bool) -> None:
    """Write the last status of a pod; nobody writes it again.

    All of it is said anew: what was written before depends on when somebody
    looked, and a world's hash must not.
    Source: <https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/>
    """
    pod.status["phase"] = "Failed" if failed else "Succeeded"
    pod.status.pop("nominatedNodeName", None)
    reason = "PodFailed" if failed else "PodCompleted"
    pod.status["conditions"] = [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": "False", "reason": reason},
    ]


def _write_job(lifetime: RuntimeState, job: Object) -> None:
    """Write what the job's controller would, and Kueue's suspension.

    Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
    """
    run = _run_of(lifetime, job)
    if run is None and came_ended(job):
        return  # its Workload is gone, and what it came to stays
    if job.state.get("job", {}).get("workload") and job.key.kind in _SUSPENDED:
        # A job with a Workload runs while that is admitted.
        job.spec["suspend"] = run is None or not _goes_on(lifetime, run)
    if is_managed_elsewhere(job.manifest):
        return  # its status is another controller's
    refused = job.state.get("job", {}).get("refused")
    if refused and job.key.kind in _SUSPENDED:
        job.spec["suspend"] = True  # the webhook did it when the job was made
    if run is None:
        if conditions := _suspension(lifetime, job):
            job.status = {**job.status, "conditions": conditions}
        return
    status: dict[str, Any] = {
        "active": _active_pods(lifetime, job, run),
        "ready": len(run.ready),
    }
    if (succeeded := _succeeded_before(lifetime, job, run)) > 0:
        status |= _status_in_round(job, status, succeeded)
    if indexes := run.completed or (succeeded and succeeded_of(job.status)[1]):
        status["completedIndexes"] = indexes
    if run.lost_pods:
        status["failed"] = run.lost_pods
    if failed := _failed_indexes(job, run):
        status["failedIndexes"] = failed
    if run.started_ms is not None:
        status["startTime"] = stamp_text(lifetime.context.us(run.started_ms))
    if conditions := _suspension(lifetime, job):
        status["conditions"] = conditions
    if run.done:
        status["conditions"] = [*conditions, *_end_conditions(lifetime, job, run)]
        if run.failed and run.why_failed is not None:
            status["failed"] = run.lost_pods
        elif run.failed:
            status["failed"] = run.lost_pods + _pods_at_once(job, succeeded)
        else:
            status["succeeded"] = _ended_pods(job, run)
        if run.ends_ms is not None and not run.failed:
            status["completionTime"] = stamp_text(lifetime.context.us(run.ends_ms))
    job.status = status


def _failed_indexes(job: Object, run: Run) -> str:
    """Return the indexes that failed for good, such as 0,2-4; "" where none is counted."""
    text, most = "", job.spec.get("backoffLimitPerIndex")
    if most is not None:
        for index, failures in run.failed_at.items():
            text = with_index(text, int(index)) if failures > int(most) else text
    return text


def _goes_on(lifetime: RuntimeState, run: Run) -> bool:
    """Return whether a job was started and not stopped, be its pods over or not."""
    if run.step_due() == Due.COMPLETE:
        return True  # its pods have ended, and nobody has seen it yet
    return run.active or run.done or run.overran


def _suspension(lifetime: RuntimeState, job: Object) -> list[dict[str, str]]:
    """Return what the Job controller says of a Job that Kueue suspends and resumes.

    Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
    """
    managed = job.state.get("job", {}).get("workload")
    if job.key.kind != "Job":
        return []
    if not managed and not job.spec.get("suspend"):
        # One that nobody manages says so only after it was suspended.
        managed = condition(job.status, "Suspended")
    if not managed and not job.spec.get("suspend"):
        return []
    if job.spec.get("suspend"):
        return [{"type": "Suspended", "status": "True", **JOB_SUSPENDED}]
    return [{"type": "Suspended", "status": "False", **JOB_RESUMED}]


def _end_conditions(
    lifetime: RuntimeState, job: Object, run: Run
) -> list[dict[str, str]]:
    """Return the conditions of a job that is over."""
    over = _end_condition(lifetime, job, run)
    if job.key.kind != "Job":
        return [over]
    if run.failed:
        return [{**over, "type": "FailureTarget"}, over]
    return [{**over, "type": "SuccessCriteriaMet"}, over]


def _end_condition(lifetime: RuntimeState, job: Object, run: Run) -> dict[str, str]:
    """Return the condition of a job that is over."""
    why = {}
    if run.overran:
        why = {"reason": "DeadlineExceeded", "message": OVERRAN}
    elif run.failed and run.why_failed is not None:
        why = dict(zip(("reason", "message"), run.why_failed, strict=True))
    elif run.failed and job.key.kind == "Job":
        why = {"reason": BACKOFF_LIMIT, "message": BACKOFF_LIMIT_SENTENCE}
    elif not run.failed and job.spec.get("successPolicy"):
        why = {"reason": SUCCESS_POLICY, "message": SUCCESS_POLICY_SENTENCE}
    elif not run.failed and job.key.kind == "Job":
        why = {"reason": COMPLETIONS_REACHED, "message": COMPLETIONS_REACHED_SENTENCE}
    return {"type": "Failed" if run.failed else "Complete", "status": "True", **why}


def _active_pods(lifetime: RuntimeState, job: Object, run: Run) -> int:
    """Return how many pods run or are about to; without nodes, as many as it asks."""
    lacks = run.pods or run.step_due() == Due.REPLACE
    if not run.active or lacks or job.key.kind != "Job":
        return len(run.pods) if run.active else 0
    return pods_at_once(job.spec)


def _pods_at_once(job: Object, succeeded: int) -> int:
    """Return how many pods ended with a job that failed: all that it had."""
    if job.key.kind != "Job":
        return 1
    return min(pods_at_once(job.spec), completions_of(job.spec) - succeeded)


def _succeeded_before(lifetime: RuntimeState, job: Object, run: Run) -> int:
    """Return how many pods succeeded in the rounds that are over.

    Before pods are placed for it those that its status says: they stay counted.
    """
    if run.rounds is None:
        alone = lifetime.jobs.pods_of_round(job) is not None
        stays = alone and lifetime.placement()
        return (
            min(succeeded_of(job.status)[0], completions_of(job.spec)) if stays else 0
        )
    if is_work_queue(job.spec):
        return run.rounds.succeeded
    return min(run.rounds.succeeded, completions_of(job.spec))


def _status_in_round(
    job: Object, status: dict[str, Any], succeeded: int
) -> dict[str, Any]:
    """Return what a round after the first changes; the last one may be smaller."""
    if is_work_queue(job.spec):
        return {**status, "succeeded": succeeded}
    left = completions_of(job.spec) - succeeded
    fewer = {name: min(count, left) for name, count in status.items()}
    return {**fewer, "succeeded": succeeded}


def _ended_pods(job: Object, run: Run) -> int:
    """Return how many pods ended as the job did: one that fails ends it."""
    if run.failed or job.key.kind != "Job":
        return 1
    if run.rounds is not None and is_work_queue(job.spec):
        return run.rounds.succeeded
    return completions_of(job.spec)


def _run_of(lifetime: RuntimeState, job: Object) -> Run | None:
    name = job.state.get("job", {}).get("workload")
    key = Key("Workload", job.key.namespace, name) if name else job.key
    return lifetime.runs.get(key)
