"""The section `objectRetentionPolicies` of Kueue's Configuration.

Source: docs/semantics/kueue-lifecycle.md#retention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model import durations
from scheduler.model.errors import PolicyError, QuantityError

#: Of the section objectRetentionPolicies: what decides something here.
FIELDS = ("workloads",)
_TIMES = ("afterFinished", "afterDeactivatedByKueue")
_PATH = "kueue.objectRetentionPolicies.workloads"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How long (ms) workloads stay; None for ever."""

    finished_ms: int | None = None
    deactivated_ms: int | None = None


def read_retention(section: Mapping[str, Any]) -> RetentionSettings | None:
    """Return the settings; None when everything stays. PolicyError with the path."""
    given = section.get("workloads") or {}
    if not isinstance(given, Mapping):
        raise PolicyError(f"{_PATH}: expected an object, got {given!r}")
    for name in given:
        if name not in _TIMES:
            raise PolicyError(
                f"{_PATH}.{name}: unknown field; known: {', '.join(_TIMES)}"
            )
    finished, deactivated = (_ms(given, name) for name in _TIMES)
    if finished is None and deactivated is None:
        return None
    return RetentionSettings(finished_ms=finished, deactivated_ms=deactivated)


def _ms(given: Mapping[str, Any], name: str) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    try:
        found = durations.milliseconds(text)
    except QuantityError as error:
        raise PolicyError(f"{_PATH}.{name}: {error}") from error
    if found < 0:
        raise PolicyError(f"{_PATH}.{name}: expected 0 or more, got {text!r}")
    return found
