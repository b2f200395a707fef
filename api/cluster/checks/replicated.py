"""What keeps a number of pods: Deployments, ReplicaSets, StatefulSets, DaemonSets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from api.cluster.checks import names, pods
from api.cluster.checks.placing import (
    NOT_PERCENT,
    is_percent,
    label_selector_faults,
    required,
    unsupported,
)
from api.cluster.checks.pods import NEGATIVE, not_negative
from api.cluster.refusals import Fault

Document = Mapping[str, Any]
UNSELECTED = "`selector` does not match template `labels`"
_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
#: As messages about an empty selector call the kind.
_CALLED = {"DaemonSet": "daemonset", "StatefulSet": "statefulset"}
_ALLOWED_ALIVE = "ReplicaSet"


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def faults(document: Document) -> Iterator[Fault]:
    """Yield the faults of one of the four kinds, in the order of the server."""
    kind = str(document.get("kind") or "")
    spec: Document = document.get("spec") or {}
    if kind == "DaemonSet":
        yield from _selector_faults(spec, kind)
        yield from _template_faults(spec, kind)
        yield from not_negative(spec, "spec", "minReadySeconds")
        yield from _daemon_strategy_faults(spec.get("updateStrategy") or {})
        yield from not_negative(spec, "spec", "revisionHistoryLimit")
        return
    if kind == "StatefulSet":
        yield from _stateful_faults(spec)
        yield from not_negative(spec, "spec", "replicas", "minReadySeconds")
        start = (spec.get("ordinals") or {}).get("start") or 0
        if start < 0:
            yield Fault("spec.ordinals.start", f"Invalid value: {start}: {NEGATIVE}")
        if name := spec.get("serviceName"):
            yield from names.label_faults(name, "spec.serviceName")
    else:
        yield from not_negative(spec, "spec", "replicas")
    if kind == "ReplicaSet":
        yield from not_negative(spec, "spec", "minReadySeconds")
    yield from _selector_faults(spec, kind)
    yield from _template_faults(spec, kind)
    if kind == "Deployment":
        yield from _strategy_faults(spec.get("strategy") or {})
        limits = ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
        yield from not_negative(spec, "spec", *limits)
        deadline = spec.get("progressDeadlineSeconds")
        if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
            why = "must be greater than minReadySeconds"
            said = f"Invalid value: {deadline}: {why}"
            yield Fault("spec.progressDeadlineSeconds", said)


def _selector_faults(spec: Document, kind: str) -> Iterator[Fault]:
    selector = spec.get("selector")
    if not selector and selector is None:
        if kind != "DaemonSet":
            yield required("spec.selector")
        return
    yield from label_selector_faults(selector, "spec.selector")
    if not (selector.get("matchLabels") or selector.get("matchExpressions")):
        why = f"empty selector is invalid for {_CALLED.get(kind, 'deployment')}"
        yield Fault("spec.selector", f"Invalid value: {shown(selector)}: {why}")


def _template_faults(spec: Document, kind: str) -> Iterator[Fault]:
    selector, template = spec.get("selector"), spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    terms = (selector or {}).get("matchExpressions") or ()
    if any(_is_broken(term) for term in terms):
        why = "" if kind == "StatefulSet" else "invalid label selector"
        said = f"Invalid value: {shown(selector)}"
        yield Fault("spec.selector", f"{said}: {why}" if why else said)
        return
    # An empty selector of a Deployment picks all there is.
    if selector is None or not selects(selector, labels or {}):
        problem = f"Invalid value: {shown(labels)}: {UNSELECTED}"
        yield Fault("spec.template.metadata.labels", problem)
    yield from pods.template_faults(template, "spec.template", _claimed(spec))
    inner: Document = template.get("spec") or {}
    policy = inner.get("restartPolicy")
    if policy not in (None, "Always"):
        yield unsupported("spec.template.spec.restartPolicy", policy, "Always")
    if inner.get("activeDeadlineSeconds") is not None:
        called = kind if kind in _CALLED else _ALLOWED_ALIVE
        why = f"activeDeadlineSeconds in {called} is not Supported"
        yield Fault("spec.template.spec.activeDeadlineSeconds", f"Forbidden: {why}")


def _claimed(spec: Document) -> Iterator[str]:
    """Yield the volumes that the claims of a StatefulSet give to each of its pods."""
    for one in spec.get("volumeClaimTemplates") or ():
        yield str((one.get("metadata") or {}).get("name") or "")


def _is_broken(term: Document) -> bool:
    """Return whether a term makes no selector at all."""
    operator, values = term.get("operator"), term.get("values")
    if operator in ("In", "NotIn"):
        return not values
    return operator not in _OPERATORS or bool(values)


def _strategy_faults(strategy: Document) -> Iterator[Fault]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            why = "may not be specified when strategy `type` is 'Recreate'"
            yield Fault("spec.strategy.rollingUpdate", f"Forbidden: {why}")
    elif kind in (None, "RollingUpdate"):
        given, field = rolling or {}, "spec.strategy.rollingUpdate"
        most, more = given.get("maxUnavailable"), given.get("maxSurge")
        yield from _amount_faults(most, f"{field}.maxUnavailable")
        yield from _amount_faults(more, f"{field}.maxSurge")
        if most in (0, "0%") and more in (0, "0%"):
            why = "may not be 0 when `maxSurge` is 0"
            place = f"{field}.maxUnavailable"
            yield Fault(place, f"Invalid value: {shown(most)}: {why}")
        if isinstance(most, str) and is_percent(most) and int(most[:-1]) > 100:
            why = "must not be greater than 100%"
            yield names.invalid(f"{field}.maxUnavailable", most, why)
    else:
        listed = ", ".join(f'"{one}"' for one in ("Recreate", "RollingUpdate"))
        said = f"Unsupported value: {shown(_inner_strategy(strategy))}"
        yield Fault("spec.strategy", f"{said}: supported values: {listed}")


def _inner_strategy(strategy: Document) -> Document:
    """Return a strategy as the server's own type has it."""
    rolling, inner = strategy.get("rollingUpdate"), None
    if rolling is not None:
        order = ("maxUnavailable", "maxSurge", "partition")
        inner = {
            f"{name[:1].upper()}{name[1:]}": rolling[name]
            for name in order
            if name in rolling
        }
    return {"Type": strategy.get("type"), "RollingUpdate": inner}


