"""What a person would call the state of a cluster: no drawn name, time, uid, message.

`cluster_as_seen` reads it, of a sandbox or of a real cluster; `compared` leaves the names
of podsets out, which a cluster draws; `differences` names what is left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from scheduler.input.manifests.kinds import BY_KIND

Document = dict[str, Any]
Rows = dict[str, list[Document]]

KINDS = (
    "Workload",
    "Job",
    "Pod",
    "ClusterQueue",
    "LocalQueue",
    "ResourceFlavor",
    "Cohort",
    "AdmissionCheck",
    "Topology",
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "Node",
)
_QUEUES = ("ClusterQueue", "LocalQueue", "Cohort")
_REPLICAS = ("Deployment", "StatefulSet", "ReplicaSet")
_FINALIZED = (
    *_QUEUES,
    "ResourceFlavor",
    "Topology",
    "Workload",
    "AdmissionCheck",
    "Pod",
)
_MADE = ("Workload", "Pod", "ReplicaSet")  # named after what owns them in the end
_HASH = re.compile("[0-9a-f]{8}")  # names the podsets of a pod group


def cluster_as_seen(list_of: Callable[[str], list[Document]]) -> Rows:
    """Return what stands in a cluster, by kind and name."""
    objects = {kind: list_of(kind) for kind in KINDS}
    owners = {
        one["metadata"].get("uid"): (kind, one["metadata"])
        for kind, found in objects.items()
        for one in found
    }
    rows: Rows = {}
    for kind, found in objects.items():
        for one in found:
            name = _name(kind, one, owners)
            rows.setdefault(f"{kind} {name}", []).append(_row(kind, one))
    seen = {name: sorted(found, key=_text) for name, found in sorted(rows.items())}
    plain: Rows = json.loads(json.dumps(seen))
    return plain


def _name(kind: str, one: Document, owners: dict[str, tuple[str, Document]]) -> str:
    metadata, top = one["metadata"], None
    if kind in _MADE:
        top = _top(metadata, owners)
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    by_pod = bool(top and top.startswith("Pod/"))
    names = [pod_set["name"] for pod_set in one.get("spec", {}).get("podSets") or []]
    is_group = by_pod and any(_HASH.fullmatch(name) for name in names)
    if top is None or (by_pod and (kind == "Pod" or is_group)):
        return f"{place}{_drawn(kind, metadata)}"
    return f"{place}of {top}"


#: Labels of what a controller made: the last part of its name is drawn.
_MARKS = frozenset({"controller-uid", "kueue.x-k8s.io/job-uid", "pod-template-hash"})


def _drawn(kind: str, metadata: Document) -> str:
    """Return the name of what has no owner, less what its controller drew."""
    name = str(metadata["name"])
    if kind not in _MADE or metadata.get("ownerReferences"):
        return name
    if not _MARKS & {*(metadata.get("labels") or ())}:
        return name
    return f"{name.rpartition('-')[0]}-*"


def _top(
    metadata: Document, owners: dict[str, tuple[str, Document]], depth: int = 0
) -> str | None:
    references = metadata.get("ownerReferences") or []
    if not references or depth > 4:
        return None
    steering = [one for one in references if one.get("controller")]
    reference = (steering or references)[0]
    found = owners.get(reference.get("uid"))
    named = f"{reference['kind']}/{reference['name']}"
    if found:
        named = f"{reference['kind']}/{_drawn(found[0], found[1])}"
    if found and found[0] in ("ReplicaSet", "Workload", "Pod"):
        return _top(found[1], owners, depth + 1) or named
    return named


def _row(kind: str, one: Document) -> Document:
    metadata, spec, status = one["metadata"], one.get("spec") or {}, one.get("status")
    row: Document = {"deleting": True} if metadata.get("deletionTimestamp") else {}
    status = status or {}
    if kind == "Workload":
        row |= _workload(spec, status)
    elif kind == "Job":
        template = (spec.get("template") or {}).get("spec") or {}
        row |= {
            "suspend": spec.get("suspend", False),
            **{count: status.get(count) or 0 for count in _COUNTS},
            "conditions": _conditions(status),
            "parallelism": spec.get("parallelism"),
            "nodeSelector": template.get("nodeSelector") or None,
        }
    elif kind == "Pod":
        row |= _pod(spec, status, going=bool(row))
    elif kind in _QUEUES:
        row |= _queue(status)
    elif kind == "AdmissionCheck":
        row["conditions"] = _conditions(status)
    elif kind in _REPLICAS:
        row |= {
            "replicas": spec.get("replicas"),
            "ready": status.get("readyReplicas") or 0,
        }
    elif kind == "Node":
        taints = [
            f"{taint['key']}={taint.get('value', '')}:{taint['effect']}"
            for taint in spec.get("taints") or []
        ]
        row |= {
            "unschedulable": spec.get("unschedulable", False),
            "taints": sorted(taints) or None,
        }
    if kind in _FINALIZED:
        row["finalizers"] = sorted(metadata.get("finalizers") or []) or None
    return row


_COUNTS = ("active", "succeeded", "failed")


def _conditions(status: Document) -> Document:
    return {
        one["type"]: f"{one['status']}/{one.get('reason', '')}"
        for one in status.get("conditions") or []
    }


def _workload(spec: Document, status: Document) -> Document:
    admission = status.get("admission")
    sets = (admission or {}).get("podSetAssignments") or []
    row: Document = {
        "conditions": _conditions(status),
        "active": spec.get("active", True),
        "queue": spec.get("queueName"),
        "priority": spec.get("priority"),
        "podSets": sorted(
            (one["name"], one.get("count", 1)) for one in spec.get("podSets") or []
        ),
        "requeue": (status.get("requeueState") or {}).get("count"),
        "reclaimable": sorted(
            (one["name"], one["count"]) for one in status.get("reclaimablePods") or []
        )
        or None,
        "checks": sorted(
            (one["name"], one["state"]) for one in status.get("admissionChecks") or []
        )
        or None,
        "admission": admission
        and {
            "cq": admission["clusterQueue"],
            "podSets": [
                (
                    one["name"],
                    one.get("count"),
                    one.get("flavors"),
                    one.get("resourceUsage"),
                )
                for one in sets
            ],
        },
    }
    placed = [(one["name"], _domains(one.get("topologyAssignment"))) for one in sets]
    if any(where for _, where in placed):
        row["placed"] = [placed]
    return row


def _domains(assignment: Document | None) -> list[Any] | None:
    if not assignment:
        return None
    if given := assignment.get("domains"):
        return sorted((list(one["values"]), one["count"]) for one in given)
    found: list[Any] = []
    for part in assignment.get("slices") or []:
        size = part.get("domainCount", 1)
        columns = [
            list(_column(level, size)) for level in part.get("valuesPerLevel") or []
        ]
        counts = part.get("podCounts") or {}
        universal = counts.get("universal")
        each = counts.get("individual") or [universal] * size
        found += [
            ([column[index] for column in columns], each[index])
            for index in range(size)
        ]
    return sorted(found) or None


def _column(level: Document, size: int) -> Iterator[str]:
    if level.get("universal") is not None:
        yield from [level["universal"]] * size
        return
    given = level["individual"]
    for root in given["roots"]:
        yield f"{given.get('prefix') or ''}{root}{given.get('suffix') or ''}"


def _pod(spec: Document, status: Document, *, going: bool) -> Document:
    conditions = _conditions(status)
    return {
        "phase": "Terminating" if going else status.get("phase"),
        "bound": bool(spec.get("nodeName")),
        "gates": sorted(one["name"] for one in spec.get("schedulingGates") or [])
        or None,
        "why": {
            name: conditions[name]
            for name in ("DisruptionTarget", "PodScheduled")
            if name in conditions
        },
        "nodeSelector": spec.get("nodeSelector") or None,
        "priority": spec.get("priority"),
    }


def _queue(status: Document) -> Document:
    return {
        "conditions": _conditions(status),
        "pending": status.get("pendingWorkloads") or 0,
        "reserving": status.get("reservingWorkloads") or 0,
        "admitted": status.get("admittedWorkloads") or 0,
        "usage": {
            f"{flavor['name']}/{resource['name']}": resource.get("total")
            for flavor in status.get("flavorsReservation") or []
            for resource in flavor.get("resources") or []
            if str(resource.get("total")) not in ("0", "None")
        },
    }


# -- events ----------------------------------------------------------------

#: The entry of a look that has what components told until then, where it was recorded.
EVENTS = "# events"
_AGENTS = ("kubelet", "kwok", "kwok-controller")
#: What is drawn anew in each play, and what stands for it; from first to last.
_DRAWN = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "(uid)"),
        (r"\bwas [0-9]+s", "was Ns"),
        (r"\bAdded [0-9]+ owner", "Added N owner"),  # of those that came by then
        (r"^Pod \S+ (Normal CreatedWorkload: )", r"Pod (any) \1"),  # of a group
        (r"\b(pod set|considered:) [0-9a-f]{8}:", r"\1 (hash):"),
        # Workloads, pods of ReplicaSets, of Jobs and of sets, ReplicaSets.
        (r"\bpod-([a-z0-9-]+?)-[a-z0-9]{8,10}-[a-z0-9]{5}-[a-z0-9]{5}\b", r"\1-*"),
        (
            r"\b(?:[a-z]*job|jobset|pod|[a-z]+set|raycluster)-([a-z0-9-]+?)-[a-z0-9]{5}\b",
            r"\1-*",
        ),
        (
            r"\b([a-z][a-z0-9]*)-[a-z0-9]{8,10}-pod-[0-9]+(?:-[a-z0-9]{5}\b|-\*)?",
            r"\1-*",
        ),
        (r"\b([a-z][a-z0-9]*)-(?:[a-z0-9]{8,10}-|[0-9]+-)?[a-z0-9]{5}\b(?!-)", r"\1-*"),
        (r"\b([a-z][a-z0-9]*)-(?:[a-z0-9]{8,10}|[0-9]+)\b(?!-)", r"\1-*"),
        (r"\b([a-z][a-z0-9]*)-(?:[a-z0-9]{8,10}|[0-9]+)-\*", r"\1-*"),
    )
)


def events_as_seen(events: list[Document]) -> list[str]:
    """Return what components told, each once, with what is drawn taken out.

    What a node's agent tells of its containers is left out: nothing runs in a sandbox.
    """
    told = set()
    for one in events:
        about, source = one["involvedObject"], one.get("source") or {}
        teller = one.get("reportingComponent") or source.get("component") or ""
        if teller in _AGENTS or about["kind"] == "Node":
            continue
        text = f"{about['kind']} {about['name']} {one['type']} {one['reason']}"
        told.add(undrawn(f"{text}: {one['message']}"))
    return sorted(told)


def undrawn(text: str) -> str:
    """Return a text with a sign in the place of names, uids and times that are drawn."""
    for pattern, by in _DRAWN:
        text = pattern.sub(by, text)
    return text


# -- metrics ---------------------------------------------------------------

#: The entry of a look that has the series of Kueue's metrics, where they were recorded.
METRICS = "# metrics"
#: The names that are compared, some of a ClusterQueue and of a LocalQueue.
_OF_BOTH = """
    admission_checks_wait_time_seconds_count admission_wait_time_seconds_count
    admitted_active_workloads admitted_workloads_total evicted_workloads_total
    finished_workloads finished_workloads_total pending_workloads
    quota_reserved_wait_time_seconds_count quota_reserved_workloads_total
    ready_wait_time_seconds_count reserving_active_workloads
