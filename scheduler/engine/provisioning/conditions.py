"""Conditions of a ProvisioningRequest, and how they are written.

Source: docs/semantics/capacity.md#provisioningrequests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.engine.stage import Context
from scheduler.model import durations
from scheduler.model.conditions import condition, is_true
from scheduler.model.objects import Object

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
    """Return its conditions."""
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
