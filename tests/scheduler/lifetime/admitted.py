"""What admission makes of a pod. Source: docs/semantics/kube-scheduler.md#admission-before-scheduling"""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

Manifest = dict[str, Any]
Amounts = dict[str, Fraction]

UNITS = {"m": Fraction(1, 1000), "Mi": Fraction(2**20), "Gi": Fraction(2**30)}
SYSTEM = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}


class RefusedError(Exception):
    """The API server does not take the pod."""


def refuse(wrong: bool, why: str) -> None:
    if wrong:
        raise RefusedError(why)


def admitted(pod: Manifest, others: list[Manifest]) -> Manifest:
    """Return the facts of the pod that schedulers see. Raises RefusedError."""
    spec = copy.deepcopy(pod["spec"])
    for each in [*everybody(spec), spec]:
        resources = each.setdefault("resources", {})
        limits = resources.setdefault("limits", {})
        resources["requests"] = {**limits, **resources.get("requests", {})}
    of = {kind: [o for o in others if o["kind"] == kind] for kind in KINDS}
    priority(spec, of["PriorityClass"])
    runtime(spec, of["RuntimeClass"])
    items = [item for each in of["LimitRange"] for item in each["spec"]["limits"]]
    for item in items:
        if item["type"] == "Container":
            default(spec, item)
    for each in [*everybody(spec), spec]:
        limits, requests = (
            numbers(each["resources"][k]) for k in ("limits", "requests")
        )
        refuse(any(requests[n] > limits[n] for n in limits), "request above limit")
    for item in items:
        held(spec, item)
    return facts(spec)


KINDS = ("PriorityClass", "RuntimeClass", "LimitRange")


def everybody(spec: Manifest) -> list[Manifest]:
    return [*spec["containers"], *spec.get("initContainers", [])]


def priority(spec: Manifest, classes: list[Manifest]) -> None:
    name = spec.get("priorityClassName")
    everywhere = [each for each in classes if each.get("globalDefault")]
    if name:
        chosen = [each for each in classes if each["metadata"]["name"] == name]
    else:
        chosen = sorted(everywhere, key=lambda each: each["value"])[:1]
    found = chosen[0] if chosen else {"value": SYSTEM.get(name or "", 0)}
    spec["priority"] = found["value"]
    spec["preemptionPolicy"] = found.get("preemptionPolicy", "PreemptLowerPriority")


def runtime(spec: Manifest, classes: list[Manifest]) -> None:
    name = spec.get("runtimeClassName")
    if not name:
        return
    found = next((each for each in classes if each["metadata"]["name"] == name), None)
    if found is None:
        raise RefusedError("no such RuntimeClass")
    overhead = (found.get("overhead") or {}).get("podFixed")
    if overhead:
        own = spec.setdefault("overhead", overhead)
        refuse(numbers(own) != numbers(overhead), "another overhead")
    scheduling = found.get("scheduling") or {}
    selector = spec.setdefault("nodeSelector", {})
    for key, value in scheduling.get("nodeSelector", {}).items():
        refuse(selector.setdefault(key, value) != value, "two values of a key")
    spec["tolerations"] = spec.get("tolerations", []) + scheduling.get(
        "tolerations", []
    )


def default(spec: Manifest, item: Manifest) -> None:
    limits = {**item.get("max", {}), **item.get("default", {})}
    requests = {**item.get("min", {}), **limits, **item.get("defaultRequest", {})}
    for each in everybody(spec):
        resources = each["resources"]
        resources["limits"] = {**limits, **resources["limits"]}
        resources["requests"] = {**requests, **resources["requests"]}


def held(spec: Manifest, item: Manifest) -> None:
    if item["type"] == "Pod":
        bounds(total(spec, "requests"), total(spec, "limits"), item)
        return
    for each in everybody(spec):
        resources = each["resources"]
        bounds(numbers(resources["requests"]), numbers(resources["limits"]), item)


def bounds(requests: Amounts, limits: Amounts, item: Manifest) -> None:
    """Check request and limit against min, max and ratio, each if it is given."""
    for name, least in numbers(item.get("min", {})).items():
        refuse(name not in requests, "min without request")
        refuse(requests[name] < least, "request below min")
        refuse(limits.get(name, least) < least, "limit below min")
    for name, most in numbers(item.get("max", {})).items():
        refuse(name not in limits, "max without limit")
        refuse(limits[name] > most, "limit above max")
        refuse(requests.get(name, most) > most, "request above max")
    for name, ratio in numbers(item.get("maxLimitRequestRatio", {})).items():
        refuse(not requests.get(name) or not limits.get(name), "ratio without both")
        refuse(limits[name] / requests[name] > ratio, "ratio")


def total(spec: Manifest, kind: str) -> Amounts:
    """Return what the pod needs at once: its containers, or an init container."""
    running, beside = [each["resources"][kind] for each in spec["containers"]], []
    steps = []
    for each in spec.get("initContainers", []):
        if each.get("restartPolicy") == "Always":
            beside.append(each["resources"][kind])
            steps.append(added(beside))
        else:
            steps.append(added([*beside, each["resources"][kind]]))
    steps.append(added([*running, *beside]))
    names = {name for step in steps for name in step}
    most = {name: max(step.get(name, Fraction(0)) for step in steps) for name in names}
    return most | numbers(spec.get("resources", {}).get(kind, {}))


def added(parts: list[dict[str, str]]) -> Amounts:
    names = {name for part in parts for name in part}
    return {name: sum_of(name, parts) for name in names}


def sum_of(name: str, parts: list[dict[str, str]]) -> Fraction:
    return sum((number(p[name]) for p in parts if name in p), Fraction(0))


def numbers(given: dict[str, str]) -> Amounts:
    return {name: number(text) for name, text in given.items()}


def number(text: str) -> Fraction:
    for suffix, unit in UNITS.items():
        if text.endswith(suffix):
            return Fraction(text.removesuffix(suffix)) * unit
    return Fraction(text)


def facts(spec: Manifest) -> Manifest:
    """Return what is compared of a pod's spec, quantities as numbers."""
    containers = [
        {
            kind: numbers(each.get("resources", {}).get(kind, {}))
            for kind in ("requests", "limits")
        }
        for each in everybody(spec)
    ]
    tolerations = {
        tuple(sorted(each.items())) for each in spec.get("tolerations") or []
    }
    return {
        "priority": spec.get("priority", 0),
        "preemptionPolicy": spec.get("preemptionPolicy", "PreemptLowerPriority"),
        "overhead": numbers(spec.get("overhead") or {}),
        "nodeSelector": spec.get("nodeSelector") or {},
        "tolerations": tolerations,
        "containers": containers,
    }
