"""status.admissionChecks of a Workload: what each check has answered.

Source: docs/semantics/kueue-admission-checks.md#states-of-a-check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from scheduler.model import durations

PENDING, READY, RETRY, REJECTED = "Pending", "Ready", "Retry", "Rejected"
STATES = (PENDING, READY, RETRY, REJECTED)

Manifest = Mapping[str, Any]
States = dict[str, "CheckState"]


class CheckState(msgspec.Struct, frozen=True, gc=False):
    """What one check says of one workload; `since_us` moves with the state."""

    state: str
    message: str
    since_us: int
    pod_set_updates: tuple[Any, ...] = ()
    requeue_after_s: int | None = None
    retry_count: int | None = None


def read_states(given: Iterable[Manifest] | None) -> States:
    """Return status.admissionChecks by name."""
    return {item["name"]: _read(item) for item in given or ()}


def _read(item: Manifest) -> CheckState:
    since = item.get("lastTransitionTime")
    return CheckState(
        state=item.get("state") or PENDING,
        message=item.get("message") or "",
        since_us=durations.stamp_or_none(since) or 0,
        pod_set_updates=tuple(item.get("podSetUpdates") or ()),
        requeue_after_s=item.get("requeueAfterSeconds"),
        retry_count=item.get("retryCount"),
    )


def written(states: States) -> list[dict[str, Any]]:
    """Return status.admissionChecks as the API shows it."""
    return [_written(name, state) for name, state in states.items()]


def _written(name: str, check: CheckState) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": name,
        "state": check.state,
        "lastTransitionTime": durations.stamp_text(check.since_us),
        "message": check.message,
    }
    if check.pod_set_updates:
        document["podSetUpdates"] = list(check.pod_set_updates)
    if check.requeue_after_s is not None:
        document["requeueAfterSeconds"] = check.requeue_after_s
    if check.retry_count is not None:
        document["retryCount"] = check.retry_count
    return document


def reset(check: CheckState, now_us: int) -> CheckState:
    """Return the state after an eviction.

    Source: docs/semantics/kueue-admission-checks.md#after-an-eviction.
    """
    if check.state == PENDING:
        return check
    retries = (check.retry_count or 0) + 1 if check.state == RETRY else None
    return CheckState(
        state=PENDING,
        message=f"Reset to Pending after eviction. Previously: {check.state}",
        since_us=now_us,
        requeue_after_s=check.requeue_after_s,
        retry_count=retries,
    )


def verdict(states: States, state: str) -> str:
    """Return the sentence about the checks in a state, "" if none is.

    Source: docs/semantics/kueue-admission-checks.md#retry-and-rejection.
    """
    named = [
        f'"{name}" ({check.message})' if check.message else f'"{name}"'
        for name, check in sorted(states.items())
        if check.state == state
    ]
    if not named:
        return ""
    kind = "AdmissionCheck" if len(named) == 1 else "AdmissionChecks"
    return f"{kind} in {state} state: {'; '.join(named)}"
