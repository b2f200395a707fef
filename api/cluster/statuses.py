"""Statuses as kubelets and controllers write them, from what the simulation keeps.

It keeps what decides: the phase of a pod, the counts of a Job, the verdict on a
Workload. Clients read more, which follows from that: the state of containers, the
class of service, the conditions that go together, when they came to be. Nothing of
this is kept. Times that the simulation does not keep are those of the creation, of
the start or of the admission; an address is drawn from the uid, as there is no network.

Source: <https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/>,
docs/semantics/kueue-lifecycle.md
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from api.cluster.checks.replicated import selects
from api.cluster.controlled import Known, Owners, owner_of, replica_set
from sandbox.models import StoredObject, table_of
from scheduler.model.amounts import parse, text_of
from scheduler.model.annotations import READY_AFTER
from scheduler.model.errors import SchedulerError
from scheduler.model.pod import template_hash
from scheduler.model.podset_template import pod_requests
from scheduler.model.reasons import has_ended, is_true
from scheduler.model.releases.release import COARSE

Document = dict[str, Any]
_COMPUTE = ("cpu", "memory")
#: Reasons that Kueue 0.19 gives by a feature gate that is off.
_UNSAID = frozenset(
    {
        "ExceedsMaxQuota",
        "NoMatchingFlavor",
        "PendingEvaluation",
        "TopologyPlacementFailed",
        "WaitingForPodsReady",
        "WaitingForPreemptedWorkloads",
        "WaitingForQuota",
    }
)
#: On a Workload: the uid of the job that it is of.
JOB_UID = "kueue.x-k8s.io/job-uid"
_NOT_READY = "Not all pods are ready or succeeded"
_GATED = "Scheduling is blocked due to non-empty scheduling gates"
_NO_CLAIMS = "no new claims to deallocate"
_READY = "All pods reached readiness and the workload is running"


def filled(document: Document, owners: Owners) -> Document:
    """Return an object with its status as its controller writes it; the given one stays."""
    fill = _FILLS.get(document.get("kind", ""))
    status = document.get("status")
    if fill is None or (not status and document["kind"] not in _ALWAYS):
        return document
    found = fill(document, dict(status or {}), owners)
    return {**document, "status": found} if found or status else document


def _since(document: Document) -> Any:
    return document["metadata"].get("creationTimestamp")


def _pod(document: Document, status: Document, _: Owners) -> Document:
    spec = document.get("spec") or {}
    status.setdefault("phase", "Pending")
    if status["phase"] == "Pending" and spec.get("nodeName") and _is_slow(document):
        status["phase"] = "Running"
    status.setdefault("qosClass", _service_class(spec))
    at = status.get("startTime") or _since(document)
    given = [dict(one) for one in status.get("conditions") or ()]
    for one in given:
        if one.get("lastTransitionTime") is None:
            one["lastTransitionTime"] = at
        if one.get("reason") == "SchedulingGated":
            one["message"] = _GATED
        if one.get("reason") == "Unschedulable" and one.get("message"):
            one["observedGeneration"] = document["metadata"].get("generation", 1)
            one["message"] = unscheduled(one["message"])
    status["conditions"] = given
    if not given:
        del status["conditions"]
    if status["phase"] == "Pending" or not spec.get("nodeName"):
        return status
    ended = status["phase"] in ("Failed", "Succeeded")
    known = {one["type"]: one for one in given}
    ready = known.get("Ready") or {"type": "Ready", "status": "False"}
    ready.setdefault("lastTransitionTime", at)
    first = [
        {"type": "Initialized", "status": "True", "lastTransitionTime": at},
        ready,
        {**ready, "type": "ContainersReady"},
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": at},
    ]
    first = [known.get(one["type"], one) for one in first]
    names = {one["type"] for one in first}
    status["conditions"] = [*first, *(c for c in given if c["type"] not in names)]
    if "containerStatuses" not in status:
        is_ready = ready["status"] == "True" and not ended
        status["containerStatuses"] = [
            _container(one, status["phase"], at, ready=is_ready)
            for one in spec.get("containers") or ()
        ]
    status.setdefault("startTime", at)
    if "podIP" not in status and document["metadata"].get("uid"):
        status["podIP"] = _address(str(document["metadata"]["uid"]))
        status["podIPs"] = [{"ip": status["podIP"]}]
    return status


def _is_slow(pod: Document) -> bool:
    """Return whether the containers of a pod run for a while before it is ready."""
    return READY_AFTER in (pod["metadata"].get("annotations") or {})


def unscheduled(said: str) -> str:
    """Return why no node takes a pod, as kube-scheduler 1.36 writes it.

    It asks the plug-in of dynamic resources for claims to give up before it preempts.
    """
    return said.replace(". preemption: ", f". {_NO_CLAIMS}, preemption: ", 1)


def _container(given: Document, phase: str, at: Any, *, ready: bool) -> Document:
    state: Document = {"running": {"startedAt": at}}
    if phase != "Running":
        failed = phase == "Failed"
        state = {
            "terminated": {
                "exitCode": int(failed),
                "finishedAt": at,
                "reason": "Error" if failed else "Completed",
                "startedAt": at,
            }
        }
    return {
        "image": given.get("image", ""),
        "imageID": "",
        "lastState": {},
        "name": given.get("name", ""),
        "ready": ready,
        "restartCount": 0,
        "state": state,
    }


def _address(uid: str) -> str:
    try:
        number = int(uid[-8:], 16)
    except ValueError:
        return "10.0.0.1"
    return f"10.{number >> 16 & 127}.{number >> 8 & 255}.{number % 254 + 1}"


def _service_class(spec: Document) -> str:
    """Return the class of service of a pod.

    Source: <https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/>
    """
    some, equal = False, True
    for part in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        given = part.get("resources")
        limits = given.get("limits") if given else None
        requests = (given.get("requests") if given else None) or {}
        some = some or "cpu" in requests or "memory" in requests
        if not limits:
            equal = False
            continue
        for name in _COMPUTE:
            most = limits.get(name)
            some = some or most is not None
            equal = equal and most is not None and _same(requests.get(name, most), most)
    if not some:
        return "BestEffort"
    return "Guaranteed" if equal else "Burstable"


def _same(one: Any, other: Any) -> bool:
    try:
        return parse(one) == parse(other)
    except SchedulerError:
        return False


def _job(document: Document, status: Document, _: Owners) -> Document:
    at, started = _since(document), status.get("startTime")
    ended = status.get("completionTime")
    conditions = []
    for one in status.get("conditions") or ():
        if one.get("type") == "Suspended":
            moment = at if one.get("status") == "True" else started or at
        else:
            moment = ended or started or at
        given = {n: v for n, v in one.items() if v is not None}
        times = {"lastProbeTime": moment, "lastTransitionTime": moment}
        conditions.append({**times, **given})
    if conditions:
        status["conditions"] = conditions
    for name in ("active", "succeeded", "failed"):
        if status.get(name) == 0:
            del status[name]
    for name, zero in (("ready", 0), ("terminating", 0)):
        status.setdefault(name, zero)
    status.setdefault("uncountedTerminatedPods", {})
    return status


def _workload(document: Document, status: Document, owners: Owners) -> Document:
    conditions = []
    by_release = _reserved(status).get("reason") in COARSE  # in its words already
    for one in status.get("conditions") or ():
        unsaid = one.get("reason") in _UNSAID and one.get("status") == "False"
        if one.get("type") == "QuotaReserved" and unsaid:
            one = {**one, "reason": "Pending"}
        never = one.get("type") == "Admitted" and one.get("reason") == "NoReservation"
        if by_release or not never:
            conditions.append(one)
    if not _is_of_job(document["metadata"]):
        # A person made it: no controller of a job writes whether its pods are ready.
        conditions = [one for one in conditions if one.get("type") != "PodsReady"]
    types = [one.get("type") for one in conditions]
    if "PodsReady" not in types:
        made = _pods_ready(document, conditions, owners)
        if made is not None:
            heads = [
                types.index(n) for n in ("QuotaReserved", "Admitted") if n in types
            ]
            conditions.insert(max(heads, default=-1) + 1, made)
    if conditions or "conditions" in status:
        status["conditions"] = conditions
    if not status.get("admission") and "QuotaReserved" in types:
        asked = _resource_requests(document.get("spec") or {})
        if asked:
            status.setdefault("resourceRequests", asked)
    return status


def _is_of_job(metadata: Document) -> bool:
    """Return whether a Workload is of a job, be that there or gone."""
    labels = metadata.get("labels") or {}
    return bool(metadata.get("ownerReferences")) or JOB_UID in labels


def _reserved(status: Document) -> Document:
    """Return the condition QuotaReserved, empty where there is none."""
    conditions = status.get("conditions") or ()
    return next((c for c in conditions if c.get("type") == "QuotaReserved"), {})


def _pods_ready(
    document: Document, conditions: list[Document], owners: Owners
) -> Document | None:
    """Return the condition that tells whether the pods of a Workload are ready.

    One that a person made has none: no controller writes it. None has it where Kueue
    does not wait for pods.
    """
    owners_given = document["metadata"].get("ownerReferences")
    if not owners_given or not owners.waits_for_pods:
        return None
    job = owner_of(document["metadata"])
    admitted = next((c for c in conditions if c.get("type") == "Admitted"), {})
    starts, ready = admitted.get("status") == "True", False
    if starts:
        if job is None or job["kind"] != "Job":
            return None
        found = owners.get("Job", document["metadata"]["namespace"], job["name"])
        ready = found is not None and _is_ready(found)
    by = admitted or (conditions[0] if conditions else {})
    since = by.get("lastTransitionTime")
    return {
        "lastTransitionTime": since or document["metadata"].get("creationTimestamp"),
        "message": _READY if ready else _NOT_READY,
        "observedGeneration": document["metadata"].get("generation", 1),
        "reason": "Started" if ready else "WaitForStart",
        "status": "True" if ready else "False",
        "type": "PodsReady",
    }


def _is_ready(job: Known) -> bool:
    spec, status = job.manifest.get("spec") or {}, job.status
    wanted = int(spec.get("parallelism") or 1)
    if spec.get("completions") is not None:
        wanted = min(wanted, int(spec["completions"]))
    done = int(status.get("succeeded") or 0) + int(status.get("ready") or 0)
    return done >= wanted


def _units(name: str, value: Fraction) -> int:
    """Return an exact amount in canonical units, rounded up."""
    return math.ceil(value * 1000 if name == "cpu" else value)


def _resource_requests(spec: Document) -> list[Document]:
    """Return what the podsets of a Workload that waits ask for in all."""
    found = []
    for pod_set in spec.get("podSets") or ():
        count = int(pod_set.get("count", 1))
        asked = pod_requests((pod_set.get("template") or {}).get("spec") or {})
        amounts = {
            name: text_of(name, _units(name, value) * count)
            for name, value in sorted(asked.items())
            if value.denominator == 1 or name == "cpu"
        }
        found.append({"name": pod_set.get("name", "main"), "resources": amounts})
    return found


def _replica_set(document: Document, status: Document, _: Owners) -> Document:
    replicas = int(status.get("replicas") or 0)
    ready = int(status.get("readyReplicas") or 0)
    return {
        **_counted(
            status,
            availableReplicas=ready,
            fullyLabeledReplicas=replicas,
            readyReplicas=ready,
        ),
        "replicas": replicas,
        "terminatingReplicas": 0,
        "observedGeneration": document["metadata"].get("generation", 1),
    }


def _counted(status: Document, **counts: int) -> Document:
    """Return a status with these counts; those that are zero are not written."""
    rest = {n: v for n, v in status.items() if n not in counts}
    return {**rest, **{n: v for n, v in counts.items() if v}}


def _deployment(document: Document, status: Document, _: Owners) -> Document:
    wanted = int((document.get("spec") or {}).get("replicas", 1))
    replicas = int(status.get("replicas") or 0)
    ready = int(status.get("readyReplicas") or 0)
    replicas = replicas if wanted or ready else 0  # the last to go say nothing
    at = _since(document)
    name = replica_set(Known(document, status))["metadata"]["name"]
    unavailable = max(0, max(wanted, replicas) - ready)
    # At most a quarter, rounded down, may be away.
    enough = ready >= wanted - wanted // 4
    available = {
        "lastTransitionTime": at,
        "lastUpdateTime": at,
        "message": f"Deployment {'has' if enough else 'does not have'} minimum availability.",
        "reason": f"MinimumReplicas{'Available' if enough else 'Unavailable'}",
        "status": str(enough),
        "type": "Available",
    }
    done = ready == wanted == replicas
    progressing = {
        "lastTransitionTime": at,
        "lastUpdateTime": at,
        "message": f'ReplicaSet "{name}" has successfully progressed.'
        if done
        else f'ReplicaSet "{name}" is progressing.',
        "reason": "NewReplicaSetAvailable" if done else "ReplicaSetUpdated",
        "status": "True",
        "type": "Progressing",
    }
    status.setdefault("conditions", [available, progressing])
    return {
        **_counted(
            status,
            availableReplicas=ready,
            readyReplicas=ready,
            replicas=replicas,
            unavailableReplicas=unavailable,
            updatedReplicas=replicas,
        ),
        "terminatingReplicas": 0,
        "observedGeneration": document["metadata"].get("generation", 1),
    }


def _stateful_set(document: Document, status: Document, _: Owners) -> Document:
    replicas = int(status.get("replicas") or 0)
    ready = int(status.get("readyReplicas") or 0)
    counts = _counted(status, readyReplicas=ready)
    counts |= {"availableReplicas": ready, "replicas": replicas, "collisionCount": 0}
    counts |= {"currentReplicas": replicas, "updatedReplicas": replicas}
    template = (document.get("spec") or {}).get("template") or {}
    name = f"{document['metadata']['name']}-{template_hash(template)}"
    counts |= {"currentRevision": name, "updateRevision": name}
    counts["observedGeneration"] = document["metadata"].get("generation", 1)
    return counts


def _cron_job(document: Document, status: Document, _: Owners) -> Document:
    return {n: v for n, v in status.items() if n != "active" or v}


_ALWAYS = frozenset({"Pod", "Workload"})
_FILLS: dict[str, Callable[[Document, Document, Owners], Document]] = {
    "CronJob": _cron_job,
    "Deployment": _deployment,
    "Job": _job,
    "Pod": _pod,
    "ReplicaSet": _replica_set,
    "StatefulSet": _stateful_set,
    "Workload": _workload,
}


# ------------------------------------------------------------------------
# Statuses that are counts of pods: of DaemonSets and of disruption budgets.


def daemon_set_status(row: StoredObject) -> Document:
    """Return how many pods of a DaemonSet there are, and how many are ready."""
    owned = [
        pod
        for pod in _pods(row, name__startswith=f"{row.name}-")
        if (owner := owner_of(pod.manifest["metadata"]))
        and (owner["kind"], owner["name"]) == ("DaemonSet", row.name)
    ]
    there = len(owned)
    ready = sum(is_true(pod.status or {}, "Ready") for pod in owned)
    found = {
        "currentNumberScheduled": there,
        "desiredNumberScheduled": there,
        "numberMisscheduled": 0,
        "numberReady": ready,
        "observedGeneration": row.manifest["metadata"].get("generation", 1),
    }
    more = {
        "numberAvailable": ready,
        "numberUnavailable": there - ready,
        "updatedNumberScheduled": there,
    }
    return {**found, **{name: count for name, count in more.items() if count}}


def budget_status(row: StoredObject) -> Document:
    """Return how many pods a PodDisruptionBudget covers, and how many may go."""
    metadata, spec = row.manifest["metadata"], row.manifest.get("spec") or {}
    selector = spec.get("selector") or {}
    covered = [
        pod
        for pod in _pods(row)
        if selects(selector, pod.manifest["metadata"].get("labels") or {})
    ]
    healthy = sum(is_true(pod.status or {}, "Ready") for pod in covered)
    expected = len(covered)
    if spec.get("maxUnavailable") is not None:
        desired = max(0, expected - _share(spec["maxUnavailable"], expected))
    else:
        desired = _share(spec.get("minAvailable", 1), expected)
    allowed = max(0, healthy - desired) if expected else 0
    generation = metadata.get("generation", 1)
    condition = {
        "lastTransitionTime": metadata.get("creationTimestamp"),
        "message": "",
        "observedGeneration": generation,
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "status": str(bool(allowed)),
        "type": "DisruptionAllowed",
    }
    return {
        "conditions": [condition],
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "observedGeneration": generation,
    }


def _share(given: Any, total: int) -> int:
    """Return a number of pods, of all where it is a percentage; part pods count."""
    text = str(given)
    if match := re.fullmatch(r"([0-9]+)%", text, re.ASCII):
        return -(-int(match[1]) * total // 100)
    return int(given)


def _pods(row: StoredObject, **which: Any) -> Iterable[StoredObject]:
    """Yield the pods of an object's namespace that have not ended."""
    rows = table_of("Pod")._default_manager.filter(
        sandbox_id=row.sandbox_id, kind="Pod", namespace=row.namespace, **which
    )
    return [pod for pod in rows.iterator() if not has_ended(pod.status or {})]
