"""One walk over the flavors of a resource group, for one podset.

Source: KUEUE.md 6.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scheduler.kueue.flavorassigner.assignment import PodSetPlan, Severity
from scheduler.kueue.flavorassigner.modes import (
    BEST,
    WORST,
    Granted,
    Mode,
    preferred,
    should_try_next,
)
from scheduler.kueue.flavorassigner.resources import Step
from scheduler.kueue.tree.tree import Cell
from scheduler.records.podset_template import PodShape

if TYPE_CHECKING:
    from scheduler.kueue.flavorassigner.assigner import Assigner


class Scan:
    """One walk over the flavors of a resource group for one podset.

    Source: KUEUE.md 6.3.
    """

    __slots__ = ("amounts", "assigner", "at", "best", "found", "group", "index",
                 "plan", "reasons", "severe", "shape", "start", "step", "used")  # fmt: skip

    def __init__(
        self,
        assigner: Assigner,
        plan: PodSetPlan,
        shape: PodShape,
        step: Step,
        index: int,
        used: Mapping[Cell, int],
    ) -> None:
        assert step.group is not None
        self.assigner = assigner
        self.plan = plan
        self.shape = shape
        self.step = step
        self.group = step.group
        self.index = index
        self.used = used
        self.reasons: list[str] = []
        self.severe: list[Severity] = []
        self.found: dict[str, tuple[str, Granted]] = {}
        self.best = WORST
        self.start = 0
        self.at = -1

    def run(self) -> None:
        """Try the flavors in order until one is good enough."""
        spec = self.assigner.queue.spec
        flavors = self.group.flavors
        self.start = self.assigner.start(self.index, self.step.trigger)
        for at in range(self.start, len(flavors)):
            self.at = at
            granted = self._try(flavors[at])
            if granted is None:
                continue
            whole, each = granted
            if not should_try_next(whole, spec.when_borrow, spec.when_preempt):
                self._keep(flavors[at], whole, each)
                return
            if preferred(whole, self.best, spec.preference):
                self._keep(flavors[at], whole, each)

    def _keep(self, flavor: str, whole: Granted, each: dict[str, Granted]) -> None:
        self.best = whole
        self.found = {name: (flavor, granted) for name, granted in each.items()}

    def _try(self, flavor: str) -> tuple[Granted, dict[str, Granted]] | None:
        reason = self._barred(flavor)
        if reason:
            self.reasons.append(reason)
            self.severe.append(Severity.NO_MATCH)
            if self.assigner.trace is not None:
                self.assigner.trace.note(
                    "barred",
                    podSet=self.plan.name,
                    flavor=flavor,
                    resources=list(self.step.resources),
                    reason=reason,
                )
            return None
        preference = self.assigner.queue.spec.preference
        whole, each, severe = BEST, {}, Severity.WAITING
        for resource in self.step.resources:
            granted, severity = self._grant(flavor, resource)
            each[resource] = granted
            severe = max(severe, severity)
            if preferred(whole, granted, preference):
                whole = granted
        if whole.mode is Mode.NO_FIT:
            self.severe.append(severe)
        return whole, each

    def _barred(self, flavor: str) -> str:
        trigger = self.step.trigger
        nominated = self.assigner.nominated(self.index, trigger)
        if nominated is not None and nominated != flavor:
            return (
                f"skipping flavor {flavor} as it is not found in the nomination "
                f"mapping for resource {trigger}"
            )
        return self.assigner.refusal(self.shape, flavor)

    def _grant(self, flavor: str, resource: str) -> tuple[Granted, Severity]:
        cell = self.assigner.queue.cells[flavor, resource]
        assigned = self.used.get(cell, 0)
        amount = assigned + self.plan.requests[resource]
        granted, reason, severity = self.assigner.grant(cell, amount, assigned)
        if reason:
            self.reasons.append(reason)
        if self.assigner.trace is not None:
            self.assigner.trace.flavor(
                self.plan.name, cell, amount, assigned, granted, reason
            )
        return granted, severity

    def settle(self) -> None:
        """Write what was found into the plan."""
        last = self.at == len(self.group.flavors) - 1
        for resource, (flavor, granted) in self.found.items():
            self.plan.flavors[resource] = flavor
            self.plan.granted[resource] = granted
            self.plan.tried[resource] = -1 if last else self.at
        if self.best.mode is not Mode.FIT:
            self.plan.reasons.extend(self.reasons)
