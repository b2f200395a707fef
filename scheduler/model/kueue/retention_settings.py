"""The section `objectRetentionPolicies` of Kueue's Configuration.

Source: docs/semantics/kueue-lifecycle.md#retention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model import durations
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import Form, Wanted, expected

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
        raise PolicyError(expected(Wanted.OBJECT, given), _PATH)
    for name in given:
        if name not in _TIMES:
            raise PolicyError(
                Form.UNKNOWN.said(known=", ".join(_TIMES)), f"{_PATH}.{name}"
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
        raise PolicyError(error.said, f"{_PATH}.{name}") from error
    if found < 0:
        raise PolicyError(
            expected(Wanted.OR_MORE.said(least="0"), text), f"{_PATH}.{name}"
        )
    return found
