"""Whether requests of a pod stay within its limits and its namespace's LimitRanges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from scheduler.model import amounts

Quantities = dict[str, Fraction]
Manifest = Mapping[str, Any]
Violation = tuple[list[str], str]  # resources, sentence
Check = Callable[[Manifest], list[Violation]]

_ABOVE_LIMITS = "requests must not exceed its limits"
_ABOVE_MAX = "requests must not be above the limitRange max"
_BELOW_MIN = "requests must not be below the limitRange min"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the LimitRanges of a namespace say together, per type.

    Source: docs/semantics/kueue.md#adjustments-of-pod-templates.
    """

    default: Mapping[str, str] = field(default_factory=dict)
    default_request: Mapping[str, str] = field(default_factory=dict)
    container_min: Mapping[str, str] = field(default_factory=dict)
    container_max: Mapping[str, str] = field(default_factory=dict)
    pod_min: Mapping[str, str] = field(default_factory=dict)
    pod_max: Mapping[str, str] = field(default_factory=dict)


def quantities(given: Manifest | None) -> Quantities:
    """Return a map of quantities as exact values; raises QuantityError."""
    return {name: amounts.parse(text) for name, text in (given or {}).items()}


def larger(left: Quantities, right: Quantities) -> Quantities:
    """Return the larger of two quantities per resource."""
    most = dict(left)
    for name, value in right.items():
        most[name] = max(most.get(name, value), value)
    return most


def above_limits(spec: Manifest) -> tuple[str, ...]:
    """Return a field error per container, or pod, whose requests exceed its limits.

    Paths begin at the podset. Source: docs/semantics/kueue.md#nomination.
    """
    found = _of_containers(spec, _above_limits)
    for names, sentence in _above_limits(spec.get("resources") or {}):
        found.append(_field_error("template.spec.resources", names, sentence))
    return tuple(found)


def outside_limit_ranges(
    spec: Manifest, total: Quantities, limits: Limits | None
) -> tuple[str, ...]:
    """Return a field error per violation of a LimitRange; `total` is the whole pod's.

    Paths begin at the podset. Source: docs/semantics/kueue.md#nomination.
    """
    if limits is None:
        return ()
    found = _of_containers(spec, lambda resources: _outside(resources, limits))
    low, high = quantities(limits.pod_min), quantities(limits.pod_max)
    for names, sentence in _range(total, total, low, high):
        found.append(_field_error("template.spec", names, sentence))
    return tuple(found)


def _of_containers(spec: Manifest, check: Check) -> list[str]:
    return [
        _field_error(f"template.spec.{kind}[{index}]", names, sentence)
        for kind in ("initContainers", "containers")
        for index, container in enumerate(spec.get(kind) or ())
        for names, sentence in check(container.get("resources") or {})
    ]


def _field_error(path: str, names: list[str], sentence: str) -> str:
    listed = ",".join(f'"{name}"' for name in names)
    return f"{path}: Invalid value: [{listed}]: {sentence}"


def _above_limits(resources: Manifest) -> list[Violation]:
    requests = quantities(resources.get("requests"))
    names = _greater(requests, quantities(resources.get("limits")))
    return [(names, _ABOVE_LIMITS)] if names else []


def _greater(left: Quantities, right: Quantities) -> list[str]:
    return sorted(n for n, value in left.items() if n in right and value > right[n])


def _outside(resources: Manifest, limits: Limits) -> list[Violation]:
    requests = quantities(resources.get("requests"))
    capped = quantities(resources.get("limits"))
    most = larger(requests, capped)
    least = {**most, **{n: min(v, capped.get(n, v)) for n, v in requests.items()}}
    low, high = quantities(limits.container_min), quantities(limits.container_max)
    return _range(least, most, low, high)


def _range(
    least: Quantities, most: Quantities, low: Quantities, high: Quantities
) -> list[Violation]:
    found = []
    if names := _greater(most, high):
        found.append((names, _ABOVE_MAX))
    if names := _greater(low, least):
        found.append((names, _BELOW_MIN))
    return found
