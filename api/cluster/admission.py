"""What admission does to a pod that is written: its classes, and limits of a namespace.

Source: <https://kubernetes.io/docs/concepts/policy/limit-range/>
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.cluster import definitions
from sandbox.models import StoredObject, table_of

Document = dict[str, Any]


def _of_kind(sandbox_id: str, kind: str, namespace: str) -> Iterator[StoredObject]:
    rows = table_of(kind)._default_manager.filter(
        sandbox_id=sandbox_id, kind=kind, namespace=namespace
    )
    yield from rows.order_by("name").iterator()


def with_limits(sandbox_id: str, namespace: str, pod: Document) -> Document:
    """Return a pod with the defaults of the namespace's LimitRanges."""
    limits: Document = {}
    requests: Document = {}
    for row in _of_kind(sandbox_id, "LimitRange", namespace):
        for item in (row.manifest.get("spec") or {}).get("limits") or ():
            if item.get("type") == "Container":
                most = {**(item.get("max") or {}), **(item.get("default") or {})}
                least = {**(item.get("min") or {}), **(item.get("default") or {})}
                limits |= most
                requests |= {**least, **(item.get("defaultRequest") or {})}
    if not (limits or requests):
        return pod
    spec = dict(pod.get("spec") or {})
    spec["containers"] = [
        _limited(container, limits, requests)
        for container in spec.get("containers") or ()
    ]
    return {**pod, "spec": spec}


def ruled_out(sandbox_id: str, spec: Document) -> str | None:
    """Return why the classes of a new pod rule it out; None where they do not."""
    named, priority, policy = spec.get("priorityClassName"), 0, "PreemptLowerPriority"
    if named in definitions.SYSTEM_CLASSES:
        priority = definitions.SYSTEM_CLASSES[named][0]
    elif named:
        found = _of_cluster(sandbox_id, "PriorityClass").filter(name=named).first()
        if found is None:
            return f"no PriorityClass with name {named} was found"
        priority = found.manifest.get("value") or 0
        policy = found.manifest.get("preemptionPolicy") or policy
    else:
        for row in _of_cluster(sandbox_id, "PriorityClass"):
            if row.manifest.get("globalDefault"):
                priority = row.manifest.get("value") or 0
                policy = row.manifest.get("preemptionPolicy") or policy
    computed = (
        "must not be provided in pod spec; priority admission controller computed"
    )
    end = "from the given PriorityClass name"
    given = spec.get("priority")
    if given is not None and given != priority:
        return f"the integer value of priority ({given}) {computed} {priority} {end}"
    given = spec.get("preemptionPolicy")
    if given is not None and given != policy:
        return (
            f"the string value of PreemptionPolicy ({given}) {computed} {policy} {end}"
        )
    return _without_runtime(sandbox_id, spec)


def _without_runtime(sandbox_id: str, spec: Document) -> str | None:
    named, overhead = spec.get("runtimeClassName"), None
    if named:
        found = _of_cluster(sandbox_id, "RuntimeClass").filter(name=named).first()
        if found is None:
            return f'pod rejected: RuntimeClass "{named}" not found'
        overhead = (found.manifest.get("overhead") or {}).get("podFixed")
    given = spec.get("overhead")
    if given is not None and overhead is None:
        return (
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
            "Overhead"
        )
    if given and given != overhead:
        return (
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        )
    return None


def second_default(sandbox_id: str) -> str | None:
    """Return why no other PriorityClass can be the default, where one is."""
    for row in _of_cluster(sandbox_id, "PriorityClass"):
        if row.manifest.get("globalDefault"):
            return (
                f"PriorityClass {row.name} is already marked as default. Only one "
                "default can exist"
            )
    return None


def _of_cluster(sandbox_id: str, kind: str) -> Any:
    rows = table_of(kind)._default_manager.filter(sandbox_id=sandbox_id, kind=kind)
    return rows.order_by("name")


def _limited(container: Document, limits: Document, requests: Document) -> Document:
    given = container.get("resources") or {}
    asked, most = given.get("requests") or {}, given.get("limits") or {}
    # A limit that is given stands for the request before a default does.
    found = {
        **given,
        "limits": {**limits, **most},
        "requests": {**requests, **most, **asked},
    }
    return {**container, "resources": {n: v for n, v in found.items() if v}}
