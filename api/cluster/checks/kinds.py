"""The values of built-in objects, kind by kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from api.cluster.checks import jobs, names, pods, replicated
from api.cluster.checks.placing import (
    NOT_PERCENT,
    is_percent,
    label_selector_faults,
    required,
    unsupported,
)
from api.cluster.checks.pods import NEGATIVE
from api.cluster.refusals import Fault
from api.cluster.resources import Resource
from scheduler.model.amounts import parse as parse_quantity

Document = Mapping[str, Any]
Rule = Callable[[Document], Iterator[Fault]]
Change = Callable[[Document, Document], Iterator[Fault]]
IMMUTABLE = "field is immutable"
#: The highest priority that is not a system's.
MOST_PRIORITY = 1_000_000_000


def faults(
    document: Document, resource: Resource, before: Document | None
) -> list[Fault]:
    """Return the faults of an object, or with what a write makes of another."""
    kind = resource.kind.kind
    if before is not None and document == before:
        return []
    had = before["metadata"] if before is not None else None
    found = list(names.metadata_faults(document["metadata"], kind, had))
    if kind in _RULES and not (before is not None and _same_spec(document, before)):
        of_kind = [*_RULES[kind](document)]
        # The server checks the taints of a node that is changed twice.
        found += of_kind * (2 if kind == "Node" and before is not None else 1)
    if before is None and kind == "CronJob":
        found += jobs.long_cron_name(document)
    if before is not None:
        found += _added_finalizers(document["metadata"], before["metadata"])
    if before is not None and kind in _CHANGES:
        found += _CHANGES[kind](document, before)
    return found


def _added_finalizers(after: Document, before: Document) -> Iterator[Fault]:
    """Refuse new finalizers of what is being deleted; the server says it twice."""
    known = before.get("finalizers") or ()
    added = sorted(set(after.get("finalizers") or ()) - set(known))
    if added and before.get("deletionTimestamp"):
        why = (
            "Forbidden: no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{', '.join(map(json.dumps, added))}}}"
        )
        yield from [Fault("metadata.finalizers", why)] * 2


def _same_spec(document: Document, before: Document) -> bool:
    """Return whether nothing but metadata and status is changed."""
    aside = ("metadata", "status")
    return {n: v for n, v in document.items() if n not in aside} == {
        n: v for n, v in before.items() if n not in aside
    }


def _spec(document: Document) -> Document:
    found: Document = document.get("spec") or {}
    return found


def _shown(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _pod(document: Document) -> Iterator[Fault]:
    yield from pods.spec_faults(_spec(document), "spec")


def _config_map(document: Document) -> Iterator[Fault]:
    for part in ("data", "binaryData"):
        yield from names.config_key_faults(document.get(part), part)
    both = set(document.get("data") or ()) & set(document.get("binaryData") or ())
    for key in sorted(both):
        why = "duplicate of key present in binaryData"
        yield names.invalid(f"data[{key}]", key, why)


def _secret(document: Document) -> Iterator[Fault]:
    yield from names.config_key_faults(document.get("data"), "data")


_SYSTEM_CLASSES = ("system-cluster-critical", "system-node-critical")


def _priority_class(document: Document) -> Iterator[Fault]:
    value, name = document.get("value") or 0, str(document["metadata"].get("name"))
    if name.startswith("system-"):
        why = (
            "priority class names with 'system-' prefix are reserved for system use "
            f"only. error: {name} is not a known system priority class"
        )
        if name not in _SYSTEM_CLASSES:
            yield Fault("metadata.name", f"Forbidden: {why}")
        return
    if value > MOST_PRIORITY:
        why = f"maximum allowed value of a user defined priority is {MOST_PRIORITY}"
        yield Fault("value", f"Forbidden: {why}")
    policy, known = document.get("preemptionPolicy"), ("PreemptLowerPriority", "Never")
    if policy not in (None, *known):
        yield unsupported("preemptionPolicy", policy, *known)


#: As the server's own type has them, whose value it shows.
_OF_BUDGET = (
    "minAvailable",
    "selector",
    "maxUnavailable",
    "unhealthyPodEvictionPolicy",
)


def _disruption_budget(document: Document) -> Iterator[Fault]:
    spec = _spec(document)
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        why = "minAvailable and maxUnavailable cannot be both set"
        shown = {f"{n[:1].upper()}{n[1:]}": spec.get(n) for n in _OF_BUDGET}
        yield Fault("spec", f"Invalid value: {_shown(shown)}: {why}")
    for name in ("minAvailable", "maxUnavailable"):
        value = spec.get(name)
        if isinstance(value, int) and value < 0:
            yield Fault(f"spec.{name}", f"Invalid value: {value}: {NEGATIVE}")
        elif isinstance(value, str) and not is_percent(value):
            yield names.invalid(f"spec.{name}", value, NOT_PERCENT)
        elif isinstance(value, str) and int(value[:-1]) > 100:
            yield names.invalid(f"spec.{name}", value, "must not be greater than 100%")
    yield from label_selector_faults(spec.get("selector"), "spec.selector")
    policy, known = spec.get("unhealthyPodEvictionPolicy"), _EVICTIONS
    if policy not in (None, *known):
        yield unsupported("spec.unhealthyPodEvictionPolicy", policy, *known)


_EVICTIONS = ("AlwaysAllow", "IfHealthyBudget")
_STANDARD = frozenset({"cpu", "ephemeral-storage", "memory", "pods", "storage"})
#: What a quota of a namespace counts, without a prefix.
_OF_QUOTA = frozenset(
    {
        "configmaps",
        "cpu",
        "ephemeral-storage",
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "memory",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
        "requests.storage",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    }
)


def _resource_quota(document: Document) -> Iterator[Fault]:
    for name, amount in (_spec(document).get("hard") or {}).items():
        place = f"spec.hard[{name}]"
        pages = name.removeprefix("requests.").startswith("hugepages-")
        if "/" not in name and name not in _OF_QUOTA and not pages:
            if name not in _STANDARD:
                why = "must be a standard resource type or fully qualified"
                yield names.invalid(place, name, why)
            yield names.invalid(place, name, "must be a standard resource for quota")
        if parse_quantity(str(amount)) < 0:
            yield Fault(place, f'Invalid value: "{amount}": {NEGATIVE}')
    yield from _scope_faults(_spec(document))


_SCOPES = frozenset(
    {
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
        "VolumeAttributesClass",
    }
)
_OF_PODS = frozenset(
    {
        "cpu",
        "limits.cpu",
        "limits.memory",
        "memory",
        "pods",
        "requests.cpu",
        "requests.memory",
    }
)
_OPPOSED = (
    frozenset({"BestEffort", "NotBestEffort"}),
    frozenset({"NotTerminating", "Terminating"}),
)


def _scope_faults(spec: Document) -> Iterator[Fault]:
    scopes = spec.get("scopes") or []
    said = f"Invalid value: {_shown(scopes)}"
    for scope in scopes:
        if scope not in _SCOPES:
            yield Fault("spec.scopes", f"{said}: unsupported scope")
        held = {"pods"} if scope == "BestEffort" else _OF_PODS
        for name in sorted(set(spec.get("hard") or ()) & _OF_QUOTA - held):
            if name and scope in _SCOPES - {"VolumeAttributesClass"}:
                why = "unsupported scope applied to resource"
                yield Fault("spec.scopes", f"{said}: {why}")
    for pair in _OPPOSED:
        if pair <= set(scopes):
            yield Fault("spec.scopes", f"{said}: conflicting scopes")


def _node(document: Document) -> Iterator[Fault]:
    seen: set[Any] = set()
    for n, taint in enumerate(_spec(document).get("taints") or ()):
        place = f"metadata.taints[{n}]"
        key, effect = str(taint.get("key") or ""), taint.get("effect")
        yield from names.key_faults(key, f"{place}.key")
        value = str(taint.get("value") or "")
        if problems := list(names.value_problems(value)):
            yield names.invalid(f"{place}.value", value, ";".join(problems))
        known = ("NoSchedule", "PreferNoSchedule", "NoExecute")
        if not effect:
            yield required(f"{place}.effect")
        elif effect not in known:
            yield unsupported(f"{place}.effect", effect, *known)
        if (key, effect) in seen:
            given = {"value": "", **taint}
            shown = {n[:1].upper() + n[1:]: given.get(n) for n in _TAINT}
            why = "taints must be unique by key and effect pair"
            yield Fault(place, f"Duplicate value: {_shown(shown)}: {why}")
        seen.add((key, effect))


_TAINT = ("key", "value", "effect", "timeAdded")
_LIMITED = ("Container", "PersistentVolumeClaim", "Pod")


def _limit_range(document: Document) -> Iterator[Fault]:
    for n, limit in enumerate(_spec(document).get("limits") or ()):
        field = f"spec.limits[{n}]"
        kind = limit.get("type") or ""
        if not kind:
            yield required(f"{field}.type")
        elif "/" not in kind and kind not in _LIMITED:
            why = "must be a standard limit type or fully qualified"
            yield names.invalid(f"{field}.type", kind, why)
        if kind == "Pod":
            for part in ("default", "defaultRequest"):
                if limit.get(part):
                    why = "may not be specified when `type` is 'Pod'"
                    yield Fault(f"{field}.{part}", f"Forbidden: {why}")
        yield from _order_faults(limit, field, of_pod=kind == "Pod")


#: Lower, upper, where it is said, whose value is shown.
_ORDER = (
    ("min", "max", "min", "min"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest"),
    ("min", "default", "default", "min"),
    ("default", "max", "default", "max"),
)
_CALLED = {"defaultRequest": "default request"}


def _order_faults(limit: Document, field: str, *, of_pod: bool) -> Iterator[Fault]:
    parts = ("min", "max") if of_pod else ("min", "max", "default", "defaultRequest")
    given = {part: limit.get(part) or {} for part in parts}
    for name in sorted({name for part in given.values() for name in part}):
        for low, high, place, whose in _ORDER:
            less = given.get(low, {}).get(name)
            more = given.get(high, {}).get(name)
            if less is None or more is None:
                continue
            if parse_quantity(str(less)) <= parse_quantity(str(more)):
                continue
            called = "default limit" if high == "default" and low != "min" else high
            why = (
                f"{_CALLED.get(low, low)} value {less} is greater than "
                f"{_CALLED.get(called, called)} value {more}"
            )
            shown = str(less if whose == low else more)
            yield names.invalid(f"{field}.{place}[{name}]", shown, why)


_SERVICES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


def _service(document: Document) -> Iterator[Fault]:
    spec = _spec(document)
    bare = spec.get("type") == "ExternalName" or spec.get("clusterIP") == "None"
    if not bare and not spec.get("ports"):
        yield required("spec.ports")
    for n, port in enumerate(spec.get("ports") or ()):
        # A target that is not given is the port itself.
        target = port.get("targetPort", port.get("port"))
        for name, number in (("port", port.get("port")), ("targetPort", target)):
            if isinstance(number, int) and not 0 < number < 1 << 16:
                why = "must be between 1 and 65535, inclusive"
                said = f"Invalid value: {number}: {why}"
                yield Fault(f"spec.ports[{n}].{name}", said)
    type_ = spec.get("type") or "ClusterIP"
    if type_ not in _SERVICES:
        yield unsupported("spec.type", type_, *_SERVICES)


_RULES: dict[str, Rule] = {
    "ConfigMap": _config_map,
    "CronJob": jobs.cron_faults,
    "DaemonSet": replicated.faults,
    "Deployment": replicated.faults,
    "Job": jobs.faults,
    "LimitRange": _limit_range,
    "Node": _node,
    "Pod": _pod,
    "PodDisruptionBudget": _disruption_budget,
    "PriorityClass": _priority_class,
    "ReplicaSet": replicated.faults,
    "ResourceQuota": _resource_quota,
    "Secret": _secret,
    "Service": _service,
    "StatefulSet": replicated.faults,
}


def _fixed(
    after: Document, before: Document, *fields: str, path: str = "spec"
) -> Iterator[Fault]:
    for name in fields:
        if after.get(name) != before.get(name):
            said = f"Invalid value: {_shown(after.get(name))}: {IMMUTABLE}"
            yield Fault(f"{path}.{name}", said)


def _changed_job(document: Document, before: Document) -> Iterator[Fault]:
    after, was = _spec(document), _spec(before)
    count = after.get("completions")
    if after.get("completionMode") != "Indexed":
        yield from _fixed(after, was, "completions")
    elif count not in (None, was.get("completions"), after.get("parallelism")):
        why = "can only be modified in tandem with spec.parallelism"
        yield Fault("spec.completions", f"Invalid value: {count}: {why}")
    yield from _fixed(after, was, "selector")
    # Of a Job that is held its place may still be changed, as queues do.
    left, right = after.get("template") or {}, was.get("template") or {}
    if was.get("suspend"):
        left, right = _without_place(left), _without_place(right)
    if left != right:
        said = _shown(after.get("template"))
        yield Fault("spec.template", f"Invalid value: {said}: {IMMUTABLE}")
    fields = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex")
    yield from _fixed(after, was, *fields, "managedBy", "successPolicy")


def _without_place(template: Document) -> Document:
    spec = dict(template.get("spec") or {})
    for name in ("affinity", "nodeSelector", "schedulingGates", "tolerations"):
        spec.pop(name, None)
    spec["containers"] = [
        {n: v for n, v in c.items() if n != "resources"}
        for c in spec.get("containers") or ()
    ]
    metadata = {
        n: v
        for n, v in (template.get("metadata") or {}).items()
        if n not in ("annotations", "labels")
    }
    return {**template, "metadata": metadata, "spec": spec}


def _changed_selector(document: Document, before: Document) -> Iterator[Fault]:
    yield from _fixed(_spec(document), _spec(before), "selector")


_OF_STATEFUL = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def _changed_stateful_set(document: Document, before: Document) -> Iterator[Fault]:
    after, was = (
        {n: v for n, v in _spec(d).items() if n not in _OF_STATEFUL}
        for d in (document, before)
    )
    if after != was:
        *first, last = (f"'{name}'" for name in _OF_STATEFUL)
        why = (
            "updates to statefulset spec for fields other than "
            f"{', '.join(first)} and {last} are forbidden"
        )
        yield Fault("spec", f"Forbidden: {why}")


def _changed_config(document: Document, before: Document) -> Iterator[Fault]:
    if not before.get("immutable"):
        return
    if not document.get("immutable"):
        yield Fault(
            "immutable", "Forbidden: field is immutable when `immutable` is set"
        )
    for part in ("data", "binaryData"):
        if document.get(part) != before.get(part):
            why = "field is immutable when `immutable` is set"
            yield Fault(part, f"Forbidden: {why}")


def _changed_priority_class(document: Document, before: Document) -> Iterator[Fault]:
    if document.get("value") != before.get("value"):
        yield Fault("value", "Forbidden: may not be changed in an update.")
    after, was = document.get("preemptionPolicy"), before.get("preemptionPolicy")
    if after != was:
        yield names.invalid("preemptionPolicy", str(after), IMMUTABLE)


#: What may be changed of a pod that is there, beside images and added tolerations.
_OF_POD = frozenset({"activeDeadlineSeconds", "terminationGracePeriodSeconds"})
_POD_FIXED = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
    "(allow it to be set to 1 if it was previously negative)"
)


def _changed_pod(document: Document, before: Document) -> Iterator[Fault]:
    after, was = _spec(document), _spec(before)
    gated = bool(was.get("schedulingGates"))
    if not was.get("nodeName"):  # bound by its own subresource
        after = {name: value for name, value in after.items() if name != "nodeName"}
    left, right = _fixed_of_pod(after, gated=gated), _fixed_of_pod(was, gated=gated)
    added = [one for one in was.get("tolerations") or () if one not in _added(after)]
    if left != right or added:
        names_ = sorted(n for n in {*left, *right} if left.get(n) != right.get(n)) or [
            "tolerations"
        ]
        changed = ", ".join(f"`spec.{name}`" for name in names_)
        yield Fault("spec", f"Forbidden: {_POD_FIXED}\nchanged: {changed}")


def _added(spec: Document) -> list[Any]:
    return list(spec.get("tolerations") or ())


def _fixed_of_pod(spec: Document, *, gated: bool) -> dict[str, Any]:
    """Return what of a pod's spec stays as it is; of a gated one its place may change."""
    # Ephemeral containers come by their own subresource.
    apart = {*_OF_POD, "ephemeralContainers", "schedulingGates", "tolerations"}
    if gated:
        apart |= {"nodeSelector", "affinity"}
    found = {n: v for n, v in spec.items() if n not in apart}
    for part in ("containers", "initContainers"):
        found[part] = [
            {n: v for n, v in one.items() if n not in ("image", "imagePullPolicy")}
            for one in spec.get(part) or ()
        ]
    return found


def _changed_node(document: Document, before: Document) -> Iterator[Fault]:
    had = _spec(before).get("providerID")
    if had and _spec(document).get("providerID") != had:
        why = 'node updates may not change providerID except from "" to valid'
        yield Fault("spec.providerID", f"Forbidden: {why}")


_CHANGES: dict[str, Change] = {
    "ConfigMap": _changed_config,
    "DaemonSet": _changed_selector,
    "Deployment": _changed_selector,
    "Job": _changed_job,
    "Node": _changed_node,
    "Pod": _changed_pod,
    "PriorityClass": _changed_priority_class,
    "ReplicaSet": _changed_selector,
    "Secret": _changed_config,
    "StatefulSet": _changed_stateful_set,
}
