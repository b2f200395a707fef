"""What admission does to a pod that is written: its classes, and limits of a namespace.

Source: <https://kubernetes.io/docs/concepts/policy/limit-range/>
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from api.cluster import definitions, refusals, resources
from api.cluster.resources import Resource
from sandbox.models import StoredObject, table_of
from scheduler.model import resource_quota
from scheduler.model.amounts import canonical
from scheduler.model.reasons import has_ended

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


# ------------------------------------------------------------------------
# ResourceQuotas of a namespace: what of them is used, and what is beyond them.


#: Keys of core kinds that need no `count/`.
_BY_PLURAL = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
    }
)
#: Keys of Services by their types.
_OF_SERVICES = {
    "services.loadbalancers": frozenset({"LoadBalancer"}),
    "services.nodeports": frozenset({"LoadBalancer", "NodePort"}),
}


def _rows(sandbox_id: str, kind: str, namespace: str) -> Any:
    rows = table_of(kind)._default_manager.filter(
        sandbox_id=sandbox_id, kind=kind, namespace=namespace
    )
    return rows.order_by("name")


def check(
    sandbox_id: str, resource: Resource, namespace: str, document: Document
) -> None:
    """Raise the refusal of a new object that is beyond a quota of its namespace."""
    rows = _rows(sandbox_id, "ResourceQuota", namespace) if namespace else ()
    quotas = [row for row in rows if resource_quota.is_readable(row.manifest)]
    kind, name = resource.kind.kind, document["metadata"]["name"]
    if kind == "Pod":
        quotas = [
            row for row in quotas if resource_quota.matches(row.manifest, document)
        ]
        for row in quotas:
            missing = resource_quota.unsaid(row.manifest, document)
            if missing:
                why = f"failed quota: {row.name}: must specify {'; '.join(missing)}"
                raise refusals.forbidden(resource, name, why)
    for row in quotas:
        hard = resource_quota.hard_of(row.manifest)
        asked = _of_one(hard, resource, document)
        if not any(asked.values()):
            continue
        used = _used(row, [key for key in hard if asked.get(key)])
        keys = resource_quota.beyond(hard, used, asked)
        if keys:
            why = resource_quota.exceeded(row.name, hard, used, asked, keys)
            raise refusals.forbidden(resource, name, why)


def status(row: StoredObject) -> Document:
    """Return the status of a ResourceQuota: what of it is used; {} where none can be.

    A file may hold a quota that no API server would take.
    """
    if not resource_quota.is_readable(row.manifest):
        return {}
    hard = resource_quota.hard_of(row.manifest)
    used = _used(row, hard)
    texts = {key: resource_quota.text(key, used.get(key, 0)) for key in hard}
    return {"hard": hard, "used": texts}


def _of_one(hard: Document, resource: Resource, document: Document) -> dict[str, int]:
    """Return what one object uses of the keys of a quota."""
    if resource.kind.kind == "Pod":
        return resource_quota.of_pod(hard, document)
    found = {key: 1 for key in hard if _counted(key) == resource.full_name}
    spec = document.get("spec") or {}
    if resource.full_name == "services":
        for key in hard:
            if spec.get("type") in _OF_SERVICES.get(key, ()):
                of_ports = key == "services.nodeports"
                found[key] = len(spec.get("ports") or ()) if of_ports else 1
    if resource.full_name == "persistentvolumeclaims" and "requests.storage" in hard:
        asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
        found["requests.storage"] = canonical("storage", asked) if asked else 0
    return found


def _counted(key: str) -> str:
    """Return the full name of the resource whose objects a key counts; "" of none."""
    if key in _BY_PLURAL:
        return key
    return key.removeprefix("count/") if key.startswith("count/") else ""


def _used(row: StoredObject, keys: Any) -> Counter[str]:
    """Return what the objects of a quota's namespace use of these keys of it."""
    found: Counter[str] = Counter()
    of_pods = [key for key in keys if resource_quota.is_of_pods(key)]
    if of_pods:
        for pod, ended in _pods(row):
            found.update(resource_quota.of_pod(of_pods, pod, ended=ended))
    others = [key for key in keys if key not in of_pods]
    for resource in _named(others):
        rows = _rows(row.sandbox_id, resource.kind.kind, row.namespace)
        counted = [key for key in others if _counted(key) == resource.full_name]
        if counted:
            number = rows.count()
            found.update(dict.fromkeys(counted, number))
        rest = [key for key in others if key not in counted]
        if resource.full_name in ("services", "persistentvolumeclaims"):
            for one in rows.iterator():
                found.update(_of_one(dict.fromkeys(rest), resource, one.manifest))
    return found


def _named(keys: list[str]) -> Iterator[Resource]:
    """Yield the resources whose objects keys of a quota count."""
    named = {_counted(key) for key in keys}
    named |= {"services"} if any(key in _OF_SERVICES for key in keys) else set()
    named |= {"persistentvolumeclaims"} if "requests.storage" in keys else set()
    seen: set[str] = set()
    for resource in resources.SERVED.values():
        full = resource.full_name
        if full in named and full not in seen and resource.kind.namespaced:
            seen.add(full)
            yield resource


def _pods(row: StoredObject) -> Iterator[tuple[Document, bool]]:
    """Yield the pods of a quota's namespace in its scopes, and whether each has ended."""
    for pod in _rows(row.sandbox_id, "Pod", row.namespace).iterator():
        if resource_quota.matches(row.manifest, pod.manifest):
            yield pod.manifest, has_ended(pod.status)