"""
_OF_ONE = """
    cluster_queue_status evicted_workloads_once_total preempted_workloads_total
    cohort_info cohort_subtree_admitted_active_workloads
    cohort_subtree_admitted_workloads_total cohort_subtree_quota
    cohort_subtree_resource_reservations local_queue_status
    local_queue_admitted_until_ready_wait_time_seconds_count
    local_queue_resource_reservation local_queue_resource_usage
"""
_COMPARED = frozenset(
    f"kueue_{name}"
    for name in (
        *_OF_BOTH.split(),
        *(f"local_queue_{name}" for name in _OF_BOTH.split()),
        *_OF_ONE.split(),
    )
)
_OF_SANDBOXES = ("sandbox", "replica_role")
_SAMPLE = re.compile(r"(\w+)\{(.*)\} (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def metrics_as_seen(text: str) -> dict[str, float]:
    """Return the series of Kueue's metrics that are not 0, from Prometheus text."""
    found = {}
    for line in text.splitlines():
        sample = _SAMPLE.fullmatch(line)
        if sample is None or sample[1] not in _COMPARED or not float(sample[3]):
            continue
        labels = sorted(
            f"{name}={value}"
            for name, value in _LABEL.findall(sample[2])
            if name not in _OF_SANDBOXES
        )
        found[f"{sample[1]}{{{','.join(labels)}}}"] = float(sample[3])
    return found


