"""Conditions and phases of a status, read in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ENDED = ("Succeeded", "Failed")


def true_condition(
    status: Mapping[str, Any] | None, *types: str
) -> Mapping[str, Any] | None:
    """Return the first condition of these types that is "True"; None without one."""
    for condition in (status or {}).get("conditions") or ():
        if condition.get("type") in types and condition.get("status") == "True":
            found: Mapping[str, Any] = condition
            return found
    return None


def is_true(status: Mapping[str, Any] | None, *types: str) -> bool:
    """Return whether a condition of one of these types is "True"."""
    return true_condition(status, *types) is not None


def has_ended(status: Mapping[str, Any] | None) -> bool:
    """Return whether a pod's phase says that it ran to its end, well or not."""
    return (status or {}).get("phase") in _ENDED


def condition(status: Mapping[str, Any] | None, name: str) -> Mapping[str, Any] | None:
    """Return this condition of a status, true or not; None when it has none."""
    conditions = (status or {}).get("conditions") or ()
    return next((one for one in conditions if one.get("type") == name), None)
