"""The documents of a request: its name, its pod sets, and a PodTemplate for each.

Source: docs/semantics/capacity.md#provisioningrequests.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model import durations
from scheduler.model.autoscaling.group_spec import IDENTICAL, REQUEST, RequestConfig
from scheduler.model.kueue.check_state import (
    PENDING,
    READY,
    REJECTED,
    RETRY,
    CheckState,
)
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import ADMITTED, condition, is_true

PREFIX = "provreq.kueue.x-k8s.io/"
TEMPLATE = "PodTemplate"
_LONGEST = 247
_DIGITS = 5
_NEEDS = ("nodeSelector", "tolerations", "affinity", "resourceClaims", "resources")

Manifest = dict[str, Any]


def request_name(workload: str, check: str, attempt: int) -> str:
    """Return the name of a workload's request; long ones end in digits of their hash."""
    name = f"{workload}-{check}-{attempt}"
    if len(name) <= _LONGEST:
        return name
    digits = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
    return f"{name[:_LONGEST]}-{digits[:_DIGITS]}"


def parameters_of(workload: Object, config: RequestConfig) -> dict[str, str]:
    """Return the config's parameters and those that the workload is annotated with."""
    own = {
        name.removeprefix(PREFIX): value
        for name, value in workload.annotations.items()
        if name.startswith(PREFIX)
    }
    return {**config.parameters, **own}


def documents(
    workload: Object, name: str, pod_sets: list[Manifest], config: RequestConfig
) -> list[Object]:
    """Return the PodTemplates of a new request, and the request itself.

    `pod_sets` have the count that was admitted, and what their flavors add.
    """
    objects, listed = [], []
    for pod_set in merged(pod_sets, config.merging):
        template = f"ppt-{name}-{pod_set['name']}"
        objects.append(_template(workload, template, pod_set))
        reference = {"name": template}
        listed.append({"podTemplateRef": reference, "count": pod_set["count"]})
    spec = {
        "provisioningClassName": config.class_name,
        "parameters": parameters_of(workload, config),
        "podSets": listed,
    }
    made = _document("autoscaling.x-k8s.io/v1", REQUEST, workload, name)
    made.manifest["spec"] = spec
    return [*objects, made]


def _template(workload: Object, name: str, pod_set: Manifest) -> Object:
    template = copy.deepcopy(dict(pod_set.get("template") or {}))
    spec = template.setdefault("spec", {})
    added = pod_set.get("nodeSelector") or {}
    if added:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **added}
    if pod_set.get("tolerations"):
        spec["tolerations"] = [
            *(spec.get("tolerations") or ()),
            *pod_set["tolerations"],
        ]
    made = _document("v1", TEMPLATE, workload, name)
    made.manifest["template"] = template
    return made


def _document(version: str, kind: str, workload: Object, name: str) -> Object:
    owner = {
        "apiVersion": workload.manifest["apiVersion"],
        "kind": workload.key.kind,
        "name": workload.key.name,
        "uid": workload.uid,
        "controller": True,
    }
    metadata = {
        "name": name,
        "namespace": workload.key.namespace,
        "labels": {"kueue.x-k8s.io/managed": "true"},
        "ownerReferences": [owner],
    }
    manifest = {"apiVersion": version, "kind": kind, "metadata": metadata}
    return Object(key=Key(kind, workload.key.namespace, name), manifest=manifest)


def merged(pod_sets: Iterable[Manifest], policy: str) -> list[Manifest]:
    """Return the pod sets with those that are alike counted together."""
    found: dict[bytes, Manifest] = {}
    for index, pod_set in enumerate(pod_sets):
        alike = _identity(pod_set, policy) if policy else str(index).encode()
        if alike in found:
            first = found[alike]
            found[alike] = {**first, "count": first["count"] + pod_set["count"]}
        else:
            found[alike] = pod_set
    return list(found.values())


def _identity(pod_set: Manifest, policy: str) -> bytes:
    """Return what two pod sets have in common that are merged."""
    template = pod_set.get("template") or {}
    added = [pod_set.get("nodeSelector"), pod_set.get("tolerations")]
    if policy == IDENTICAL:
        return msgspec.json.encode([template, added], order="sorted")
    spec = template.get("spec") or {}
    asked = [
        (container.get("resources") or {}).get("requests")
        for part in ("containers", "initContainers")
        for container in spec.get(part) or ()
    ]
    needs = [spec.get(name) for name in _NEEDS]
    return msgspec.json.encode([asked, needs, added], order="sorted")


