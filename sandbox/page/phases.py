"""Phases of a Workload, derived from its conditions: here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sandbox.page.wire import Phase


def conditions_of(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the conditions by type."""
    return {c["type"]: c for c in status.get("conditions") or ()}


def is_true(conditions: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    """Return whether the condition is there and "True"."""
    condition = conditions.get(name)
    return condition is not None and condition.get("status") == "True"


def phase_of(
    spec: Mapping[str, Any],
    *,
    is_set: Callable[[str], bool],
    inadmissible: bool = False,
) -> Phase:
    """Return the phase.

    `is_set` answers whether a condition is True; `inadmissible` says that the queue
    will not try the Workload until something changes.
    Source: docs/semantics/kueue-lifecycle.md, Conditions.
    """
    if is_set("Finished"):
        return "finished"
    if is_set("Admitted"):
        return "admitted"
    if is_set("QuotaReserved"):
        return "reserved"
    if spec.get("active") is False:
        return "inactive"
    return "inadmissible" if inadmissible else "pending"
