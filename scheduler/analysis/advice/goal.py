"""How good a setting is: bounds first, then objectives, as one number each."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from scheduler.analysis.advice.space import Point, Pool, Space, repair
from scheduler.analysis.experiments.document import (
    DEFAULT_OBJECTIVES,
    Constraint,
    ExperimentError,
    ExperimentSpec,
    Objective,
)
from scheduler.analysis.measures import better
from scheduler.model.errors import QuantityError
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
        """Return the bound of each constraint; a relative one is worked out from the base's runs.

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


# ------------------------------------------------------------------------
# How settings that were run compare so far: what each misses, then the objectives.


#: Of a goal without objectives, so many of the measures that it bounds are shown.
_MOST_BOUNDED = 3


class SearchStanding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One setting that has all its runs.

    `missed` has the constraints that its runs do not keep, as people say them, and
    `missed_constraints` the same in numbers; `values` the means of the
    objectives, or of the first bounds where there are none.
    """

    variant: int
    missed: list[str]
    missed_constraints: list[Constraint]
    values: dict[str, float]


def standings(
    goal: Goal, runs: Sequence[Sequence[Numbers]], edits: Sequence[int], seeds: int
) -> list[SearchStanding]:
    """Return the settings that were run with every seed, the best first.

    `runs` has the numbers of each setting, the base's first; `edits` how many edits
    each has. The order is that of `RunLedger.rank`. Empty while the base has not run
    with every seed, or where the goal names what no run has. O(runs x constraints).
    """
    if not runs or len(runs[0]) < seeds:
        return []
    try:
        bounds = goal.bounds(runs[0])
    except ExperimentError:
        return []
    base = mean_of(runs[0])
    names = [one.measure for one in goal.objectives]
    names = names or [bound.measure for bound in bounds[:_MOST_BOUNDED]]
    found = []
    for variant, own in enumerate(runs):
        if len(own) < seeds:
            continue
        violations = [(b, b.violation(b.of(own))) for b in bounds]
        mean = mean_of(own)
        rank = (
            round(math.fsum(share for _, share in violations), 9),
            round(goal.objective(mean, base), 9),
            edits[variant],
            variant,
        )
        missed = [bound for bound, share in violations if share > 0]
        values = {name: mean[name] for name in names if name in mean}
        standing = SearchStanding(
            variant=variant,
            missed=[bound.text for bound in missed],
            missed_constraints=[bound.constraint for bound in missed],
            values=values,
        )
        found.append((rank, standing))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


# ------------------------------------------------------------------------
# First guesses: quota in proportion to the work that came to each queue.


def guesses(space: Space, base: Numbers) -> list[Point]:
    """Return first settings to run, derived from the shares of the base run.

    Quota in proportion to work where queues share a total, the rest as it is; and
    half-way there. O(steps of the totals x queues).
    """
    found = list(space.base)
    for pool in space.pools:
        for member, index in _shared(space, pool, base).items():
            found[member] = index
    pairs = zip(space.base, found, strict=True)
    half = repair(space, tuple(round((now + then) / 2) for now, then in pairs))
    settings = [tuple(found), half or space.base]
    return [one for one in dict.fromkeys(settings) if one != space.base]


def _shared(space: Space, pool: Pool, base: Numbers) -> dict[int, int]:
    """Return values of a pool's members: step by step to who has most work for it."""
    work = _work(pool, base)
    lowest = dict(zip(pool.members, pool.lowest, strict=False))
    found = dict.fromkeys(work, 0)

    def load(at: int) -> float:
        steps = lowest[at] + found[at]
        return work[at] / steps if steps > 0 else math.inf

    for _ in range(pool.room + sum(space.dimensions[at].now for at in work)):
        able = [at for at in work if found[at] + 1 < len(space.dimensions[at].values)]
        if not able:
            break
        found[max(able, key=load)] += 1
    return found


