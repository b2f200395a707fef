"""What happened as core v1 Events, as the components of a cluster write them.

One event of ours may be several of theirs: that a Workload is admitted is said of it by
Kueue, and of its job by the job's controller. What has no counterpart in a cluster is
left to `/events`, which has all of it.

Source: docs/semantics/kueue-lifecycle.md, and the events that a control plane wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from api.cluster.controlled import Owners, ending, owner_of, shown
from api.cluster.event_objects import (
    Metadata,
    Workload,
    jobs_of,
    pods_of,
    uids_of,
    workloads_of,
)
from api.cluster.pod_makers import (
    JOB_CONTROLLER,
    MAKERS,
    Jobs,
    Told,
    replica_sets,
    told_by_makers,
)
from api.cluster.presenting import whole_seconds
from api.cluster.statuses import unscheduled
from sandbox.explain.counting import Change, counts_of
from sandbox.models import Event, Sandbox, table_of
from sandbox.world import history
from sandbox.world.worlds import policy_of
from scheduler.engine.lifetime.runs import OVERRAN
from scheduler.input.manifests.kinds import BY_KIND
from scheduler.model import durations
from scheduler.model.objects import Key
from scheduler.model.reasons import (
    BACKOFF_LIMIT,
    BACKOFF_LIMIT_SENTENCE,
    FAILED_INDEXES,
    FAILED_INDEXES_SENTENCE,
    MAX_FAILED_INDEXES,
    MAX_FAILED_INDEXES_SENTENCE,
    MAXIMUM_EXECUTION_TIME_EXCEEDED,
    POD_FAILURE_POLICY,
    REQUEUING_LIMIT_EXCEEDED,
    SLICE_REPLACED,
)

#: The type of what changed of a Workload and no event tells.
CHANGED = "Changed"
#: The newest that are shown, as the real ones are forgotten after an hour.
MOST_EVENTS = 1000
_KUEUE = "kueue"
_ADMISSION = "kueue-admission"
_SCHEDULER = "default-scheduler"
_SCHEDULES = "cronjob-controller"
#: On a Job that the controller of CronJobs made: for which time.
_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def documents(sandbox: Sandbox, namespace: str) -> list[dict[str, Any]]:
    """Return the newest events about objects of a namespace ("" = all), oldest first.

    Equal failures of an object are one event: the last, with count and first time.
    What Kueue says of an object for one reason in one moment is one event, too: a
    series, with the last message.
    Source: docs/semantics/kube-scheduler.md#repeated-events.
    """
    start = policy_of(sandbox)["spec"]["simulation"]["startTime"]
    epoch_us = durations.stamp_us(start)
    found = history.newest_events(sandbox, sandbox.revision, MOST_EVENTS, whole=True)
    counts = counts_of(sandbox, {})
    kept = list(_without_repeats(_with_changes(found, counts.changes)))
    pods = pods_of(sandbox, kept)
    jobs = jobs_of(sandbox, kept, pods, counts.gone)
    sets = replica_sets(sandbox, jobs, kept)
    scaled = list(told_by_makers(sandbox, kept, jobs, sets))
    pasts = _pasts(kept, jobs, workloads_of(sandbox, kept, counts.gone))
    told = [
        (event, n, _timed(one, past, (event.data or {}).get("considered", "")))
        for event, more, past in zip(kept, scaled, pasts, strict=True)
        for n, one in enumerate([*_told(event, jobs, past), *more])
        if namespace in ("", one.about.namespace or "default")
    ]
    last = {(one.about, one.reason, event.t_ms): one for event, _, one in told}
    told = [
        each
        for each in told
        if _KUEUE not in (one := each[2]).component
        or last[one.about, one.reason, each[0].t_ms] is one
    ]
    uids = uids_of(sandbox, {one.about for _, _, one in told})
    uids |= {one.key: one.uid for one in sets.values() if one.uid}
    names = _shown_names(sandbox, pods, jobs)
    made = [
        _renamed(_document(event, one, n, epoch_us, uids), names)
        for event, n, one in told
    ]
    scheduled = list(_of_cron_jobs(sandbox, namespace))
    return sorted([*made, *scheduled], key=_moment) if scheduled else made


def _with_changes(events: list[Event], changes: Iterable[Change]) -> list[Event]:
    """Return events, and as such what changed of Workloads and no event tells."""
    first = events[0].revision if events else 0
    more = [
        Event(
            revision=one.revision,
            seq=MOST_EVENTS + n,
            t_ms=one.t_ms,
            type=CHANGED,
            subject=one.workload,
            reason=one.what,
            message=one.words,
            data={},
        )
        for n, one in enumerate(changes)
        if one.revision >= first
    ]
    return sorted([*events, *more], key=_place)


def _place(event: Event) -> tuple[int, bool, int]:
    """Return where an event is in order: another Workload begins after the one before."""
    anew = event.type == CHANGED and event.reason == "Replaced"
    return event.revision, not anew, event.seq


class Past(NamedTuple):
    """What earlier events say of the subject of an event, as far as they are kept."""

    queued_s: int | None = None  # since it was queued
    reserved_s: int | None = None  # since it had its quota
    reserves: bool = False  # it waits for its admission checks with its quota
    runs: bool = False  # its job was started and not stopped
    pods: tuple[str, ...] = ()  # of a run that is stopped now: those that were made
    #: Of a preemption: the priorities of preemptor and victim.
    priorities: tuple[int, int] | None = None
    uid: str = ""
    seconds: int | None = None  # its maximum execution time; of what is gone, its age


def _pasts(
    events: list[Event], jobs: Jobs, known: Mapping[str, Workload]
) -> Iterator[Past]:
    """Yield what is known, at each event, of its subject's past.

    `known` are Workloads that preempted, were preempted, or were deactivated.
    """
    queued: dict[str, int] = {}
    reserved: dict[str, int] = {}
    admitted: dict[str, int] = {}
    running: dict[str, dict[str, None]] = {}
    ranks, reranks = _ranks(events, known)
    waits: set[str] = set()  # Jobs whose Workload has no quota
    for event in events:
        subject, at = event.subject, event.t_ms
        ranks |= reranks.pop(event.revision, {})
        kind, namespace, name = [*subject.split("/", 2), "", ""][:3]
        job = jobs.get((namespace, f"Pod/{name}")) if kind == "Pod" else None
        if event.type in ("Bind", "Fail") and job and str(job) not in waits:
            running.setdefault(str(job), {})[name] = None
        key = str(jobs.get((namespace, name))) if kind == "Workload" else subject
        stops = _stops(event)
        pods = tuple(running.get(key, ())) if stops else ()
        by, own = known.get(event.by), known.get(subject)
        yield Past(
            _seconds(queued.get(subject), at),
            _seconds(reserved.get(subject, at), at),
            subject in reserved,
            key in running,
            pods,
            (ranks[event.by], ranks[subject]) if by and own else None,
            own.uid if own else "",
            (own and own.seconds) or _seconds(admitted.get(subject), at + 999),
        )
        if event.type == "Admit":
            admitted[subject] = at
            running.setdefault(key, {})
            waits.discard(key)
        if event.type == "Arrive" or stops:
            queued[subject] = at
            reserved.pop(subject, None)
            was = running.pop(key, None)
            if _suspended(event) == SUSPENDS and was is not None:
                running[key] = {}  # Kueue resumes at once what is admitted
            elif kind == "Workload" and key.startswith("Job/"):
                waits.add(key)
        elif event.type == "ReserveQuota":
            reserved[subject] = at
        elif event.type in ("Admit", "Finish"):
            reserved.pop(subject, None)
            if event.type == "Finish":
                running.pop(key, None)


def _ranks(
    events: list[Event], known: Mapping[str, Workload]
) -> tuple[dict[str, int], dict[int, dict[str, int]]]:
    """Return the priorities that Workloads had first, and those of each revision."""
    ranks = {subject: one.priority for subject, one in known.items()}
    given: dict[int, dict[str, int]] = {}
    for event in reversed(events):
        changed = (event.type, event.reason) == (CHANGED, "PriorityClass")
        if changed and event.subject in ranks:
            of = given.setdefault(event.revision, {})
            of.setdefault(event.subject, ranks[event.subject])
            ranks[event.subject] = int(event.message)
    return ranks, given


def _stops(event: Event) -> bool:
    """Return whether an event takes the quota of a Workload away."""
    if event.type in (CHANGED, "Edit"):
        return event.reason in ("Delete", "Replaced") or _suspended(event) == SUSPENDS
    return event.type in ("Evict", "Preempt")


def _suspended(event: Event) -> tuple[bool, bool]:
    """Return whether a Job was suspended before a person's edit, and after it."""
    data = (event.data or {}) if event.subject.startswith("Job/") else {}
    if None in (data.get("before"), data.get("after")):
        return False, False
    was, now = (
        bool(((data.get(side) or {}).get("spec") or {}).get("suspend"))
        for side in ("before", "after")
    )
    return was, now