def _amount_faults(given: Any, field: str) -> Iterator[Fault]:
    if isinstance(given, int) and given < 0:
        yield Fault(field, f"Invalid value: {given}: {NEGATIVE}")
    elif isinstance(given, str) and not is_percent(given):
        yield names.invalid(field, given, NOT_PERCENT)


def _stateful_faults(spec: Document) -> Iterator[Fault]:
    policy = spec.get("podManagementPolicy")
    if policy not in (None, "OrderedReady", "Parallel"):
        why = "must be 'OrderedReady' or 'Parallel'"
        yield names.invalid("spec.podManagementPolicy", policy, why)
    strategy = spec.get("updateStrategy") or {}
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "OnDelete" and rolling is not None:
        why = "only allowed for updateStrategy 'RollingUpdate'"
        said = f"Invalid value: {shown(rolling)}: {why}"
        yield Fault("spec.updateStrategy.rollingUpdate", said)
    elif kind in (None, "RollingUpdate"):
        partition = (rolling or {}).get("partition")
        if isinstance(partition, int) and partition < 0:
            place = "spec.updateStrategy.rollingUpdate.partition"
            yield Fault(place, f"Invalid value: {partition}: {NEGATIVE}")
    elif kind != "OnDelete":
        why = "must be 'RollingUpdate' or 'OnDelete'"
        said = f"Invalid value: {shown(_inner_strategy(strategy))}: {why}"
        yield Fault("spec.updateStrategy", said)
    kept = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for name in ("whenDeleted", "whenScaled"):
        if kept.get(name) not in (None, "Retain", "Delete"):
            place = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            yield unsupported(place, kept[name], "Retain", "Delete")


def _daemon_strategy_faults(strategy: Document) -> Iterator[Fault]:
    kind = strategy.get("type")
    if kind not in (None, "RollingUpdate", "OnDelete"):
        listed = ", ".join(f'"{one}"' for one in ("RollingUpdate", "OnDelete"))
        said = f"Unsupported value: {shown(_inner_strategy(strategy))}"
        yield Fault("spec.updateStrategy", f"{said}: supported values: {listed}")


def selects(selector: Document, labels: Document) -> bool:
    """Return whether the selector of an object picks these labels."""
    if any(labels.get(n) != v for n, v in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_term(term, labels) for term in selector.get("matchExpressions") or ())


def _term(term: Document, labels: Document) -> bool:
    key, values = term.get("key"), term.get("values") or ()
    match term.get("operator"):
        case "In":
            return labels.get(str(key)) in values
        case "NotIn":
            return labels.get(str(key)) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels
