"""Vectors of job kinds: a job object, and the Workloads that Kueue makes of it.

Source: docs/semantics/kueue-jobs.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from scheduler.model import amounts, registry
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import Surroundings
from scheduler.model.objects import Key
from scheduler.model.podset_template import adjust, pod_requests
from tests.conformance.compare import differences

Vector = dict[str, Any]
Outcome = dict[str, Any]
Manifest = dict[str, Any]

_CLASSES = ("PriorityClass", "WorkloadPriorityClass")
_RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
_FIELDS = (
    "name", "namespace", "queueName", "priority", "priorityClassRef",
    "maximumExecutionTimeSeconds",
)  # fmt: skip


def handles(vector: Vector) -> bool:
    """Return whether this is a vector of a job kind."""
    return vector.get("mode") == "jobs"


def run(vector: Vector) -> list[str]:
    """Return the differences between Kueue's Workloads and ours."""
    expected, actual = show(vector)
    return differences(expected, actual)


def show(vector: Vector) -> tuple[Outcome, Outcome]:
    """Return what is compared: the keys that the vector has, of both."""
    expected = _comparable(vector["expect"])
    return expected, _cut(expected, _comparable(outcome_of(vector)))


def outcome_of(vector: Vector) -> Outcome:
    """Return the Workloads of the vector's job, and what its status says."""
    referred = {*_CLASSES, *_RUNTIMES}
    jobs = [one for one in vector["objects"] if one["kind"] not in referred]
    kind = registry.lookup("job-kind", jobs[0]["kind"])
    around = _surroundings(vector["objects"])
    grouped = jobs[0]["kind"] == "Pod" and bool(kind.group(jobs[0])[0])
    try:
        return _group(kind, jobs, around) if grouped else _single(kind, jobs[0], around)
    except ManifestError as error:
        return {"error": str(error), "workloads": []}


def _single(kind: Any, job: Manifest, around: Surroundings) -> Outcome:
    return {
        "workloads": [_workload(one) for one in kind.workloads(job, around)],
        "suspended": kind.suspended(job),
        "podsReady": kind.pods_ready(job, around),
        "reclaimablePods": kind.reclaimable(job, around),
        **_ended(kind.finish(job)),
    }


def _group(kind: Any, pods: Sequence[Manifest], around: Surroundings) -> Outcome:
    return {
        "workloads": [_workload(kind.group_workload(pods, around))],
        "suspended": any(map(kind.suspended, pods)),
        "podsReady": kind.group_ready(pods),
        "reclaimablePods": kind.group_reclaimable(pods),
        **_ended(kind.group_finish(pods)),
    }


def _ended(finish: Any) -> Outcome:
    if finish is None:
        return {"finished": False}
    return {"finished": True, "success": finish.success, "message": finish.message}


def _workload(manifest: Manifest) -> Outcome:
    found = {**manifest["spec"], **manifest["metadata"]}
    result = {name: found[name] for name in _FIELDS if name in found}
    return {**result, "podSets": [_pod_set(one) for one in manifest["spec"]["podSets"]]}


def _pod_set(pod_set: Manifest) -> Outcome:
    spec = adjust(pod_set["template"].get("spec") or {})
    total = {n: v * pod_set["count"] for n, v in pod_requests(spec).items()}
    found: Outcome = {
        "name": pod_set["name"],
        "count": pod_set["count"],
        "requests": {name: _canonical(name, value) for name, value in total.items()},
    }
    for name in ("minCount", "topologyRequest"):
        if name in pod_set:
            found[name] = pod_set[name]
    for name in ("nodeSelector", "tolerations"):
        if spec.get(name):
            found[name] = spec[name]
    return found


def _canonical(name: str, value: Fraction) -> int:
    return math.ceil(value * 1000 if name == amounts.CPU else value)


def _comparable(outcome: Outcome) -> Outcome:
    """Return an outcome with amounts as integers and podsets in one order.

    Groups name their podsets by a hash that need not be mirrored: the order and
    the names of such podsets are left out.
    """
    result = dict(outcome)
    reclaimable = result.get("reclaimablePods") or []
    if isinstance(reclaimable, list):
        reclaimable = {one["name"]: one["count"] for one in reclaimable}
    result["reclaimablePods"] = sorted(reclaimable.values())
    result["workloads"] = [_normal(one) for one in result.get("workloads") or ()]
    return result


def _normal(workload: Outcome) -> Outcome:
    pod_sets = [dict(one) for one in workload["podSets"]]
    for one in pod_sets:
        one["requests"] = {
            name: _canonical(name, amounts.parse(value))
            if isinstance(value, str)
            else value
            for name, value in one["requests"].items()
        }
        if _hashed(one["name"]):
            one["name"] = "(hash)"
    pod_sets.sort(key=lambda one: one["name"] == "(hash)" and str(sorted(one.items())))
    found = {**workload, "podSets": pod_sets}
    if workload.get("name"):
        found["name"] = _without_hash(str(workload["name"]))
    return found


def _without_hash(name: str) -> str:
    """Return the name before its hash, which need not be mirrored."""
    first, dash, last = name.rpartition("-")
    return first if dash and len(last) == 5 else name


def _hashed(name: str) -> bool:
    return len(name) == 8 and all(c in "0123456789abcdef" for c in name)


def _cut(expected: Any, actual: Any) -> Any:
    """Return `actual` with only the keys that `expected` has, at every level."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        both = [name for name in actual if name in expected]
        return {name: _cut(expected[name], actual[name]) for name in both}
    if isinstance(expected, list) and isinstance(actual, list):
        pairs = list(zip(expected, actual, strict=False))
        return [_cut(e, a) for e, a in pairs] + actual[len(pairs) :]
    return actual


def _surroundings(objects: Sequence[Manifest]) -> Surroundings:
    classes = [one for one in objects if one["kind"] == "PriorityClass"]
    default = min(
        (one for one in classes if one.get("globalDefault")),
        key=lambda one: int(one["value"]),
        default=None,
    )
    return Surroundings(
        workload_priorities=_values(objects, "WorkloadPriorityClass"),
        priorities=_values(objects, "PriorityClass"),
        default_priority=default["metadata"]["name"] if default else "",
        runtimes={_key(one): one for one in objects if one["kind"] in _RUNTIMES},
    )


def _key(manifest: Manifest) -> Key:
    metadata = manifest["metadata"]
    return Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])


def _values(objects: Sequence[Manifest], kind: str) -> dict[str, int]:
    return {
        one["metadata"]["name"]: int(one.get("value", 0))
        for one in objects
        if one["kind"] == kind
    }