SUSPENDS, RESUMES = (False, True), (True, False)


def _seconds(since_ms: int | None, at_ms: int) -> int | None:
    return None if since_ms is None else (at_ms - since_ms) // 1000


def _timed(told: Told, past: Past, considered: str) -> Told:
    """Return what Kueue tells of quota with how long that took, where that is known.

    Of a reservation it tells the flavors that it considered besides.
    """
    if told.component != _ADMISSION:
        return told
    for reason, since, seconds in (
        ("QuotaReserved", "queued", past.queued_s),
        ("Admitted", "reservation", past.reserved_s),
    ):
        if told.reason == reason and seconds is not None:
            said = f"{told.message}, wait time since {since} was {seconds}s"
            told = told._replace(message=said)
    if told.reason == "QuotaReserved" and considered:
        said = f"{told.message}; Flavors considered: {considered}"
        told = told._replace(message=said)
    return told


def _moment(document: Mapping[str, Any]) -> str:
    return str(document["lastTimestamp"])


def _of_cron_jobs(sandbox: Sandbox, namespace: str) -> Iterator[dict[str, Any]]:
    """Yield what the controller of CronJobs tells of the Jobs that are there.

    Of one that a person made of a CronJob it tells that it does not know it, once: how
    often the real one looked is not known.
    """
    rows = table_of("Job")._default_manager.filter(sandbox_id=sandbox.pk, kind="Job")
    rows = rows.filter(manifest__contains='"CronJob"')
    for row in rows.filter(namespace=namespace) if namespace else rows:
        metadata = row.manifest["metadata"]
        owner = owner_of(metadata)
        if owner is None or owner["kind"] != "CronJob":
            continue
        key = Key("CronJob", row.namespace, owner["name"])
        told = Told(key, "SuccessfulCreate", f"Created job {row.name}", _SCHEDULES)
        if _SCHEDULED not in (metadata.get("annotations") or {}):
            said = f"Saw a job that the controller did not create or forgot: {row.name}"
            told = Told(key, "UnexpectedJob", said, _SCHEDULES, warning=True)
        at = whole_seconds(metadata.get("creationTimestamp"))
        uids = {key: str(owner.get("uid") or "")}
        version = f"{row.revision:x}"
        yield _written(told, version, (at, at), 1, uids, row.revision)


