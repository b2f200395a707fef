"""Which answers of admission checks a Workload would take.

Source: docs/semantics/kueue-admission-checks.md#states-of-a-check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.errors import ManifestError
from scheduler.kueue.workload.check_state import STATES
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
