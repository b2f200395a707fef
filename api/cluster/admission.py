"""What admission does to a pod that is written: limits of a namespace, and its quotas.

Pods that the simulation makes of jobs pass neither.

Source: <https://kubernetes.io/docs/concepts/policy/limit-range/>,
<https://kubernetes.io/docs/concepts/policy/resource-quotas/>
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from api.cluster import definitions, refusals
from api.cluster.refusals import Resource
from sandbox.models import StoredObject, table_of
from scheduler.model.amounts import canonical, text_of
from scheduler.model.errors import SchedulerError

Document = dict[str, Any]
_ENDED = ("Failed", "Succeeded")
_PLAIN = frozenset({"cpu", "ephemeral-storage", "memory"})


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


def check_quotas(
    sandbox_id: str, resource: Resource, namespace: str, pod: Document
) -> None:
    """Raise the refusal of a pod that is beyond a quota of its namespace."""
    name = pod["metadata"]["name"]
    for row in _of_kind(sandbox_id, "ResourceQuota", namespace):
        hard = (row.manifest.get("spec") or {}).get("hard") or {}
        missing = sorted(set(_missing(hard, pod)))
        if missing:
            why = f"failed quota: {row.name}: must specify {' '.join(missing)}"
            raise refusals.forbidden(resource, name, why)
        used = _amounts(hard, _pods(sandbox_id, namespace))
        asked = _amounts(hard, [pod])
        beyond = [
            key
            for key in sorted(hard)
            if asked[key] and used[key] + asked[key] > _most(hard, key)
        ]
        if beyond:
            parts = (
                ("requested", {k: _text(k, asked[k]) for k in beyond}),
                ("used", {k: _text(k, used[k]) for k in beyond}),
                ("limited", {k: str(hard[k]) for k in beyond}),
            )
            said = ", ".join(
                f"{word}: {','.join(f'{k}={v}' for k, v in values.items())}"
                for word, values in parts
            )
            why = f"exceeded quota: {row.name}, {said}"
            raise refusals.forbidden(resource, name, why)


def quota_status(row: StoredObject) -> Document:
    """Return the status of a ResourceQuota: what of it is used; {} where none can be.

    A file may hold a quota that no API server would take.
    """
    try:
        hard = (row.manifest.get("spec") or {}).get("hard") or {}
        used = _amounts(hard, _pods(row.sandbox_id, row.namespace))
        texts = {key: _text(key, used[key]) for key in hard}
    except (AttributeError, SchedulerError, TypeError):
        return {}
    return {"hard": dict(hard), "used": texts}


def _pods(sandbox_id: str, namespace: str) -> Iterator[Document]:
    for row in _of_kind(sandbox_id, "Pod", namespace):
        if (row.status or {}).get("phase") not in _ENDED:
            yield row.manifest


def _parts(key: str) -> tuple[str, str]:
    """Return (requests or limits, the resource) of a key of a quota; ("", key) of none."""
    if key in _PLAIN:
        return "requests", key
    part, _, name = key.partition(".")
    return (part, name) if part in ("limits", "requests") and name else ("", key)


def _amounts(hard: Document, pods: Iterable[Document]) -> dict[str, int]:
    found = dict.fromkeys(hard, 0)
    for pod in pods:
        for key in hard:
            part, name = _parts(key)
            if key in ("pods", "count/pods"):
                found[key] += 1
            elif part:
                found[key] += sum(_asked(pod, part, name))
    return found


def _asked(pod: Document, part: str, name: str) -> Iterator[int]:
    for container in (pod.get("spec") or {}).get("containers") or ():
        resources = container.get("resources") or {}
        amount = (resources.get(part) or {}).get(name)
        if amount is None and part == "requests":
            amount = (resources.get("limits") or {}).get(name)
        if amount is not None:
            yield canonical(name, amount)


def _missing(hard: Document, pod: Document) -> Iterator[str]:
    """Yield `resource for: containers` of what a quota needs to be said."""
    for key in hard:
        part, name = _parts(key)
        if name not in ("cpu", "memory") or not part:
            continue
        silent = [
            str(container.get("name", ""))
            for container in (pod.get("spec") or {}).get("containers") or ()
            if not any(_asked({"spec": {"containers": [container]}}, part, name))
        ]
        if silent:
            yield f"{key} for: {','.join(silent)}"


def _most(hard: Document, key: str) -> int:
    part, name = _parts(key)
    return canonical(name if part else "pods", hard[key])


def _text(key: str, amount: int) -> str:
    part, name = _parts(key)
    return text_of(name if part else "pods", amount)