def _work(pool: Pool, base: Numbers) -> dict[int, float]:
    """Return per member what came to its queue; not where nothing could start.

    What was held, and as much again for each that did not start.
    """
    found = {}
    for at, queue in zip(pool.members, pool.queues, strict=False):
        held = base.get(f"usedHours.{queue}.{pool.resource}", 0.0)
        started = base.get(f"queues.{queue}.started", 0.0)
        if held > 0 and started > 0:
            found[at] = held * base[f"queues.{queue}.arrived"] / started
    return found


# ------------------------------------------------------------------------
# Constraints as sentences: "inference p95 wait under 30 s".

#: What is understood, for messages.
FORMS = (
    "queue inference p95 wait under 30 s",
    "p95 wait under 5 min",
    "no more than 2 preemptions per hour",
    "nobody loses more than 10%",
    "utilisation of cpu at least 70%",
    "waitP95Ms <= 30000",
)
_UNITS = {
    "ms": 1.0,
    "s": 1e3,
    "sec": 1e3,
    "second": 1e3,
    "seconds": 1e3,
    "m": 6e4,
    "min": 6e4,
    "minute": 6e4,
    "minutes": 6e4,
    "h": 3.6e6,
    "hour": 3.6e6,
    "hours": 3.6e6,
    "%": 0.01,
    "": 1.0,
}
_NUMBER = r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>%|[a-z]*)"
_BELOW = r"(?:is\s+)?(?:under|below|at most|no more than|not above|up to|<=|<)"
_ABOVE = r"(?:is\s+)?(?:over|above|at least|no less than|not below|>=|>)"
_WAITS = {
    "mean": "meanMs",
    "average": "meanMs",
    "median": "p50Ms",
    "p50": "p50Ms",
    "p95": "p95Ms",
    "max": "maxMs",
    "longest": "maxMs",
}
_SAID = {"meanMs": "mean", "p50Ms": "median", "p95Ms": "p95", "maxMs": "max"}
_OF_A_QUEUE = re.compile(r"(?:queues\.(?P<queue>[^*\s]+)|workloads)\.(?P<last>\w+)")


def read_constraint(given: Constraint | str) -> Constraint:
    """Return the constraint of a sentence, or the one given.

    Raises ExperimentError with what is understood.
    """
    if isinstance(given, Constraint):
        return _checked(given)
    text = " ".join(given.split())
    for pattern, make in _READERS:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if match:
            return _checked(make(match))
    known = "; ".join(f'"{form}"' for form in FORMS)
    raise ExperimentError(
        RequestProblem.SENTENCE.said(given=repr(given), known=known),
        "spec.search.constraints",
    )


def text_of(constraint: Constraint) -> str:
    """Return the constraint as people say it.

    One that a sentence can say is read again as it was.
    """
    name = constraint.measure
    if constraint.loses is not None:
        share = f"{constraint.loses * 100:.9g}%"
        if name == "queues.*.meanMs":
            return f"nobody loses more than {share}"
        return f"{_said(name)} no more than {share} worse than before"
    each = " in every run" if constraint.over == "every" else ""
    low, high = constraint.min, constraint.max
    if low is not None and high is not None:
        return f"{low:g} <= {name} <= {high:g}{each}"
    if low is not None:
        return f"{_least(name, low)}{each}"
    return f"{_most(name, high or 0.0)}{each}"


def _least(name: str, bound: float) -> str:
    if name.startswith("utilisation."):
        resource = name.removeprefix("utilisation.")
        return f"utilisation of {resource} at least {bound * 100:.9g}%"
    return f"{name} >= {bound:.15g}"


def _said(name: str) -> str:
    """Return a measure in words where there are some: "queue etl mean wait"."""
    match = _OF_A_QUEUE.fullmatch(name)
    how = _SAID.get(match["last"]) if match else None
    if match is None or how is None:
        return name
    return f"queue {match['queue']} {how} wait" if match["queue"] else f"{how} wait"


