"""What a world has that a change of a release may concern: the detectors of the ledger.

A trait is a kind of object, or one of the names below. Each names the objects that have it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from scheduler.model.annotations import ADMISSION_GATED_BY
from scheduler.model.kueue.slices import ELASTIC_JOB, REPLACEMENT_FOR
from scheduler.model.objects import Key, Object
from scheduler.model.policy import PolicySpec

Document = Mapping[str, Any]
#: A trait -> the objects that have it; none where the policy alone has it.
Traits = dict[str, list[Key]]

# ------------------------------------------------------------------------
# Of one object: the name of a trait and what it asks.

_KUEUE = "kueue.x-k8s.io/"
_QUEUE = _KUEUE + "queue-name"
_GROUP = _KUEUE + "pod-group-name"
_HOST = "kubernetes.io/hostname"
_FEW_PODSETS = 8  # that all releases take
_FEW_FLAVORS = 16
_FEW_LEVELS = 8
_LONGEST_SET = 39
_LONG = 50
#: Lists of which each entry makes a podset.
_PODSETS = ("podSets", "replicatedJobs", "workerGroupSpecs", "components")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_HUGE = re.compile(r"[0-9]{17,}.*|[0-9]+(\.[0-9]+)?(E|Ei|e1[6-9])")
_TINY = re.compile(r"[0-9]+n|[0-9]{1,3}")

_OF_QUEUES: dict[str, Callable[[Document], object]] = {
    "several flavors": lambda spec: any(len(one) > 1 for one in _flavors(spec)),
    "several resource groups": lambda spec: len(_list(spec, "resourceGroups")) > 1,
    "several resources": lambda spec: any(
        len(_list(group, "coveredResources")) > 1
        for group in _list(spec, "resourceGroups")
    ),
    "many flavors": lambda spec: any(len(one) > _FEW_FLAVORS for one in _flavors(spec)),
    "preemption": lambda spec: any(
        _map(spec, "preemption").get(name) not in (None, "Never")
        for name in ("withinClusterQueue", "reclaimWithinCohort")
    ),
    "cohort preemption": lambda spec: (
        _map(spec, "preemption").get("reclaimWithinCohort") not in (None, "Never")
    ),
    "newer equal priority": lambda spec: (
        _map(spec, "preemption").get("withinClusterQueue")
        == "LowerOrNewerEqualPriority"
    ),
    "ClusterQueues without a cohort": lambda spec: (
        not (spec.get("cohortName") or spec.get("cohort"))
    ),
    "checks": lambda spec: _checks(spec),
    "two checks": lambda spec: len(_checks(spec)) > 1,
    "checks on flavors": lambda spec: any(
        isinstance(one, Mapping) and one.get("onFlavors") for one in _checks(spec)
    ),
    "flavor preference": lambda spec: _map(spec, "flavorFungibility").get("preference"),
}

_OF_PODS: dict[str, Callable[[Document], object]] = {
    "limits without requests": lambda pod: any(
        set(_map(each, "limits")) - set(_map(each, "requests"))
        for each in _resources(pod)
    ),
    "zero requests": lambda pod: any(
        re.fullmatch(r"0[^0-9]*", one) for one in _asked(pod)
    ),
    "negative requests": lambda pod: any(one.startswith("-") for one in _asked(pod)),
    "huge requests": lambda pod: any(map(_HUGE.fullmatch, _asked(pod))),
    "tiny requests": lambda pod: any(
        map(_TINY.fullmatch, _asked(pod, "memory", "ephemeral-storage"))
    ),
    "decimal memory": lambda pod: any("." in one for one in _asked(pod, "memory")),
    "node affinity": lambda pod: _affinity(pod, "nodeAffinity", "required"),
    "preferred node affinity": lambda pod: _affinity(pod, "nodeAffinity", "preferred"),
    "pod affinity": lambda pod: _affinity(pod, "podAffinity", "required"),
    "pod anti-affinity": lambda pod: _affinity(pod, "podAntiAffinity", "required"),
    "topology spread": lambda pod: pod.get("topologySpreadConstraints"),
    "sidecars": lambda pod: _sidecars(pod),
    "sidecars with host ports": lambda pod: any(
        port.get("hostPort") for one in _sidecars(pod) for port in _maps(one, "ports")
    ),
    "pod-level resources": lambda pod: pod.get("resources"),
    "gated pods": lambda pod: pod.get("schedulingGates"),
    "image volumes": lambda pod: any("image" in one for one in _maps(pod, "volumes")),
    "volumes that bind": lambda pod: any(
        "persistentVolumeClaim" in one or "ephemeral" in one
        for one in _maps(pod, "volumes")
    ),
    "pods of other schedulers": lambda pod: (
        pod.get("schedulerName") not in (None, "yunikorn")
    ),
}

_OF_NODES: dict[str, Callable[[Object], object]] = {
    "node taints": lambda node: node.spec.get("taints"),
    "cordoned nodes": lambda node: node.spec.get("unschedulable"),
    "failing nodes": lambda node: any(
        one.get("type") == "Ready" and one.get("status") != "True"
        for status in (_map(node.manifest, "status"), node.status)
        for one in _maps(status, "conditions")
    ),
    "host name unlike its node": lambda node: (
        node.labels.get(_HOST, node.key.name) != node.key.name
    ),
    "zero allocatable": lambda node: any(
        str(one) == "0"
        for one in _map(_map(node.manifest, "status"), "allocatable").values()
    ),
}

_OF_FLAVORS: dict[str, Callable[[Document], object]] = {
    "flavors with a topology": lambda spec: spec.get("topologyName"),
}

#: What annotations of a job, or of its pods, ask for: the begin of their names.
_ANNOTATED = {
    "podset groups": "podset-group-name",
    "slices": "podset-slice-",
    "slice layers": "podset-slice-required-topology-constraints",
    "topology requests": "podset-",
    "unconstrained topology": "podset-unconstrained-topology",
    "priority boost": "priority-boost",
    "fast pod groups": "pod-group-fast-admission",
}
#: The same in the podsets of a Workload.
_REQUESTED = {
    "podSetGroupName": ("podset groups", "topology requests"),
    "podSetSliceRequiredTopology": ("slices", "topology requests"),
    "podSetSliceSize": ("slices",),
    "podsetSliceRequiredTopologyConstraints": ("slice layers", "slices"),
    "required": ("topology requests",),
    "preferred": ("topology requests",),
    "unconstrained": ("unconstrained topology", "topology requests"),
    "subGroupIndexLabel": ("subgroups",),
}

_OF_JOBS: dict[str, Callable[[Object], object]] = {
    "elastic jobs": lambda job: job.annotations.get(ELASTIC_JOB) == "true",
    "elastic jobs in rounds": lambda job: (
        job.annotations.get(ELASTIC_JOB) == "true"
        and _number(job.spec, "completions") > _number(job.spec, "parallelism")
    ),
    "slices of another namespace": lambda job: (
        job.annotations.get(REPLACEMENT_FOR, job.key.namespace).partition("/")[0]
        != job.key.namespace
    ),
    "gated jobs": lambda job: job.annotations.get(ADMISSION_GATED_BY),
    "many podsets": lambda job: any(
        len(_list(job.spec, name)) >= _FEW_PODSETS for name in _PODSETS
    ),
    "several podsets": lambda job: (
        any(len(_list(job.spec, name)) > 1 for name in _PODSETS)
        or job.spec.get("workerGroupSpecs")
        or len(_map(job.spec, "mpiReplicaSpecs")) > 1
        or _map(job.spec, "leaderWorkerTemplate").get("leaderTemplate")
    ),
    "empty podsets": lambda job: (
        0
        in (
            job.spec.get("parallelism"),
            job.spec.get("replicas"),
            *(one.get("count") for one in _maps(job.spec, "podSets")),
        )
    ),
    "backoff per index": lambda job: job.spec.get("backoffLimitPerIndex") is not None,
    "pod replacement policy": lambda job: job.spec.get("podReplacementPolicy"),
    "Jobs without completions": lambda job: job.spec.get("completions") == 0,
    "minReadySeconds": lambda job: job.spec.get("minReadySeconds"),
    "StatefulSet of parallel pods": lambda job: (
        job.spec.get("podManagementPolicy") == "Parallel"
    ),
    "leader templates": lambda job: _map(job.spec, "leaderWorkerTemplate").get(
        "leaderTemplate"
    ),
    "LeaderWorkerSet with a long name": lambda job: (
        job.key.kind == "LeaderWorkerSet" and len(job.key.name) > _LONGEST_SET
    ),
    "long names": lambda job: len(job.key.name) > _LONG,
    "owned jobs": lambda job: (
        job.key.kind not in ("Pod", "Workload") and job.metadata.get("ownerReferences")
    ),
    "jobs in kube-system": lambda job: (
        job.key.namespace == "kube-system" and _QUEUE in job.labels
    ),
    "pod groups": lambda job: _GROUP in job.labels or _GROUP in job.annotations,
    "plain pods": lambda job: (
        job.key.kind == "Pod"
        and not (job.labels.get(_QUEUE) or job.metadata.get("ownerReferences"))
    ),
    "task groups": lambda job: "yunikorn.apache.org/task-groups" in str(job.manifest),
    "gangs": lambda job: "scheduling.x-k8s.io/pod-group" in job.labels,
}

#: In the configuration of YuniKorn's queues.
_CONFIGURED = {
    "stateaware queues": "stateaware",
    "fair queues": '"fair"',
    "queue maxima": '"max"',
    "placement rules": "placementrules",
    "yunikorn preemption": '"guaranteed"',
    "quota preemption": "quota.preemption",
}


def traits_of(objects: Iterable[Object], spec: PolicySpec | None = None) -> Traits:
    """Return what rules ask of a world: its kinds, and what some objects have.

    Cost: O(objects), some 70 us for each.
    """
    found: Traits = defaultdict(list)
    objects = list(objects)
    for obj in objects:
        for trait in _traits(obj):
            found[trait].append(obj.key)
    for trait, key in _of_several(objects):
        found[trait].append(key)
    if spec is not None and spec.stack == "yunikorn":
        text = msgspec.json.encode(spec.yunikorn).decode()
        found.update({name: [] for name, part in _CONFIGURED.items() if part in text})
    return dict(found)


def _traits(obj: Object) -> Iterator[str]:
    kind = obj.key.kind
    yield kind
    if kind.startswith("PodGroup.scheduling.k8s.io"):
        yield "in-tree pod groups"
    if kind == "ClusterQueue":
        yield from _holding(_OF_QUEUES, obj.spec)
    elif kind == "ResourceFlavor":
        yield from _holding(_OF_FLAVORS, obj.spec)
    elif kind == "Node":
        yield from _holding(_OF_NODES, obj)
    elif kind == "Cohort" and obj.spec.get("parentName"):
        yield "nested cohorts"
    elif kind == "Topology" and len(_list(obj.spec, "levels")) > _FEW_LEVELS:
        yield "deep topologies"
    elif kind == "ResourceSlice" and any(
        one.get("taints") for one in _maps(obj.spec, "devices")
    ):
        yield "device taints"
    elif kind == "DeviceClass" and obj.spec.get("extendedResourceName"):
        yield "extended resources of DeviceClasses"
    elif kind == "Namespace" and any("yunikorn" in one for one in obj.annotations):
        yield "namespace quota annotations"
    weight = _map(obj.spec, "fairSharing").get("weight")
    if weight is not None:
        yield "zero weights" if str(weight) == "0" else "fair weights"
    templates = list(_templates(obj))
    if templates:
        yield from _of_job(obj, templates)


def _of_job(
    job: Object, templates: Sequence[tuple[Document, Document]]
) -> Iterator[str]:
    """Yield the traits of an object that makes pods; a template is metadata and spec."""
    yield from _holding(_OF_JOBS, job)
    for trait, ask in _OF_PODS.items():
        if any(ask(pod) for _, pod in templates):
            yield trait
    named = {
        *job.annotations,
        *(name for metadata, _ in templates for name in _map(metadata, "annotations")),
    }
    for trait, begin in _ANNOTATED.items():
        if any(name.startswith(_KUEUE + begin) for name in named):
            yield trait
    requested = {
        trait
        for podset in _list(job.spec, "podSets")
        for name in _map(podset, "topologyRequest")
        for trait in _REQUESTED.get(name, ())
    }
    yield from requested
    labels = [_map(metadata, "labels") for metadata, _ in templates]
    if any(not _LABEL.fullmatch(str(one)) for each in labels for one in each.values()):
        yield "invalid pod labels"


def _of_several(objects: Sequence[Object]) -> Iterator[tuple[str, Key]]:
    """Yield the traits that objects have together."""
    by_kind: dict[str, list[Object]] = defaultdict(list)
    for obj in objects:
        by_kind[obj.key.kind].append(obj)
    placed = [f.key for f in by_kind["ResourceFlavor"] if f.spec.get("topologyName")]
    if len(placed) > 1:
        yield from (("several topology flavors", key) for key in placed)
    named: dict[str, list[Key]] = defaultdict(list)
    for queue in by_kind["LocalQueue"]:
        named[queue.key.name].append(queue.key)
    for keys in named.values():
        if len(keys) > 1:
            yield from (("LocalQueues of one name", key) for key in keys)
    for topology in by_kind["Topology"]:
        yield from _of_domains(topology, by_kind["Node"])
    workloads = {
        each.key
        for each in by_kind["Workload"]
        if not each.labels.get(_KUEUE + "is-group-workload")
    }
    for pod in by_kind["Pod"]:
        group = pod.labels.get(_GROUP, "")
        if Key("Workload", pod.key.namespace, group) in workloads:
            yield "group named as a Workload", pod.key
    pods = [obj for obj in objects if next(_templates(obj), None)]
    spelled = {
        one
        for obj in pods
        for _, pod in _templates(obj)
        for one in _tolerated(pod, plain=True)
    }
    for flavor in by_kind["ResourceFlavor"]:
        otherwise = spelled - {*_tolerated(flavor.spec, plain=True)}
        alike = {one[1:] for one in otherwise} & {*_tolerated(flavor.spec)}
        if alike:
            yield "tolerations spelled in two ways", flavor.key
    priorities = {_priority(pod) for obj in pods for _, pod in _templates(obj)}
    if len(priorities) > 1:
        yield from (("preemptible pods", obj.key) for obj in pods)


def _of_domains(topology: Object, nodes: Sequence[Object]) -> Iterator[tuple[str, Key]]:
    levels = [str(one.get("nodeLabel")) for one in _maps(topology.spec, "levels")]
    if not levels:
        return
    for node in nodes:
        top = node.labels.get(levels[0])
        if len(levels) > 1 and top and top == node.labels.get(_HOST):
            yield "host named as its top domain", node.key
    for level in levels[:-1]:
        values = sorted({node.labels.get(level, "") for node in nodes} - {""})
        if any(b.startswith(a) for a, b in pairwise(values)):
            yield "domains with a common prefix", topology.key
            return


# ------------------------------------------------------------------------
# Parts of manifests, whatever their types: what is odd has no trait.


def _holding(table: Mapping[str, Callable[[Any], object]], asked: Any) -> Iterator[str]:
    for trait, ask in table.items():
        if ask(asked):
            yield trait


def _map(holder: object, name: str) -> Document:
    found = holder.get(name) if isinstance(holder, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _list(holder: object, name: str) -> Sequence[Any]:
    found = holder.get(name) if isinstance(holder, Mapping) else None
    return found if isinstance(found, list) else ()


def _maps(holder: object, name: str) -> Sequence[Document]:
    return [one for one in _list(holder, name) if isinstance(one, Mapping)]


def _templates(obj: Object) -> Iterator[tuple[Document, Document]]:
    """Yield metadata and spec of each pod template, and of a pod itself."""
    if obj.key.kind == "Pod":
        yield obj.metadata, obj.spec
    else:
        yield from _within(obj.manifest.get("spec"))


def _within(part: object) -> Iterator[tuple[Document, Document]]:
    if isinstance(part, list):
        for one in part:
            if isinstance(one, dict | list):
                yield from _within(one)
    elif isinstance(part, Mapping):
        spec = part.get("spec")
        if isinstance(spec, Mapping) and isinstance(spec.get("containers"), list):
            yield _map(part, "metadata"), spec
            return
        for one in part.values():
            if isinstance(one, dict | list):
                yield from _within(one)


def _flavors(spec: Document) -> Iterator[Sequence[Any]]:
    return (_list(group, "flavors") for group in _list(spec, "resourceGroups"))


def _checks(spec: Document) -> Sequence[Any]:
    strategy = _map(spec, "admissionChecksStrategy")
    return _list(strategy, "admissionChecks") or _list(spec, "admissionChecks")


def _resources(pod: Document) -> Iterator[Document]:
    for name in ("containers", "initContainers"):
        for container in _list(pod, name):
            yield _map(container, "resources")


def _tolerated(spec: Document, *, plain: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield the tolerations for equal values, with the operator that is written."""
    for one in _maps(spec, "tolerations"):
        operator = str(one.get("operator") or "")
        if operator in ("", "Equal"):
            found = tuple(str(one.get(name)) for name in ("key", "value", "effect"))
            yield (operator, *found) if plain else found


def _number(spec: Document, name: str) -> int:
    found = spec.get(name)
    return found if isinstance(found, int) else 1


def _asked(pod: Document, *names: str) -> list[str]:
    """Return the amounts that containers request, of these resources or of all."""
    return [
        str(amount)
        for each in _resources(pod)
        for part in ("requests", "limits")
        for name, amount in _map(each, part).items()
        if not names or name in names
    ]


def _affinity(pod: Document, kind: str, how: str) -> object:
    name = f"{how}DuringSchedulingIgnoredDuringExecution"
    return _map(_map(pod, "affinity"), kind).get(name)


def _sidecars(pod: Document) -> list[Document]:
    return [
        one
        for one in _list(pod, "initContainers")
        if isinstance(one, Mapping) and one.get("restartPolicy") == "Always"
    ]


def _priority(pod: Document) -> object:
    return pod.get("priority") or pod.get("priorityClassName") or 0
