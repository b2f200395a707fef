"""What a NodePool says: which nodes, how many, and when they go.

Source: docs/semantics/capacity.md#nodepools.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model import amounts, durations
from scheduler.model.amounts import is_whole
from scheduler.model.cron import CronSchedule, read_schedule
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


# ------------------------------------------------------------------------
# How many nodes of a pool may be disrupted at once.


EMPTY, UNDERUTILIZED = "Empty", "Underutilized"
_REASONS = (EMPTY, UNDERUTILIZED, "Drifted")
_US = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`nodes` or `percent` of them; no reasons are all; without a schedule always."""

    nodes: int = 0
    percent: int | None = None
    reasons: tuple[str, ...] = ()
    schedule: CronSchedule | None = None
    lasts_ms: int = 0

    def allows(self, total: int) -> int:
        """Return the allowed number of `total` nodes, percentages rounded up."""
        if self.percent is None:
            return self.nodes
        return -(-total * self.percent // 100)

    def holds(self, reason: str, now_us: int) -> bool:
        """Return whether it limits disruptions for this reason at an instant."""
        if self.reasons and reason not in self.reasons:
            return False
        if self.schedule is None:
            return True
        since = now_us - self.lasts_ms * _US
        return self.schedule.latest(since, now_us) is not None

    def changes_us(self, now_us: int) -> int | None:
        """Return when it may hold no longer, or again; None without a schedule."""
        if self.schedule is None:
            return None
        lasts = self.lasts_ms * _US
        begun = self.schedule.after(now_us - lasts)
        return None if begun is None else begun + lasts


def allowed(budgets: Iterable[Budget], reason: str, total: int, now_us: int) -> int:
    """Return how many nodes may be away at once: the strictest budget decides."""
    given = [one.allows(total) for one in budgets if one.holds(reason, now_us)]
    return min(given, default=total)


def read_budgets(items: Any) -> tuple[Budget, ...]:
    """Return the budgets; none given is one of 10%. Raises QuantityError."""
    if items is None:
        return (Budget(percent=10),)
    return tuple(
        _budget(item, f"disruption.budgets[{i}]") for i, item in enumerate(items)
    )


def _budget(item: Mapping[str, Any], path: str) -> Budget:
    text, reasons = str(item.get("nodes", "10%")), tuple(item.get("reasons") or ())
    number = text.removesuffix("%")
    if not is_whole(number):
        raise QuantityError(expected(Wanted.PERCENTAGE, text), f"{path}.nodes")
    for reason in reasons:
        if reason not in _REASONS:
            known = ", ".join(_REASONS)
            raise QuantityError(
                expected(Wanted.LITERAL.said(literal=known), reason), f"{path}.reasons"
            )
    if bool(item.get("schedule")) != bool(item.get("duration")):
        raise QuantityError(
            expected(Wanted.BOTH_OF.said(first="schedule", last="duration")),
            f"{path}.schedule",
        )
    try:
        schedule = read_schedule(item["schedule"]) if item.get("schedule") else None
        lasts = durations.milliseconds(item["duration"]) if schedule else 0
    except QuantityError as error:
        raise QuantityError(error.said, f"{path}.schedule") from error
    share = int(number) if text.endswith("%") else None
    return Budget(
        nodes=int(number),
        percent=share,
        reasons=reasons,
        schedule=schedule,
        lasts_ms=lasts,
    )
