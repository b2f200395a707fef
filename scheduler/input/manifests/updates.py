"""Checks of a change of a known object: what the real systems refuse to change.

Source: what the API says cannot change: of LocalQueue and Workload
<https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta2/>, of PriorityClass
<https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/priority-class-v1/>, of Pod
<https://kubernetes.io/docs/concepts/workloads/pods/#pod-update-and-replacement>
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scheduler.input.manifests.workloads import MIN_PARALLELISM
from scheduler.model.amounts import parse
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Object
from scheduler.model.podset_template import SHAPE_FIELDS
from scheduler.model.problems import Problem
from scheduler.model.reasons import is_true
from scheduler.model.sentence import Sentence

Fields = Mapping[str, Any]


class Refused(NamedTuple):
    """A field that must stay as it is, and why."""

    field: str
    problem: Sentence
    webhook: str = ""  # of Kueue, which denies it; "" for the API server itself


_OF_POD = (
    "priority",
    "priorityClassName",
    "preemptionPolicy",
    "schedulerName",
    "runtimeClassName",
    "hostNetwork",
)
_SERVING = ("StatefulSet", "Deployment")
_RESERVED = ("queueName", "priorityClassRef", "maximumExecutionTimeSeconds")


def check_update(known: Object, given: Object) -> Refused | None:
    """Return the first field that may not be changed so; None when all may.

    `known` has its status up to date. A field that is not given is not held
    against what the world filled in.
    """
    return next(_refused(known, given), None)


def _refused(known: Object, given: Object) -> Iterator[Refused]:
    match known.key.kind:
        case "LocalQueue":
            why = Problem.FIXED_QUEUE
            yield from _fixed(known.spec, given.spec, ("clusterQueue",), why)
        case "Workload":
            if is_true(known.status, "QuotaReserved"):
                why = Problem.RESERVED
                yield from _fixed(known.spec, given.spec, _RESERVED, why)
                for one in _fixed(known.spec, given.spec, ("podSets",), why):
                    yield _denied(known, one.field, one.problem)
        case "PriorityClass":
            why = Problem.FIXED_CLASS
            fields = ("value", "preemptionPolicy")
            yield from _fixed(known.manifest, given.manifest, fields, why, at="")
        case "Pod":
            yield from _of_pod(known.spec, given.spec)
            if not known.spec.get("schedulingGates"):
                yield from _queue_name(known, given)
        case "Job":
            yield from _of_job(known, given)
        case kind if kind in _SERVING:
            yield from _of_serving(known, given)
        case _:
            if _runs_managed(known, given):
                yield from _queue_name(known, given)


def _runs_managed(known: Object, given: Object) -> bool:
    """Return whether Kueue started a job, and nobody suspends it with this change."""
    managed = bool((known.state.get("job") or {}).get("workload"))
    running = managed and known.spec.get("suspend") is False
    return running and given.spec.get("suspend") is not True


def _queue_name(known: Object, given: Object) -> Iterator[Refused]:
    """Yield that the queue of what runs stays.

    Source: docs/semantics/kueue-lifecycle.md#what-webhooks-refuse.
    """
    before, after = known.labels.get(QUEUE), given.labels.get(QUEUE)
    if before is not None and after != before:
        yield _denied(
            known,
            f"metadata.labels.{QUEUE}",
            Problem.RUNS_QUEUED.said(name=repr(before)),
        )


def _denied(known: Object, field: str, problem: Sentence) -> Refused:
    return Refused(field, problem, f"v{known.key.kind.lower()}.kb.io")


def _of_job(known: Object, given: Object) -> Iterator[Refused]:
    before, after = (one.spec.get("completions") for one in (known, given))
    indexed = known.spec.get("completionMode") == "Indexed"
    if before is not None and after is not None and before != after and not indexed:
        yield Refused("spec.completions", Problem.COMPLETIONS.said(name=before))
    if _runs_managed(known, given):
        yield from _queue_name(known, given)
        asked = [one.spec.get("parallelism", 1) for one in (known, given)]
        if MIN_PARALLELISM in known.annotations and asked[0] != asked[1]:
            yield _denied(
                known,
                "spec.parallelism",
                Problem.PARTIAL.said(name=asked[0]),
            )


def _of_serving(known: Object, given: Object) -> Iterator[Refused]:
    """Yield what is fixed of a StatefulSet or a Deployment under Kueue.

    Source: docs/semantics/kueue-lifecycle.md#what-webhooks-refuse.
    """
    before, after = known.labels.get(QUEUE), given.labels.get(QUEUE)
    if before is not None and (after is None or known.status.get("readyReplicas")):
        yield from _queue_name(known, given)
    if known.key.kind != "StatefulSet" or (before is None and after is None):
        return
    had, asked = (int(one.spec.get("replicas", 1)) for one in (known, given))
    if had and asked and had != asked:
        yield _denied(
            known,
            "spec.replicas",
            Problem.SET_SIZE.said(name=had),
        )
    shapes = [
        _shape((one.spec.get("template") or {}).get("spec") or {})
        for one in (known, given)
    ]
    for name in sorted({*shapes[0], *shapes[1]}):
        if shapes[0].get(name) != shapes[1].get(name):
            field = f"spec.template.spec.{name}"
            yield _denied(known, field, Problem.SET_SHAPE.said())


def _shape(spec: Fields) -> dict[str, Any]:
    """Return, by field, what makes pods alike to Kueue; what is empty is left out."""
    found = {name: spec.get(name) for name in (*SHAPE_FIELDS, "overhead")}
    for path, requests in _requests(spec).items():
        found[path.removeprefix("spec.")] = {n: parse(v) for n, v in requests.items()}
    for part in ("initContainers", "containers"):
        listed = spec.get(part) or ()
        found[part] = len(listed)
        for index, container in enumerate(listed):
            found[f"{part}[{index}].ports"] = container.get("ports")
    return {name: value for name, value in found.items() if value}


def _of_pod(known: Fields, given: Fields) -> Iterator[Refused]:
    why = Problem.FIXED_POD
    yield from _fixed(known, given, _OF_POD, why)
    if known.get("nodeName"):
        yield from _fixed(known, given, ("nodeName",), why)
    asked = _requests(known)
    for path, requests in _requests(given).items():
        if path in asked and requests != asked[path]:
            yield Refused(path, Problem.ONCE_THERE.said())
    left = {gate.get("name") for gate in known.get("schedulingGates") or ()}
    for index, gate in enumerate(given.get("schedulingGates") or ()):
        if gate.get("name") not in left:
            yield Refused(
                f"spec.schedulingGates[{index}]",
                Problem.GATES.said(),
            )


def _requests(spec: Fields) -> dict[str, Any]:
    found = {}
    for part in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(part) or ()):
            requests = (container.get("resources") or {}).get("requests") or {}
            found[f"spec.{part}[{index}].resources.requests"] = requests
    return found


def _fixed(
    known: Fields,
    given: Fields,
    fields: tuple[str, ...],
    why: Problem,
    at: str = "spec.",
) -> Iterator[Refused]:
    for name in fields:
        before, after = known.get(name), given.get(name)
        if before is not None and after is not None and before != after:
            yield Refused(f"{at}{name}", why.said(name=repr(before)))
