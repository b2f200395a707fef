"""What the conditions of a request mean for its check.

Source: docs/semantics/capacity.md#provisioningrequests.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.provisioning.conditions import (
    ACCEPTED,
    EXPIRED,
    FAILED,
    PROVISIONED,
    REVOKED,
    message_of,
)
from scheduler.engine.stage import Context
from scheduler.model.autoscaling.provisioning_config import RequestConfig
from scheduler.model.conditions import is_true
from scheduler.model.kueue.check_state import (
    PENDING,
    READY,
    REJECTED,
    RETRY,
    CheckState,
)
from scheduler.model.objects import Object
from scheduler.model.reasons import ADMITTED

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
