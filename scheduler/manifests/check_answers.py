"""Which answers of admission checks, and positions of gates, a Workload would take.

Source: docs/semantics/kueue-admission-checks.md#states-of-a-check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.errors import ManifestError
from scheduler.kueue.workload.check_state import STATES
from scheduler.kueue.workload.gates import POSITIONS
from scheduler.records.objects import Object


def check_answers(obj: Object, given: Iterable[Mapping[str, Any]]) -> None:
    """Refuse answers of checks that a Workload does not list, or unknown states.

    Raises ManifestError; the object is not changed.
    """
    listed = [item["name"] for item in obj.status.get("admissionChecks") or ()]
    for index, item in enumerate(given):
        path = f"status.admissionChecks[{index}]"
        name, state = item.get("name"), item.get("state")
        if name not in listed:
            known = ", ".join(listed) or "none"
            raise ManifestError(
                f"{path}.name: expected a check of this Workload ({known}), got {name!r}"
            )
        if state not in STATES:
            expected = ", ".join(STATES)
            raise ManifestError(f"{path}.state: expected {expected}, got {state!r}")


def check_gate_positions(obj: Object, given: Iterable[Mapping[str, Any]]) -> None:
    """Refuse gates that a Workload does not name, and unknown positions.

    Raises ManifestError; the object is not changed.
    Source: docs/semantics/kueue.md#preemption-gates.
    """
    named = [item["name"] for item in obj.spec.get("preemptionGates") or ()]
    for index, item in enumerate(given):
        path = f"status.preemptionGates[{index}]"
        name, position = item.get("name"), item.get("position")
        if name not in named:
            known = ", ".join(named) or "none"
            raise ManifestError(
                f"{path}.name: expected a gate of this Workload ({known}), got {name!r}"
            )
        if position not in POSITIONS:
            expected = " or ".join(POSITIONS)
            raise ManifestError(
                f"{path}.position: expected {expected}, got {position!r}"
            )