def _compared_metrics(found: dict[str, float], of_others: bool) -> dict[str, float]:
    """Leave out what a control plane cannot show.

    Workloads that held no quota at their end are counted from the start of a manager,
    over all scripts; pods `of_others` than its own kinds get ready nowhere.
    """
    return {
        name: value
        for name, value in found.items()
        if "{cluster_queue=," not in name and not (of_others and "ready_wait" in name)
    }


def compared(seen: Document, script: Document) -> Document:
    """Return what is compared of one play: all of it, but for the names of podsets."""
    kept: Document = {}
    of_others = False  # also when they are gone: events and metrics stay
    for step, found in seen.items():
        if step == "# messages":
            continue
        if not isinstance(found, dict):
            kept[step] = found
            continue
        kept[step] = {
            name: sorted((_plain(row, name) for row in listed), key=_text)
            for name, listed in found.items()
            if name not in (EVENTS, METRICS)
            and not (name.startswith("Pod ") and _is_of_others(name))
        }
        of_others = of_others or any(map(_is_of_others, found))
        if EVENTS in found:
            kept[step][EVENTS] = {
                undrawn(one): "told"
                for one in found[EVENTS]
                if not (of_others and one.startswith("Pod "))
            }
        if METRICS in found:
            kept[step][METRICS] = _compared_metrics(found[METRICS], of_others)
    return kept


