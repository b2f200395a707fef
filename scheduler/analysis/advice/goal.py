"""How good a setting is: bounds first, then objectives, as one number each."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from scheduler.analysis.advice.wording import read_constraint, text_of
from scheduler.analysis.experiments.document import (
    DEFAULT_OBJECTIVES,
    ExperimentError,
    ExperimentSpec,
    Objective,
)
from scheduler.analysis.experiments.goals import Constraint
from scheduler.analysis.measures import better
from scheduler.model.problems import RequestProblem, Wanted, expected

Numbers = Mapping[str, float]

#: What a goal without objectives and constraints wants low.
USUAL = Objective(measure="workloads.meanMs")
#: What counts as "no worse" for times beside the share that may be lost.
GRACE_MS = 1000.0
_LACKING = 10.0  # violation of a bound on what a run does not have
_EXACT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One constraint on one measure, in numbers."""

    text: str
    constraint: Constraint  # what the text says, of this measure
    measure: str
    low: float = -math.inf
    high: float = math.inf
    every: bool = False

    def violation(self, value: float | None) -> float:
        """Return by what share of the bound a value is outside; 0 = inside."""
        if value is None:
            return _LACKING
        over = value - self.high if value > self.high else self.low - value
        bound = self.high if value > self.high else self.low
        return max(0.0, over) / (abs(bound) or 1.0) if over > _EXACT else 0.0

    def of(self, runs: Sequence[Numbers]) -> float | None:
        """Return the value that is held against the bound: mean, or worst seed."""
        values = [run[self.measure] for run in runs if self.measure in run]
        if not values or len(values) < len(runs):
            return None
        if self.every:
            return max(values, key=self.violation)
        return math.fsum(values) / len(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is wanted. Losses are shares of what the base had: less is better."""

    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]

    @classmethod
    def of(cls, spec: ExperimentSpec) -> Goal:
        """Return the goal of an experiment's search. Raises ExperimentError."""
        search = spec.search
        given = search.constraints if search is not None else []
        constraints = tuple(read_constraint(one) for one in given)
        objectives = tuple(spec.objectives)
        if objectives == DEFAULT_OBJECTIVES:
            objectives = () if constraints else (USUAL,)
        for objective in objectives:
            if not (math.isfinite(objective.weight) and objective.weight > 0):
                problem = expected(
                    Wanted.ABOVE.said(kind="weight", least="0"), given=objective.weight
                )
                raise ExperimentError(problem, "spec.objectives")
        return cls(objectives=objectives, constraints=constraints)

    def bounds(self, base: Sequence[Numbers]) -> list[Bound]:
        """Return the bounds, in the light of what the base had with these seeds.

        Raises ExperimentError for a measure that no run has.
        """
        known = sorted({name for run in base for name in run})
        for objective in self.objectives:
            _expect(objective.measure, known, "spec.objectives")
        found: list[Bound] = []
        for constraint in self.constraints:
            names = fnmatch.filter(known, constraint.measure)
            if not names:
                _expect(constraint.measure, known, "spec.search.constraints")
            found += [_bound(constraint, name, base) for name in names]
        return found

    def objective(self, numbers: Numbers, base: Numbers) -> float:
        """Return the weighted objectives as a share of the base's; lower is better."""
        weights = math.fsum(one.weight for one in self.objectives) or 1.0
        return (
            math.fsum(
                one.weight * self.part(one, numbers, base) for one in self.objectives
            )
            / weights
        )

    def part(self, objective: Objective, numbers: Numbers, base: Numbers) -> float:
        """Return one objective as a share of what the base had; lower is better."""
        scale = abs(base.get(objective.measure, 0.0)) or 1.0
        sign = 1.0 if objective.better == "low" else -1.0
        value = numbers.get(objective.measure)
        return _LACKING if value is None else sign * value / scale


def mean_of(runs: Sequence[Numbers]) -> dict[str, float]:
    """Return the mean of each number that every run has."""
    if not runs:
        return {}
    shared = set(runs[0]).intersection(*runs[1:])
    return {
        name: math.fsum(run[name] for run in runs) / len(runs)
        for name in sorted(shared)
    }


def _expect(name: str, known: Sequence[str], field: str) -> None:
    if name in known:
        return
    last = name.rpartition(".")[2]
    like = [
        k for k in known if k.endswith(last) or k.split(".")[0] == name.split(".")[0]
    ]
    problem = RequestProblem.NO_MEASURE.said(
        name=repr(name), known=", ".join((like or list(known))[:12])
    )
    if "workloads.arrived" in known and "workloads.meanMs" not in known:
        problem = RequestProblem.NO_MEASURE_YET.said(what=problem)
    raise ExperimentError(problem, field)


def _bound(constraint: Constraint, name: str, base: Sequence[Numbers]) -> Bound:
    low = -math.inf if constraint.min is None else constraint.min
    high = math.inf if constraint.max is None else constraint.max
    of_one = msgspec.structs.replace(constraint, measure=name)
    if constraint.loses is not None:
        had = math.fsum(run.get(name, 0.0) for run in base) / len(base)
        grace = GRACE_MS if name.endswith("Ms") else 0.0
        if better(name) == "high":
            low = had * (1 - constraint.loses) - grace
        else:
            high = had * (1 + constraint.loses) + grace
    return Bound(
        text=text_of(of_one),
        constraint=of_one,
        measure=name,
        low=low,
        high=high,
        every=constraint.over == "every",
    )
