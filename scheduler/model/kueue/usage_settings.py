"""The section `admissionFairSharing` of Kueue's Configuration.

Source: docs/semantics/kueue-admission-fair-sharing.md#switches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.model import amounts, durations
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.transformations import ResourceTransform, Transformation

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


# ------------------------------------------------------------------------
# The section `objectRetentionPolicies` of Kueue's Configuration.


#: Of the section objectRetentionPolicies: what decides something here.
RETENTION_FIELDS = ("workloads",)
_TIMES = ("afterFinished", "afterDeactivatedByKueue")
_RETENTION_PATH = "kueue.objectRetentionPolicies.workloads"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How long (ms) workloads stay; None for ever."""

    finished_ms: int | None = None
    deactivated_ms: int | None = None


def read_retention(section: Mapping[str, Any]) -> RetentionSettings | None:
    """Return the settings; None when everything stays. PolicyError with the path."""
    given = section.get("workloads") or {}
    if not isinstance(given, Mapping):
        raise PolicyError(expected(Wanted.OBJECT, given), _RETENTION_PATH)
    for name in given:
        if name not in _TIMES:
            raise PolicyError(
                Form.UNKNOWN.said(known=", ".join(_TIMES)), f"{_RETENTION_PATH}.{name}"
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
        raise PolicyError(error.said, f"{_RETENTION_PATH}.{name}") from error
    if found < 0:
        raise PolicyError(
            expected(Wanted.OR_MORE.said(least="0"), text), f"{_RETENTION_PATH}.{name}"
        )
    return found


# ------------------------------------------------------------------------
# The section `resources` of Kueue's Configuration.


_RESOURCE_PATH = "kueue.resources"
_STRATEGIES = ("Retain", "Replace")
_CHECKS = ("", "IgnoreUndeclared", "BlockUndeclared")
RESOURCE_FIELDS = ("excludeResourcePrefixes", "quotaCheckStrategy", "transformations")
_RULE_FIELDS = ("input", "multiplyBy", "outputs", "strategy")


def read_transform(section: Document) -> ResourceTransform | None:
    """Return the resource transformations; None without any.

    Raises PolicyError with the path of what is wrong.
    """
    excluded = tuple(section.get("excludeResourcePrefixes") or ())
    rules: dict[str, Transformation] = {}
    for index, given in enumerate(section.get("transformations") or ()):
        path = f"{_RESOURCE_PATH}.transformations[{index}]"
        name = _input(given, path)
        if name in rules:
            raise PolicyError(Problem.TRANSFORMATION.said(name=name), f"{path}.input")
        rules[name] = _rule(given, path)
    if not (excluded or rules):
        return None
    return ResourceTransform(excluded=excluded, transformations=rules)


def ignores_undeclared(section: Document) -> bool:
    """Return whether resources that a ClusterQueue does not cover are skipped."""
    given = section.get("quotaCheckStrategy") or ""
    if given not in _CHECKS:
        raise PolicyError(
            expected(Wanted.LITERAL.said(literal=" or ".join(_CHECKS[1:])), given),
            f"{_RESOURCE_PATH}.quotaCheckStrategy",
        )
    return bool(given == "IgnoreUndeclared")


def _input(given: Any, path: str) -> str:
    if not isinstance(given, Mapping):
        raise PolicyError(expected(Wanted.OBJECT, given), path)
    unknown = sorted(set(given) - set(_RULE_FIELDS))
    if unknown:
        known = ", ".join(_RULE_FIELDS)
        raise PolicyError(Form.UNKNOWN.said(known=known), f"{path}.{unknown[0]}")
    name = given.get("input")
    if not isinstance(name, str) or not name:
        raise PolicyError(expected(Wanted.RESOURCE), f"{path}.input")
    return name


def _rule(given: Document, path: str) -> Transformation:
    strategy = given.get("strategy") or "Retain"
    if strategy not in _STRATEGIES:
        raise PolicyError(
            expected(Wanted.LITERAL.said(literal=" or ".join(_STRATEGIES)), strategy),
            f"{path}.strategy",
        )
    outputs = {}
    for name, text in (given.get("outputs") or {}).items():
        try:
            outputs[name] = amounts.parse(text)
        except QuantityError as error:
            raise PolicyError(error.said, f"{path}.outputs.{name}") from error
    return Transformation(
        outputs=outputs,
        retain=strategy == "Retain",
        multiply_by=given.get("multiplyBy") or "",
    )
