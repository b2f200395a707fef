"""The section `admissionFairSharing` of Kueue's Configuration.

Source: docs/semantics/kueue-admission-fair-sharing.md#switches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.model import durations
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import Wanted, expected

Document = Mapping[str, Any]

_PATH = "kueue.admissionFairSharing"
FIELDS = ("resourceWeights", "usageHalfLifeTime", "usageSamplingInterval")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFairSharing:
    """How usage decays, how often it is sampled, what resources weigh."""

    half_life_s: float = 0.0  # 0: no memory at all
    interval_us: int = 300_000_000
    weights: Mapping[str, float] = field(default_factory=dict)


def read_usage_fair_sharing(section: Document | None) -> UsageFairSharing | None:
    """Return the settings; None when the section is absent. Raises PolicyError."""
    if section is None:
        return None
    half_life = _milliseconds(section, "usageHalfLifeTime", 0)
    interval = _milliseconds(section, "usageSamplingInterval", 300_000)
    if interval == 0:
        raise PolicyError(
            expected(Wanted.MORE_THAN.said(least="0s")),
            f"{_PATH}.usageSamplingInterval",
        )
    return UsageFairSharing(
        half_life_s=half_life / 1000,
        interval_us=interval * 1000,
        weights=_weights(section.get("resourceWeights") or {}),
    )


def _milliseconds(section: Document, name: str, default: int) -> int:
    text = section.get(name)
    try:
        length = default if text is None else durations.milliseconds(text)
    except QuantityError as error:
        raise PolicyError(error.said, f"{_PATH}.{name}") from error
    if length < 0:
        raise PolicyError(
            expected(Wanted.OR_MORE.said(least="0s"), text), f"{_PATH}.{name}"
        )
    return length


def _weights(given: Document) -> dict[str, float]:
    for name, weight in given.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or weight < 0:
            raise PolicyError(
                expected(Wanted.NUMBER_OR_MORE.said(least="0"), weight),
                f"{_PATH}.resourceWeights.{name}",
            )
    return {name: float(weight) for name, weight in given.items()}
