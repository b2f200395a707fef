"""How settings that were run compare so far: what each misses, then the objectives."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from scheduler.analysis.advice.goal import Goal, Numbers, mean_of
from scheduler.analysis.experiments.document import ExperimentError
from scheduler.analysis.experiments.goals import Constraint

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
