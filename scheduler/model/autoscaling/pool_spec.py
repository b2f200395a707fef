"""What a NodePool says: which nodes, how many, and when they go.

Source: docs/semantics/capacity.md#nodepools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model import amounts, durations
from scheduler.model.autoscaling.budgets import Budget, read_budgets
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Problem, Wanted, expected
from scheduler.model.selectors import Requirement, read_requirements

NODE_POOL = "NodePool"
POOL_LABEL = "karpenter.sh/nodepool"
WHEN_EMPTY = "WhenEmpty"
POLICIES = (WHEN_EMPTY, "WhenEmptyOrUnderutilized")
_NEVER = "Never"
_MONTH = "720h"

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolSpec:
    """A NodePool. Milliseconds; None is never. `limits` are canonical amounts.

    `min_values`: of how many values of a label a node must be able to be.
    """

    requirements: tuple[Requirement, ...]
    min_values: dict[str, int]
    labels: dict[str, str]
    annotations: dict[str, str]
    taints: tuple[dict[str, Any], ...]
    limits: dict[str, int]
    weight: int
    expire_ms: int | None
    policy: str
    consolidate_ms: int | None
    budgets: tuple[Budget, ...]


def read_pool_spec(spec: Manifest) -> NodePoolSpec:
    """Return the spec. Raises QuantityError that begins with the field's path."""
    template = spec.get("template") or {}
    inner, metadata = template.get("spec") or {}, template.get("metadata") or {}
    disruption = spec.get("disruption") or {}
    policy = disruption.get("consolidationPolicy") or POLICIES[1]
    if policy not in POLICIES:
        known = ", ".join(POLICIES)
        raise QuantityError(
            expected(Wanted.ONE_OF.said(known=known), policy),
            "disruption.consolidationPolicy",
        )
    after = disruption.get("consolidateAfter") or "0s"
    return NodePoolSpec(
        requirements=_requirements(inner.get("requirements")),
        min_values={
            str(item["key"]): int(item["minValues"])
            for item in inner.get("requirements") or ()
            if item.get("minValues")
        },
        labels=dict(metadata.get("labels") or {}),
        annotations=dict(metadata.get("annotations") or {}),
        taints=tuple(inner.get("taints") or ()),
        limits=_limits(spec.get("limits") or {}),
        weight=int(spec.get("weight") or 0),
        expire_ms=_length(
            "template.spec.expireAfter", inner.get("expireAfter") or _MONTH
        ),
        policy=policy,
        consolidate_ms=_length("disruption.consolidateAfter", after),
        budgets=read_budgets(disruption.get("budgets")),
    )


def _requirements(items: Any) -> tuple[Requirement, ...]:
    path = "template.spec.requirements"
    found = []
    for index, item in enumerate(items or ()):
        if not isinstance(item, Mapping) or not item.get("key"):
            raise QuantityError(
                expected(Wanted.TEXT, given=f"{item!r:.60}"), f"{path}[{index}].key"
            )
        (need,) = read_requirements([item])
        if not need.valid:
            raise QuantityError(
                Problem.OPERATORS.said(
                    given=repr(item.get("operator")),
                    values=f"{list(need.values)!r:.60}",
                ),
                f"{path}[{index}].operator",
            )
        found.append(need)
    return tuple(found)


def _limits(given: Manifest) -> dict[str, int]:
    limits = {}
    for name, text in given.items():
        try:
            limits[name] = amounts.canonical(name, text)
        except QuantityError as error:
            raise QuantityError(error.said, f"limits.{name}") from error
    return limits


def _length(path: str, text: str) -> int | None:
    if text == _NEVER:
        return None
    try:
        return durations.milliseconds(text)
    except QuantityError as error:
        raise QuantityError(error.said, path) from error
