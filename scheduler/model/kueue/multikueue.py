"""The section `multiKueue` of Kueue's Configuration.

Source: docs/semantics/kueue-multikueue.md#dispatch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model import durations
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import Wanted, expected

ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"
#: Of the section: what decides something here.
FIELDS = (
    "dispatcherName",
    "incrementalDispatcherConfig",
    "origin",
    "workerLostTimeout",
)
_PATH = "kueue.multiKueue"


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiKueueSettings:
    """How workloads are dispatched, and how long a worker may be away."""

    dispatcher: str = ALL_AT_ONCE
    step: int = 3  # clusters of one round, incrementally
    origin: str = "multikueue"
    lost_ms: int = 900_000


def read_multi_kueue(section: Mapping[str, Any]) -> MultiKueueSettings:
    """Return the settings with Kueue's defaults; PolicyError with the path."""
    usual = MultiKueueSettings()
    return MultiKueueSettings(
        dispatcher=str(section.get("dispatcherName") or usual.dispatcher),
        step=_step(section.get("incrementalDispatcherConfig") or {}),
        origin=str(section.get("origin") or usual.origin),
        lost_ms=_lost(section.get("workerLostTimeout")),
    )


def _step(section: Mapping[str, Any]) -> int:
    given = section.get("stepSize", 3)
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise PolicyError(
            expected(Wanted.COUNT_OR_MORE.said(least="1"), given),
            f"{_PATH}.incrementalDispatcherConfig.stepSize",
        )
    return given


def _lost(text: Any) -> int:
    if text is None:
        return MultiKueueSettings().lost_ms
    try:
        return durations.milliseconds(text)
    except QuantityError as error:
        raise PolicyError(error.said, f"{_PATH}.workerLostTimeout") from error