def _is_of_others(name: str) -> bool:
    """Return whether what is shown is of a kind whose controller a control plane lacks.

    Nobody makes the pods of a JobSet there, unless its controller is installed. Names
    tell of whom pods and Workloads were that have lost their owner.
    """
    found = re.search(r"/of (\w+)/", name) or re.match(r"\w+ [^/]+/([a-z]+)-", name)
    return found is not None and found[1].lower() in _OF_OTHERS


_OF_OTHERS = frozenset(
    name.lower()
    for name, kind in BY_KIND.items()
    if kind.group not in ("", "apps", "batch")
)


def _plain(row: Document, name: str) -> Document:
    row = dict(row)
    if name.startswith("Workload ") and "/of StatefulSet/" in name:
        # Kueue sets it where its controller of pods is first to make the Workload.
        row.pop("finalizers", None)
    if "conditions" in row and _is_of_others(name):
        conditions = row["conditions"].items()
        row["conditions"] = {n: said for n, said in conditions if n != "PodsReady"}
    for name in ("podSets", "reclaimable"):
        if row.get(name):
            row[name] = sorted(map(_filled, row[name]), key=_text)
    if admission := row.get("admission"):
        sets = sorted(map(_filled, admission["podSets"]), key=_text)
        row["admission"] = {"cq": admission["cq"], "podSets": sets}
    if placed := row.get("placed"):
        row["placed"] = [sorted(map(_filled, one), key=_text) for one in placed]
    return row


def _filled(pod_set: list[Any]) -> list[Any]:
    return [one or None for one in pod_set[:4]]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two plays differ: the way to it, the real value, ours."""

    at: tuple[str, ...]
    real: Any
    ours: Any

    def __str__(self) -> str:
        place = " > ".join(self.at)
        return f"{place}: real {_text(self.real)} | ours {_text(self.ours)}"


ABSENT = "(absent)"


def differences(real: Any, ours: Any, at: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield where two plays differ."""
    if isinstance(real, dict) and isinstance(ours, dict):
        for name in sorted({*real, *ours}):
            pair = real.get(name, ABSENT), ours.get(name, ABSENT)
            yield from differences(*pair, (*at, name))
    elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        for index, pair in enumerate(zip(real, ours, strict=True)):
            yield from differences(*pair, (*at, str(index)))
    elif real != ours and not _before_a_look(at, real, ours):
        yield Difference(at, real, ours)


def _before_a_look(at: tuple[str, ...], real: Any, ours: Any) -> bool:
    """Return whether one has not looked at a Workload yet that the other refused."""
    said = {str(real), str(ours)} - {ABSENT}
    refused = len(said) == 1 and next(iter(said)).startswith("False/")
    return at[-2:] == ("conditions", "QuotaReserved") and refused