def _most(name: str, bound: float) -> str:
    if match := _OF_A_QUEUE.fullmatch(name):
        queue, last = match["queue"], match["last"]
        whose = f"queue {queue} " if queue else ""
        if last == "slowdown" and queue:
            return f"{whose}slowdown at most {bound:.15g}"
        if how := _SAID.get(last):
            return f"{whose}{how} wait at most {bound / 1000:.15g} s"
    if name in ("preemptionsPerHour", "evictionsPerHour"):
        return f"{name.removesuffix('PerHour')} per hour at most {bound:.15g}"
    return f"{name} <= {bound:.15g}"


def _checked(constraint: Constraint) -> Constraint:
    bounds = (constraint.min, constraint.max, constraint.loses)
    if not constraint.measure or all(bound is None for bound in bounds):
        raise ExperimentError(
            expected(Wanted.BOUNDED_MEASURE), "spec.search.constraints"
        )
    return constraint


def _wait(match: re.Match[str]) -> Constraint:
    queue = (match["queue"] or "").strip()
    where = f"queues.{queue}" if queue else "workloads"
    how = _WAITS[(match["how"] or "mean").lower()]
    return Constraint(measure=f"{where}.{how}", max=_value(match))


def _slowdown(match: re.Match[str]) -> Constraint:
    return Constraint(measure=f"queues.{match['queue']}.slowdown", max=_value(match))


def _rate(match: re.Match[str]) -> Constraint:
    name = match["what"].lower()
    name = f"{name}s" if not name.endswith("s") else name
    measure = f"{name}PerHour" if match["per"] else name
    return Constraint(measure=measure, max=_value(match))


def _nobody(match: re.Match[str]) -> Constraint:
    value = _value(match)
    return Constraint(measure="queues.*.meanMs", loses=value)


def _utilisation(match: re.Match[str]) -> Constraint:
    return Constraint(measure=f"utilisation.{match['resource']}", min=_value(match))


def _lost(match: re.Match[str]) -> Constraint:
    return Constraint(measure="workLostMs", max=_value(match))


def _plain(match: re.Match[str]) -> Constraint:
    value = _value(match)
    if match["way"].startswith("<"):
        return Constraint(measure=match["measure"], max=value)
    return Constraint(measure=match["measure"], min=value)


def _value(match: re.Match[str]) -> float:
    unit = match["unit"].lower()
    if unit not in _UNITS:
        known = ", ".join(unit for unit in _UNITS if unit)
        raise QuantityError(expected(Wanted.UNIT_OF.said(known=known), unit))
    return round(float(match["number"]) * _UNITS[unit], 9)


_READERS: tuple[tuple[str, Callable[[re.Match[str]], Constraint]], ...] = (
    (rf"nobody loses more than {_NUMBER}", _nobody),
    (
        r"(?:no more than|at most|under|below) (?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>)\s*"
        r"(?P<what>preemptions?|evictions?)(?P<per> (?:per|an?) hour)?",
        _rate,
    ),
    (
        rf"(?P<what>preemptions?|evictions?)(?P<per> per hour)? {_BELOW} {_NUMBER}",
        _rate,
    ),
    (rf"(?:work lost|lost work) {_BELOW} {_NUMBER}", _lost),
    (rf"utili[sz]ation of (?P<resource>\S+) {_ABOVE} {_NUMBER}", _utilisation),
    (rf"(?:queue )?(?P<queue>\S+) slowdown {_BELOW} {_NUMBER}", _slowdown),
    (
        rf"(?:queue )?(?P<queue>(?!(?:{'|'.join(_WAITS)}|every)\b)\S+ )?"
        rf"(?:(?P<how>{'|'.join(_WAITS)}) )?wait {_BELOW} {_NUMBER}",
        _wait,
    ),
    (rf"(?P<measure>[\w.*/-]+) ?(?P<way><=?|>=?) ?{_NUMBER}", _plain),
)