def _shown_names(sandbox: Sandbox, pods: Metadata, jobs: Jobs) -> dict[str, str]:
    """Return the names that are shown of the pods of events, where others are kept."""
    owners = Owners.stored(sandbox.pk)
    owners.prepare({"metadata": one} for one in pods.values())
    found = {}
    for (namespace, name), metadata in pods.items():
        made = shown({"kind": "Pod", "metadata": metadata}, owners)["metadata"]["name"]
        job = jobs.get((namespace, f"Pod/{name}"))
        if made == name and job is not None and job.kind == "Job":
            made = f"{job.name}-{ending(namespace, name)}"  # its job is gone
        if made != name:
            found[f"Pod/{namespace}/{name}"] = made
    return found


def _renamed(document: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Name pods in an event as clients know them."""
    about, metadata = document["involvedObject"], document["metadata"]
    namespace, kept = metadata["namespace"], about["name"]
    if about["kind"] == "Pod" and (named := names.get(f"Pod/{namespace}/{kept}")):
        about["name"] = named
        metadata["name"] = named + metadata["name"].removeprefix(kept)

    def shown_name(found: re.Match[str]) -> str:
        part, name = found.groups()
        return part + names.get(f"Pod/{namespace}/{name}", name)

    document["message"] = _NAMED.sub(shown_name, document["message"])
    return document


#: Where a message names a pod.
_NAMED = re.compile(r"(pod: |assigned [^/ ]+/)([^ ,;]+)")


def _without_repeats(events: Iterable[Event]) -> Iterator[Event]:
    """Leave out each failure that a later event counts."""
    found = list(events)
    last = {
        (event.subject, event.reason, event.message): event
        for event in found
        if event.type == "Fail"
    }
    for event in found:
        same = last.get((event.subject, event.reason, event.message), event)
        if event.type != "Fail" or event is same:
            yield event


def _told(event: Event, jobs: Jobs, past: Past) -> Iterator[Told]:
    """Yield what components tell of one of our events."""
    kind, _, rest = event.subject.partition("/")
    namespace, _, name = rest.partition("/")
    entry = BY_KIND.get(kind)
    teller = _TELLERS.get((event.type, kind)) or _TELLERS.get((event.type, ""))
    if entry is None or not entry.plural or teller is None:
        return
    yield from teller(event, Key(kind, namespace, name), jobs, past)


def _arrived(event: Event, key: Key, jobs: Jobs, _: Past) -> Iterator[Told]:
    job = jobs.get((key.namespace, key.name))
    if job is None:
        return
    if job.kind == "Pod" and len(_started_of(job, key, jobs)) > 1:
        few = f"'{key.name}' group has fewer runnable pods than expected"
        yield Told(job, "ErrWorkloadCompose", few, _queues_of(job), True, newer=True)
    said = f"Created Workload: {key.namespace}/{key.name}"
    yield Told(job, "CreatedWorkload", said, _queues_of(job), newer=job.kind == "Pod")
    if job.kind == "Job":
        yield Told(job, "Suspended", "Job suspended", JOB_CONTROLLER)


def _admitted(event: Event, key: Key, jobs: Jobs, past: Past) -> Iterator[Told]:
    queue = (event.data or {}).get("queue", "")
    if not past.reserves:
        said = event.message or f"Quota reserved in ClusterQueue {queue}"
        yield Told(key, "QuotaReserved", said, _ADMISSION)
    yield Told(key, "Admitted", f"Admitted by ClusterQueue {queue}", _ADMISSION)
    job = jobs.get((key.namespace, key.name))
    if job is None:
        return
    for each in _started_of(job, key, jobs):
        said = f"Admitted by clusterQueue {queue}"
        yield Told(each, "Started", said, _queues_of(each), newer=each.kind == "Pod")
    if job.kind == "Job":
        yield Told(job, "Resumed", "Job resumed", JOB_CONTROLLER)


def _started_of(job: Key, workload: Key, jobs: Jobs) -> list[Key]:
    """Return of whom it is told that it was started, or stopped: a set's pods, a job."""
    if job.kind not in ("StatefulSet", "LeaderWorkerSet", "Pod"):
        return [job]
    pods = (
        Key("Pod", place[0], place[1].removeprefix("Pod/"))
        for place, of in jobs.items()
        if place[1].startswith("Pod/") and of in (job, workload)
    )
    return sorted(pods) or [job]


def _reserved(event: Event, key: Key, _: Jobs, __: Past) -> Iterator[Told]:
    yield Told(key, "QuotaReserved", event.message, _ADMISSION)


def _waits(event: Event, key: Key, _: Jobs, __: Past) -> Iterator[Told]:
    if _UNTOLD.match(event.message) or (event.data or {}).get("in_series"):
        return  # a condition says it; no attempt was made, or it is told at the next
    if event.message.startswith(_GATED):
        yield Told(key, "AdmissionGated", f"Workload a{event.message[1:]}", _ADMISSION)
        return
    yield Told(key, "Pending", event.message, _ADMISSION, warning=True)


_GATED = "Admission is gated by: "
#: Why a Workload is in no queue. Of these no component writes an event.
_UNTOLD = re.compile(
    r"(Cluster|Local)Queue \S+ (is inactive|doesn't exist)|The workload is deactivated"
    r"|waiting for all admitted workloads"
)


def _preempted(event: Event, key: Key, jobs: Jobs, past: Past) -> Iterator[Told]:
    said = event.message or "Preempted"
    ranked = ""
    if past.priorities is not None:
        ranked = "".join(
            f"; {who} effective priority: {one} (base: {one}, boost: 0)"
            for who, one in zip(
                ("preemptor", "preemptee"), past.priorities, strict=True
            )
        )
    yield Told(key, "Preempted", said + ranked, _ADMISSION)
    if (by := _key(event.by)) is not None:
        queue = said.rpartition("/")[2]
        what = f"Preempted workload {key.namespace}/{key.name} (UID: {past.uid})"
        what = f"{what} in ClusterQueue {queue}{ranked}"
        yield Told(by, "PreemptedWorkload", what, _ADMISSION)
    yield from _stopped(key, "Preempted", said, jobs, past)


def _key(subject: str) -> Key | None:
    parts = subject.split("/", 2)
    return Key(*parts) if len(parts) == 3 else None


def _evicted(event: Event, key: Key, jobs: Jobs, past: Past) -> Iterator[Told]:
    if event.reason == "Deactivated" and not (past.runs or past.reserves):
        return  # it held no quota
    yield from _stopped(key, event.reason, event.message or "Evicted", jobs, past)


def _stopped(
    key: Key, reason: str, said: str, jobs: Jobs, past: Past
) -> Iterator[Told]:
    """Yield what is told of an eviction, and of the job that it stops."""
    yield Told(key, f"EvictedDueTo{reason}", said, _ADMISSION)
    yield from _stopped_job(key, said, jobs, past)


def _stopped_job(key: Key, said: str, jobs: Jobs, past: Past) -> Iterator[Told]:
    job = jobs.get((key.namespace, key.name))
    if job is None or not past.runs:
        return
    for each in _started_of(job, key, jobs):
        yield Told(each, "Stopped", said, _queues_of(each), newer=each.kind == "Pod")
    if job.kind == "Job":
        yield Told(job, "Suspended", "Job suspended", JOB_CONTROLLER)
        for pod in past.pods:
            yield Told(job, "SuccessfulDelete", f"Deleted pod: {pod}", JOB_CONTROLLER)


def _edited(event: Event, key: Key, jobs: Jobs, past: Past) -> Iterator[Told]:
    if event.reason == "Delete":
        yield from _stopped_job(key, "Workload is deleted", jobs, past)


def _job_edited(event: Event, key: Key, jobs: Jobs, past: Past) -> Iterator[Told]:
    change = _suspended(event)
    owned = (name for (_, name), job in jobs.items() if job == key)
    if change == RESUMES:
        yield Told(key, "Resumed", "Job resumed", JOB_CONTROLLER)
        if not past.runs and not all(name.startswith("Pod/") for name in owned):
            said = "Not admitted by cluster queue"
            yield Told(key, "Stopped", said, _queues_of(key))
    if past.pods and change == SUSPENDS:
        yield Told(key, "Suspended", "Job suspended", JOB_CONTROLLER)
        for pod in past.pods:
            said = f"Deleted pod: {pod}"
            yield Told(key, "SuccessfulDelete", said, JOB_CONTROLLER)


def _changed(event: Event, key: Key, jobs: Jobs, past: Past) -> Iterator[Told]:
    """Yield what Kueue tells of a Workload that it brought in line with its job."""
    job, place = jobs.get((key.namespace, key.name)), f"{key.namespace}/{key.name}"
    if event.reason == "GateCleared":
        cleared = "Admission gate cleared, workload is now admissible"
        yield Told(key, "AdmissionGateCleared", cleared, _ADMISSION)
    if job is None:
        return
    if event.reason == "Replaced":
        yield from _stopped_job(key, _NO_MATCH, jobs, past)
    reason, said = _CHANGES[event.reason]
    said = said.format(place=place, words=event.message)
    for each in _started_of(job, key, jobs) if job.kind == "Pod" else [job]:
        yield Told(each, reason, said, _queues_of(each), newer=each.kind == "Pod")


_NO_MATCH = (
    "No matching Workload; restoring pod templates according to existent Workload"
)
_UPDATED = "UpdatedWorkload"
#: What the controller of a job says of a change of its Workload.
_CHANGES = {
    "Checks": ("UpdatedAdmissionCheck", "{words}"),
    "GateCleared": (_UPDATED, 'Updated workload AdmissionGatedBy to ""'),
    "PodSets": (_UPDATED, "Updated not matching Workload for suspended job: {place}"),
    "PriorityClass": (_UPDATED, "Updated workload priority class: {place}"),
    "Replaced": ("DeletedWorkload", "Deleted not matching Workload: {place}"),
}


def _finished(event: Event, key: Key, jobs: Jobs, _: Past) -> Iterator[Told]:
    if event.reason == SLICE_REPLACED:
        yield Told(key, event.reason, event.message, _ADMISSION)
        return
    job = jobs.get((key.namespace, key.name))
    if job is not None:
        said = f"Workload '{key.namespace}/{key.name}' is declared finished"
        yield Told(
            job, "FinishedWorkload", said, _queues_of(job), newer=job.kind == "Pod"
        )
        if job.kind == "Job":
            yield from _finished_job(event, job, jobs, _)


def _finished_job(event: Event, key: Key, _: Jobs, __: Past) -> Iterator[Told]:
    if event.reason != "Failed":
        yield Told(key, "Completed", "Job completed", JOB_CONTROLLER)
        return
    said = event.message or BACKOFF_LIMIT_SENTENCE
    reason = _WHY_FAILED.get(said, POD_FAILURE_POLICY)
    yield Told(key, reason, said, JOB_CONTROLLER, warning=True)


#: What a Job says of its failure, by its sentence; a rule of its own has others.
_WHY_FAILED = {
    BACKOFF_LIMIT_SENTENCE: BACKOFF_LIMIT,
    OVERRAN: "DeadlineExceeded",
    FAILED_INDEXES_SENTENCE: FAILED_INDEXES,
    MAX_FAILED_INDEXES_SENTENCE: MAX_FAILED_INDEXES,
}


def _deactivated(event: Event, key: Key, jobs: Jobs, past: Past) -> Iterator[Told]:
    if event.reason == REQUEUING_LIMIT_EXCEEDED:
        return  # the eviction alone is told
    if event.reason == MAXIMUM_EXECUTION_TIME_EXCEEDED and past.seconds is not None:
        said = f"The maximum execution time ({past.seconds}s) exceeded"
        yield Told(key, event.reason, said, _ADMISSION, warning=True)
        return
    if event.reason == "AdmissionCheck":
        said = f"Deactivated due to {event.message}"
        yield Told(key, "AdmissionCheckRejected", said, _ADMISSION, warning=True)
    else:
        yield from _as_ours(event, key, jobs, past)


def _bound(event: Event, key: Key, _: Jobs, __: Past) -> Iterator[Told]:
    node = (event.data or {}).get("node", "")
    said = f"Successfully assigned {key.namespace}/{key.name} to {node}"
    yield Told(key, "Scheduled", said, _SCHEDULER, newer=True)


def _failed(event: Event, key: Key, _: Jobs, __: Past) -> Iterator[Told]:
    said = unscheduled(event.message or event.reason)
    reason = "FailedScheduling"
    yield Told(key, reason, said, _SCHEDULER, warning=True, newer=True)


def _not_made(event: Event, key: Key, jobs: Jobs, past: Past) -> Iterator[Told]:
    if event.reason != "FailedCreate":
        yield from _as_ours(event, key, jobs, past)
    elif key.kind in MAKERS:
        yield Told(key, event.reason, event.message, MAKERS[key.kind], warning=True)


def _as_ours(event: Event, key: Key, _: Jobs, __: Past) -> Iterator[Told]:
    reason = event.reason or event.type
    yield Told(key, reason, event.message or reason, "quotalab", warning=True)


#: (type, kind; "" is any) -> who tells of it. The rest is ours alone.
_TELLERS: dict[tuple[str, str], Callable[[Event, Key, Jobs, Past], Iterator[Told]]] = {
    ("Admit", "Workload"): _admitted,
    ("Arrive", "Workload"): _arrived,
    ("Bind", "Pod"): _bound,
    (CHANGED, "Workload"): _changed,
    ("Deactivate", "Workload"): _deactivated,
    ("Deactivate", ""): _as_ours,
    ("Edit", "Job"): _job_edited,
    ("Edit", "Workload"): _edited,
    ("Evict", "Workload"): _evicted,
    ("Evict", ""): _as_ours,
    ("Fail", "Pod"): _failed,
    ("Fail", ""): _not_made,
    ("Finish", "Job"): _finished_job,
    ("Finish", "Workload"): _finished,
    ("Preempt", "Workload"): _preempted,
    ("Preempt", ""): _as_ours,
    ("ReserveQuota", "Workload"): _reserved,
    ("Wait", "Workload"): _waits,
}


def _queues_of(job: Key) -> str:
    """Return the controller of Kueue that looks after jobs of a kind."""
    group = BY_KIND[job.kind].group if job.kind in BY_KIND else ""
    name = f"{group}/{job.kind.lower()}" if group else job.kind.lower()
    return f"{name}-kueue-controller"


def _document(
    event: Event, told: Told, number: int, epoch_us: int, uids: Mapping[Key, str]
) -> dict[str, Any]:
    at = _stamp(epoch_us + event.t_ms * 1000)
    data = event.data or {}
    first_ms = data.get("first_ms")
    first = _stamp(epoch_us + (event.t_ms if first_ms is None else first_ms) * 1000)
    named = f"{event.revision:x}{event.seq:03x}{number:03x}"
    times = int(data.get("count", data.get("times", 1)))
    return _written(told, named, (first, at), times, uids, event.revision)


def _written(
    told: Told,
    named: str,
    moments: tuple[Any, Any],
    times: int,
    uids: Mapping[Key, str],
    revision: int,
) -> dict[str, Any]:
    """Return an event as its component writes it; `moments` are its first and its last."""
    key, entry, (first, at) = told.about, BY_KIND[told.about.kind], moments
    about = {
        "kind": key.kind,
        "name": key.name,
        "uid": uids.get(key, ""),
        "apiVersion": entry.api_version,
        **({"namespace": key.namespace} if key.namespace else {}),
    }
    made = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{key.name}.{named}",
            "namespace": key.namespace or "default",
            "creationTimestamp": at,
            "resourceVersion": str(revision),
        },
        "involvedObject": about,
        "type": "Warning" if told.warning else "Normal",
        "reason": told.reason,
        "message": told.message,
        "source": {} if told.newer else {"component": told.component},
        "reportingComponent": told.component,
        "reportingInstance": "",
        "firstTimestamp": first,
        "lastTimestamp": at,
        "count": times,
    }
    if told.newer:
        made |= {"eventTime": f"{first[:-1]}.000000Z", "action": "Binding"}
    return made


def _stamp(at_us: int) -> str:
    """Return a time in whole seconds, as events have them."""
    return durations.stamp_text(at_us // 1_000_000 * 1_000_000)
