"""Checks of a change of a known object: what the real systems refuse to change.

Source: what the API says cannot change: of LocalQueue and Workload
<https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta2/>, of PriorityClass
<https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/priority-class-v1/>, of Pod
<https://kubernetes.io/docs/concepts/workloads/pods/#pod-update-and-replacement>
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scheduler.model.conditions import is_true
from scheduler.model.objects import Object

Fields = Mapping[str, Any]


class Refused(NamedTuple):
    """A field that must stay as it is, and why."""

    field: str
    problem: str


_OF_POD = (
    "priority",
    "priorityClassName",
    "preemptionPolicy",
    "schedulerName",
    "runtimeClassName",
    "hostNetwork",
)
_RESERVED = ("podSets", "queueName", "priorityClassRef", "maximumExecutionTimeSeconds")


def check_update(known: Object, given: Object) -> Refused | None:
    """Return the first field that may not be changed so; None when all may.

    `known` has its status up to date. A field that is not given is not held
    against what the world filled in.
    """
    return next(_refused(known, given), None)


def _refused(known: Object, given: Object) -> Iterator[Refused]:
    match known.key.kind:
        case "LocalQueue":
            why = "expected {0}: the queue of a LocalQueue is fixed; make another one"
            yield from _fixed(known.spec, given.spec, ("clusterQueue",), why)
        case "Workload":
            if is_true(known.status, "QuotaReserved"):
                why = "fixed while quota is reserved; deactivate or move it first"
                yield from _fixed(known.spec, given.spec, _RESERVED, why)
        case "PriorityClass":
            why = "expected {0}: it is fixed; make another class"
            fields = ("value", "preemptionPolicy")
            yield from _fixed(known.manifest, given.manifest, fields, why, at="")
        case "Pod":
            yield from _of_pod(known.spec, given.spec)
        case _:
            pass


def _of_pod(known: Fields, given: Fields) -> Iterator[Refused]:
    why = "expected {0}: it is fixed once the pod is there; delete it and make another"
    yield from _fixed(known, given, _OF_POD, why)
    if known.get("nodeName"):
        yield from _fixed(known, given, ("nodeName",), why)
    asked = _requests(known)
    for path, requests in _requests(given).items():
        if path in asked and requests != asked[path]:
            yield Refused(path, "fixed once the pod is there; make another one")
    left = {gate.get("name") for gate in known.get("schedulingGates") or ()}
    for index, gate in enumerate(given.get("schedulingGates") or ()):
        if gate.get("name") not in left:
            yield Refused(
                f"spec.schedulingGates[{index}]",
                "gates are only taken away once the pod is there",
            )


def _requests(spec: Fields) -> dict[str, Any]:
    found = {}
    for part in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(part) or ()):
            requests = (container.get("resources") or {}).get("requests") or {}
            found[f"spec.{part}[{index}].resources.requests"] = requests
    return found


def _fixed(
    known: Fields, given: Fields, fields: tuple[str, ...], why: str, at: str = "spec."
) -> Iterator[Refused]:
    for name in fields:
        before, after = known.get(name), given.get(name)
        if before is not None and after is not None and before != after:
            yield Refused(f"{at}{name}", why.format(repr(before)))
