"""CronJob: Jobs at the times of a schedule.

Source: docs/semantics/controllers.md#cronjob.
"""

from __future__ import annotations

import copy
from typing import Any

from scheduler.engine.lifetime.runtime_state import RuntimeState
from scheduler.engine.stage import US_PER_MS
from scheduler.model.annotations import ARRIVAL, PREFIX
from scheduler.model.conditions import is_true
from scheduler.model.cron import CronSchedule, read_schedule
from scheduler.model.durations import stamp_text, stamp_us
from scheduler.model.objects import Key, Object

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_US_PER_MINUTE = 60_000_000
_US_PER_SECOND = 1_000_000
#: Condition of Jobs that ended, the limit of how many are kept, and its default.
_HISTORY = (
    ("Complete", "successfulJobsHistoryLimit", 3),
    ("Failed", "failedJobsHistoryLimit", 1),
)


def sync_cron_job(
    lifetime: RuntimeState, cron_job: Object, jobs: list[Object]
) -> int | None:
    """Make the Job that is due and delete old ones; return when (ms) the next is due.

    `jobs` are those that it owns, with their statuses. None: it waits for nothing.
    """
    spec = cron_job.spec
    active = [job for job in jobs if not is_true(job.status, "Complete", "Failed")]
    for condition, limit, default in _HISTORY:
        ended = [job for job in jobs if is_true(job.status, condition)]
        _clean_up(lifetime, ended, int(spec.get(limit, default)))
    _note_success(cron_job, jobs)
    at = None
    if not spec.get("suspend"):
        schedule = read_schedule(spec["schedule"], spec.get("timeZone") or "")
        active = _start_due(lifetime, cron_job, schedule, active)
        at = schedule.after(lifetime.context.now_us)
    cron_job.status["active"] = [_reference(job) for job in active]
    epoch_us = lifetime.context.epoch_us
    return None if at is None else -((epoch_us - at) // US_PER_MS)


def _clean_up(lifetime: RuntimeState, ended: list[Object], limit: int) -> None:
    """Delete the oldest beyond the limit."""
    ended.sort(key=lambda job: (str(job.status.get("startTime", "")), job.key))
    for job in ended[: max(0, len(ended) - limit)]:
        lifetime.host.delete(job.key)


def _note_success(cron_job: Object, jobs: list[Object]) -> None:
    times = [str(job.status.get("completionTime", "")) for job in jobs]
    known = str(cron_job.status.get("lastSuccessfulTime", ""))
    if latest := max([known, *times]):
        cron_job.status["lastSuccessfulTime"] = latest


def _start_due(
    lifetime: RuntimeState,
    cron_job: Object,
    schedule: CronSchedule,
    active: list[Object],
) -> list[Object]:
    """Make the Job of the last time that was missed; return the active Jobs then.

    Forbid leaves the time missed: it is tried again when the active Job has ended.
    """
    at = _missed(lifetime, cron_job, schedule)
    policy = cron_job.spec.get("concurrencyPolicy")
    if at is None or (policy == "Forbid" and active):
        return active
    if policy == "Replace":
        for job in active:
            lifetime.host.delete(job.key)
        active = []
    cron_job.status["lastScheduleTime"] = stamp_text(at)
    job = _job(cron_job, at)
    if job.key in lifetime.host.objects:
        return active
    return [*active, lifetime.host.put(job)]


def _missed(
    lifetime: RuntimeState, cron_job: Object, schedule: CronSchedule
) -> int | None:
    """Return the last time of the schedule that has no Job and is not too late."""
    now = lifetime.context.now_us
    since = stamp_us(
        cron_job.status.get("lastScheduleTime")
        or cron_job.metadata["creationTimestamp"]
    )
    deadline = cron_job.spec.get("startingDeadlineSeconds")
    if deadline is not None:
        since = max(since, now - int(deadline) * _US_PER_SECOND)
    return schedule.latest(since, now)


def _job(cron_job: Object, at_us: int) -> Object:
    """Return the Job of a scheduled time: named after it, as its template says."""
    template = copy.deepcopy(cron_job.spec["jobTemplate"])
    given = template.get("metadata") or {}
    name = f"{cron_job.key.name}-{at_us // _US_PER_MINUTE}"
    ours = {
        name: value
        for name, value in cron_job.annotations.items()
        if name.startswith(PREFIX) and name != ARRIVAL
    }
    annotations = {**ours, **(given.get("annotations") or {})}
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": cron_job.key.namespace,
            "labels": given.get("labels") or {},
            "annotations": {**annotations, SCHEDULED: stamp_text(at_us)},
            "ownerReferences": [{**_reference(cron_job), "controller": True}],
        },
        "spec": template["spec"],
    }
    key = Key("Job", cron_job.key.namespace, name)
    return Object(key=key, manifest=manifest)


def _reference(obj: Object) -> dict[str, Any]:
    return {
        "apiVersion": obj.manifest["apiVersion"],
        "kind": obj.key.kind,
        "name": obj.key.name,
        "uid": obj.uid,
    }
