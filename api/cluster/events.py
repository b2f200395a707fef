"""What happened as core v1 Events, as the components of a cluster write them.

One event of ours may be several of theirs: that a Workload is admitted is said of it by
Kueue, and of its job by the job's controller. What has no counterpart in a cluster is
left to `/events`, which has all of it.

Source: docs/semantics/kueue-lifecycle.md, and the events that a control plane wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from api.cluster import rollouts
from api.cluster.controlled import Owners, owner_of, replica_set, shown
from api.cluster.presenting import whole_seconds
from api.cluster.statuses import unscheduled
from sandbox.models import Event, Sandbox, table_of
from sandbox.world import history
from sandbox.world.worlds import policy_of
from scheduler.input.manifests.kinds import BY_KIND
from scheduler.model import durations
from scheduler.model.amounts import is_whole
from scheduler.model.objects import Key

#: (namespace, name) -> metadata.
Metadata = dict[tuple[str, str], dict[str, Any]]
#: The newest that are shown, as the real ones are forgotten after an hour.
MOST_EVENTS = 1000
_ADMISSION = "kueue-admission"
_SCHEDULER = "default-scheduler"
_JOBS = "job-controller"
_SCHEDULES = "cronjob-controller"
#: On a Job that the controller of CronJobs made: for which time.
_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_SETS = "replicaset-controller"
_DEPLOYMENTS = "deployment-controller"
#: Kinds whose controllers make pods and say so.
_MAKERS = {
    "DaemonSet": "daemonset-controller",
    "Job": _JOBS,
    "ReplicaSet": _SETS,
    "StatefulSet": "statefulset-controller",
}


Jobs = Mapping[tuple[str, str], Key]


class Told(NamedTuple):
    """One event as a component writes it."""

    about: Key
    reason: str
    message: str
    component: str
    warning: bool = False
    newer: bool = False  # written by events.k8s.io: no source, a reporting component


def documents(sandbox: Sandbox, namespace: str) -> list[dict[str, Any]]:
    """Return the newest events about objects of a namespace ("" = all), oldest first.

    Equal failures of an object are one event: the last, with count and first time.
    Source: docs/semantics/kube-scheduler.md#repeated-events.
    """
    start = policy_of(sandbox)["spec"]["simulation"]["startTime"]
    epoch_us = durations.stamp_us(start)
    found = history.newest_events(sandbox, sandbox.revision, MOST_EVENTS)
    kept = list(_without_repeats(found))
    pods = _pods(sandbox, kept)
    jobs = _jobs(sandbox, kept, pods)
    sets = _replica_sets(sandbox, jobs)
    scaled = list(_scaled(kept, jobs, sets))
    waits = _waits_of(kept)
    told = [
        (event, n, _timed(one, wait))
        for event, more, wait in zip(kept, scaled, waits, strict=True)
        for n, one in enumerate([*_told(event, jobs), *more])
    ]
    if namespace:
        told = [
            one for one in told if (one[2].about.namespace or "default") == namespace
        ]
    uids = _uids(sandbox, {one.about for _, _, one in told})
    uids |= {one.key: one.uid for one in sets.values()}
    names = _shown_names(sandbox, pods)
    made = [
        _renamed(_document(event, one, n, epoch_us, uids), event, names)
        for event, n, one in told
    ]
    scheduled = list(_of_cron_jobs(sandbox, namespace))
    return sorted([*made, *scheduled], key=_moment) if scheduled else made


#: Seconds, or None where the event that they count from is not among the newest.
Wait = int | None


def _waits_of(events: list[Event]) -> Iterator[tuple[Wait, Wait]]:
    """Yield for each event the seconds since its Workload was queued, and had quota."""
    queued: dict[str, int] = {}
    reserved: dict[str, int] = {}
    for event in events:
        subject, at = event.subject, event.t_ms
        if event.type in ("Arrive", "Evict"):
            queued[subject] = at
            reserved.pop(subject, None)
        elif event.type == "ReserveQuota":
            reserved[subject] = at
        yield _seconds(queued.get(subject), at), _seconds(reserved.get(subject), at)


def _seconds(since_ms: int | None, at_ms: int) -> Wait:
    return None if since_ms is None else (at_ms - since_ms) // 1000


def _timed(told: Told, waits: tuple[Wait, Wait]) -> Told:
    """Return what Kueue tells of quota with how long that took, where that is known."""
    if told.component != _ADMISSION:
        return told
    for reason, since, seconds in (
        ("QuotaReserved", "queued", waits[0]),
        ("Admitted", "reservation", waits[1]),
    ):
        if told.reason == reason and seconds is not None:
            said = f"{told.message}, wait time since {since} was {seconds}s"
            return told._replace(message=said)
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


class Set(NamedTuple):
    """The ReplicaSet that a Deployment has now."""

    key: Key
    uid: str
    is_first: bool  # whether the Deployment never had another template


def _replica_sets(sandbox: Sandbox, jobs: Jobs) -> dict[Key, Set]:
    """Return the ReplicaSet of each Deployment that made pods of these events."""
    owners, found = Owners.stored(sandbox.pk), {}
    for job in {one for one in jobs.values() if one.kind == "Deployment"}:
        if (known := owners.get("Deployment", job.namespace, job.name)) is None:
            continue
        made = replica_set(known)["metadata"]
        key = Key("ReplicaSet", job.namespace, made["name"])
        number = rollouts.number_of(known.manifest["metadata"])
        found[job] = Set(key, str(made.get("uid") or ""), number == 1)
    return found


def _scaled(
    events: list[Event], jobs: Jobs, sets: Mapping[Key, Set]
) -> Iterator[list[Told]]:
    """Yield for each event what a Deployment and its ReplicaSet tell of a new pod.

    Pods that start at one moment were made by one step of the Deployment. Of later
    templates only the pods are told of: which step made them is not known.
    """
    made: dict[tuple[Key, int], int] = {}
    owners = [_deployment_of(event, jobs) for event in events]
    for event, owner in zip(events, owners, strict=True):
        if owner is not None and owner in sets:
            made[owner, event.t_ms] = made.get((owner, event.t_ms), 0) + 1
    count: dict[Key, int] = {}
    said: set[tuple[Key, int]] = set()
    for event, owner in zip(events, owners, strict=True):
        if owner is None or (own := sets.get(owner)) is None:
            yield []
            continue
        name = event.subject.rpartition("/")[2]
        told = [Told(own.key, "SuccessfulCreate", f"Created pod: {name}", _SETS)]
        if own.is_first and (owner, event.t_ms) not in said:
            said.add((owner, event.t_ms))
            before = count.get(owner, 0)
            after = count[owner] = before + made[owner, event.t_ms]
            text = f"Scaled up replica set {own.key.name} from {before} to {after}"
            told.insert(0, Told(owner, "ScalingReplicaSet", text, _DEPLOYMENTS))
        yield told


def _deployment_of(event: Event, jobs: Jobs) -> Key | None:
    """Return the Deployment whose pod an event binds."""
    kind, namespace, name = [*event.subject.split("/", 2), "", ""][:3]
    if (event.type, kind) != ("Bind", "Pod"):
        return None
    job = jobs.get((namespace, f"Pod/{name}"))
    return job if job is not None and job.kind == "Deployment" else None


def _shown_names(sandbox: Sandbox, pods: Metadata) -> dict[str, tuple[str, str]]:
    """Return (the name that is kept, the name that is shown) of the pods of events."""
    owners = Owners.stored(sandbox.pk)
    owners.prepare({"metadata": one} for one in pods.values())
    found = {}
    for (namespace, name), metadata in pods.items():
        made = shown({"kind": "Pod", "metadata": metadata}, owners)
        if made["metadata"]["name"] != name:
            found[f"Pod/{namespace}/{name}"] = name, made["metadata"]["name"]
    return found


def _renamed(
    document: dict[str, Any], event: Event, names: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    """Name a pod in its event as clients know it."""
    if (names_ := names.get(event.subject)) is None:
        return document
    kept, named = names_
    about, metadata = document["involvedObject"], document["metadata"]
    if about["name"] == kept:
        about["name"] = named
        metadata["name"] = named + metadata["name"].removeprefix(kept)
    for part in ("pod: ", "/"):
        document["message"] = document["message"].replace(part + kept, part + named)
    return document


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


def _told(event: Event, jobs: Jobs) -> Iterator[Told]:
    """Yield what components tell of one of our events."""
    kind, _, rest = event.subject.partition("/")
    namespace, _, name = rest.partition("/")
    entry = BY_KIND.get(kind)
    teller = _TELLERS.get((event.type, kind)) or _TELLERS.get((event.type, ""))
    if entry is None or not entry.plural or teller is None:
        return
    yield from teller(event, Key(kind, namespace, name), jobs)


def _arrived(event: Event, key: Key, jobs: Jobs) -> Iterator[Told]:
    job = jobs.get((key.namespace, key.name))
    if job is None:
        return
    said = f"Created Workload: {key.namespace}/{key.name}"
    yield Told(job, "CreatedWorkload", said, _queues_of(job), newer=job.kind == "Pod")
    if job.kind == "Job":
        yield Told(job, "Suspended", "Job suspended", _JOBS)


def _admitted(event: Event, key: Key, jobs: Jobs) -> Iterator[Told]:
    queue = (event.data or {}).get("queue", "")
    said = event.message or f"Quota reserved in ClusterQueue {queue}"
    yield Told(key, "QuotaReserved", said, _ADMISSION)
    yield Told(key, "Admitted", f"Admitted by ClusterQueue {queue}", _ADMISSION)
    job = jobs.get((key.namespace, key.name))
    if job is None:
        return
    yield Told(
        job,
        "Started",
        f"Admitted by clusterQueue {queue}",
        _queues_of(job),
        newer=job.kind == "Pod",
    )
    if job.kind == "Job":
        yield Told(job, "Resumed", "Job resumed", _JOBS)


def _reserved(event: Event, key: Key, _: Jobs) -> Iterator[Told]:
    yield Told(key, "QuotaReserved", event.message, _ADMISSION)


def _waits(event: Event, key: Key, _: Jobs) -> Iterator[Told]:
    yield Told(key, "Pending", event.message, _ADMISSION, warning=True)


def _preempted(event: Event, key: Key, _: Jobs) -> Iterator[Told]:
    yield Told(key, "Preempted", event.message or "Preempted", _ADMISSION)


def _evicted(event: Event, key: Key, jobs: Jobs) -> Iterator[Told]:
    said = event.message or "Evicted"
    yield Told(key, f"EvictedDueTo{event.reason}", said, _ADMISSION)
    job = jobs.get((key.namespace, key.name))
    if job is not None:
        yield Told(job, "Stopped", said, _queues_of(job), newer=job.kind == "Pod")
        if job.kind == "Job":
            yield Told(job, "Suspended", "Job suspended", _JOBS)


def _finished(event: Event, key: Key, jobs: Jobs) -> Iterator[Told]:
    job = jobs.get((key.namespace, key.name))
    if job is not None:
        said = f"Workload '{key.namespace}/{key.name}' is declared finished"
        yield Told(
            job, "FinishedWorkload", said, _queues_of(job), newer=job.kind == "Pod"
        )
        if job.kind == "Job" and event.reason != "Failed":
            yield Told(job, "Completed", "Job completed", _JOBS)


def _finished_job(event: Event, key: Key, _: Jobs) -> Iterator[Told]:
    if event.reason != "Failed":
        yield Told(key, "Completed", "Job completed", _JOBS)


def _bound(event: Event, key: Key, jobs: Jobs) -> Iterator[Told]:
    node = (event.data or {}).get("node", "")
    said = f"Successfully assigned {key.namespace}/{key.name} to {node}"
    yield Told(key, "Scheduled", said, _SCHEDULER, newer=True)
    owner = jobs.get((key.namespace, f"Pod/{key.name}"))
    if owner is not None and owner.kind in _MAKERS:
        said = f"Created pod: {key.name}"
        if owner.kind == "StatefulSet":
            number = key.name.rpartition("-")[2]
            place = f"Pod {owner.name}-{number} in StatefulSet {owner.name}"
            said = f"Create {place} successful"
        yield Told(owner, "SuccessfulCreate", said, _MAKERS[owner.kind])


def _failed(event: Event, key: Key, _: Jobs) -> Iterator[Told]:
    said = unscheduled(event.message or event.reason)
    reason = "FailedScheduling"
    yield Told(key, reason, said, _SCHEDULER, warning=True, newer=True)


def _not_made(event: Event, key: Key, jobs: Jobs) -> Iterator[Told]:
    if event.reason != "FailedCreate":
        yield from _as_ours(event, key, jobs)
    elif key.kind in _MAKERS:
        yield Told(key, event.reason, event.message, _MAKERS[key.kind], warning=True)


def _as_ours(event: Event, key: Key, _: Jobs) -> Iterator[Told]:
    reason = event.reason or event.type
    yield Told(key, reason, event.message or reason, "quotalab", warning=True)


#: (type, kind; "" is any) -> who tells of it. The rest is ours alone.
_TELLERS: dict[tuple[str, str], Callable[[Event, Key, Jobs], Iterator[Told]]] = {
    ("Admit", "Workload"): _admitted,
    ("Arrive", "Workload"): _arrived,
    ("Bind", "Pod"): _bound,
    ("Deactivate", ""): _as_ours,
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


def _pods(sandbox: Sandbox, events: list[Event]) -> Metadata:
    """Return the metadata of the pods of events; of those that are gone, the owner."""
    names = _named(events, "Pod")
    found: Metadata = {}
    rows = table_of("Pod")._default_manager.filter(sandbox_id=sandbox.pk, kind="Pod")
    for row in rows.filter(name__in=names).only("namespace", "name", "manifest"):
        found[row.namespace, row.name] = row.manifest["metadata"]
    gone = {
        (namespace, name)
        for kind, namespace, name in (e.subject.split("/", 2) for e in events)
        if kind == "Pod" and (namespace, name) not in found
    }
    above = {name: list(_heads(name)) for _, name in gone}
    heads = {head for some in above.values() for head in some}
    for kind in ("Job", "Workload"):
        owners = table_of(kind)._default_manager.filter(
            sandbox_id=sandbox.pk, kind=kind, name__in=heads
        )
        known = {
            (namespace, name): uid
            for namespace, name, uid in owners.values_list("namespace", "name", "uid")
        }
        for namespace, name in gone:
            for head in above[name]:
                if (namespace, head) in known:
                    owner = {"kind": kind, "name": head, "controller": True}
                    owner["uid"] = known[namespace, head]
                    metadata = {"name": name, "namespace": namespace}
                    found[namespace, name] = {**metadata, "ownerReferences": [owner]}
                    break
    return found


def _heads(name: str) -> Iterator[str]:
    """Yield what may be the owner of a pod named `owner-podset-number`."""
    head, _, number = name.rpartition("-")
    if is_whole(number):
        while head := head.rpartition("-")[0]:
            yield head


def _jobs(
    sandbox: Sandbox, events: list[Event], metadata: Metadata
) -> dict[tuple[str, str], Key]:
    """Return the job of each Workload, and of each pod of one, by (namespace, name)."""
    found: dict[tuple[str, str], Key] = {}
    workloads = _owners_of(sandbox, "Workload", _named(events, "Workload"))
    pods = {place: owner for place, one in metadata.items() if (owner := owner_of(one))}
    others = {(n, o["name"]) for (n, _), o in pods.items() if o["kind"] == "Workload"}
    workloads |= _owners_of(sandbox, "Workload", {name for _, name in others})
    for (namespace, name), owner in workloads.items():
        found[namespace, name] = Key(owner["kind"], namespace, owner["name"])
    for (namespace, name), owner in pods.items():
        if owner["kind"] == "Workload":
            job = found.get((namespace, owner["name"]))
        else:
            job = Key(owner["kind"], namespace, owner["name"])
        if job is not None:
            found[namespace, f"Pod/{name}"] = job
    return found


def _named(events: list[Event], kind: str) -> set[str]:
    head = f"{kind}/"
    return {
        event.subject.rpartition("/")[2]
        for event in events
        if event.subject.startswith(head)
    }


def _owners_of(
    sandbox: Sandbox, kind: str, names: set[str]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the controlling owner of each object of these names, where it has one."""
    rows = table_of(kind)._default_manager.filter(sandbox_id=sandbox.pk, kind=kind)
    found = {}
    for row in rows.filter(name__in=names).only("namespace", "name", "manifest"):
        for owner in row.manifest["metadata"].get("ownerReferences") or ():
            if owner.get("controller"):
                found[row.namespace, row.name] = owner
    return found


def _uids(sandbox: Sandbox, keys: set[Key]) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for kind in {key.kind for key in keys}:
        names = {key.name for key in keys if key.kind == kind}
        rows = table_of(kind)._default_manager.filter(sandbox_id=sandbox.pk, kind=kind)
        for namespace, name, uid in rows.filter(name__in=names).values_list(
            "namespace", "name", "uid"
        ):
            found[Key(kind, namespace, name)] = uid
    return found


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