def names_managed(pod_set: Mapping[str, Any], managed: frozenset[str]) -> bool:
    """Return whether a container of these pods names a managed resource."""
    if not managed:
        return True
    spec = (pod_set.get("template") or {}).get("spec") or {}
    return any(
        managed & ((container.get("resources") or {}).get(part) or {}).keys()
        for group in ("containers", "initContainers")
        for container in spec.get(group) or ()
        for part in ("requests", "limits")
    )


# ------------------------------------------------------------------------
# What the conditions of a request mean for its check.


_CONSUMES = "autoscaling.x-k8s.io/consume-provisioning-request"
_CLASS = "autoscaling.x-k8s.io/provisioning-class-name"


def state_of(
    context: Context,
    request: Object,
    work: WorkloadInfo,
    name: str,
    config: RequestConfig,
) -> CheckState:
    """Return the state of the check; the first condition that applies decides."""
    status, known = request.status, work.checks[name]
    if is_true(status, FAILED):
        return _again(request, FAILED, "failure", known, config)
    if is_true(status, REVOKED):
        return _state(REJECTED, message_of(request, REVOKED))
    if is_true(status, EXPIRED):
        if not work.has_condition(ADMITTED):
            return _again(request, EXPIRED, "booking expired", known, config)
        return known
    if is_true(status, PROVISIONED):
        updates = tuple(_update(request, part.name, config) for part in work.pod_sets)
        return _state(READY, message_of(request, PROVISIONED), updates)
    if is_true(status, ACCEPTED):
        return _state(PENDING, message_of(request, PROVISIONED))
    return _state(PENDING, known.message if known.state == PENDING else "")


def _again(
    request: Object, kind: str, what: str, known: CheckState, config: RequestConfig
) -> CheckState:
    """Return Retry with a delay, or Rejected when there were enough attempts."""
    message, retries = message_of(request, kind), known.retry_count or 0
    if retries + 1 > config.limit:
        return _state(REJECTED, message)
    return CheckState(
        state=RETRY,
        message=f"Retrying after {what}: {message}",
        since_us=0,
        requeue_after_s=config.delay_s(retries),
    )


def _state(state: str, message: str, updates: tuple[Any, ...] = ()) -> CheckState:
    return CheckState(state=state, message=message, since_us=0, pod_set_updates=updates)


def _update(request: Object, pod_set: str, config: RequestConfig) -> dict[str, Any]:
    """Return what the pods of a pod set get: whose request they use, and where."""
    details = request.status.get("provisioningClassDetails") or {}
    selector = {
        label: details[detail]
        for label, detail in config.node_selector.items()
        if detail in details
    }
    annotations = {_CONSUMES: request.key.name, _CLASS: config.class_name}
    update: dict[str, Any] = {"name": pod_set, "annotations": annotations}
    return {**update, "nodeSelector": selector} if selector else update


# ------------------------------------------------------------------------
# Conditions of a ProvisioningRequest, and how they are written.


ACCEPTED, PROVISIONED, FAILED = "Accepted", "Provisioned", "Failed"
EXPIRED, REVOKED = "BookingExpired", "CapacityRevoked"
CHECK_CAPACITY = "check-capacity.autoscaling.x-k8s.io"
ATOMIC = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
_US = 1_000_000


def set_condition(
    context: Context, request: Object, kind: str, reason: str, message: str, ok: bool
) -> None:
    """Write one condition; its time moves with its status."""
    status = "True" if ok else "False"
    known = condition(request.status, kind)
    now = durations.stamp_text(context.now_us // _US * _US)
    kept = known is not None and known.get("status") == status
    written = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": known["lastTransitionTime"] if known and kept else now,
    }
    others = [one for one in conditions_of(request) if one.get("type") != kind]
    request.status = {**request.status, "conditions": [*others, written]}
    context.journal.touch(request.key)


def conditions_of(request: Object) -> list[dict[str, Any]]:
    """Return the conditions of a ProvisioningRequest."""
    return request.status.get("conditions") or []


def message_of(request: Object, kind: str) -> str:
    """Return the message of a condition, "" without one."""
    found = condition(request.status, kind)
    return str(found.get("message") or "") if found else ""


def is_open(request: Object) -> bool:
    """Return whether the autoscaler has not answered it for good."""
    return not is_true(request.status, PROVISIONED, FAILED)


def is_booked(request: Object) -> bool:
    """Return whether capacity is kept for it."""
    return is_true(request.status, PROVISIONED) and not is_true(
        request.status, EXPIRED, REVOKED, FAILED
    )


def since_ms(context: Context, request: Object, kind: str) -> int:
    """Return when (virtual ms) the condition took its status."""
    found: Mapping[str, Any] = condition(request.status, kind) or {}
    stamp = found.get("lastTransitionTime")
    return context.ms(durations.stamp_us(stamp)) if stamp else context.now_ms
