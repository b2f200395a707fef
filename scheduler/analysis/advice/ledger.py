"""What the runs of a search came to, and how good settings are by them."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from scheduler.analysis.advice.goal import Bound, Goal, Numbers, mean_of
from scheduler.analysis.advice.space import Point, Space

Ask = tuple[Point, int]  # a setting and a seed
#: Numbers of a run; None = this setting cannot be.
Known = dict[Ask, Numbers | None]
Asking = Generator[list[Ask], None, None]
_NEVER = 1e9
PRICE = 3.0  # of a bound that is missed by its whole size, in shares of the base


@dataclass(slots=True, kw_only=True)
class RunLedger:
    """The runs so far. A run that could not be made counts as the worst."""

    space: Space
    goal: Goal
    seeds: tuple[int, ...]
    store: Known = field(default_factory=dict)  # what was run, perhaps before
    known: Known = field(default_factory=dict)  # of that, what was asked for by now
    bounds: list[Bound] = field(default_factory=list)
    _bounds: dict[tuple[int, ...], list[Bound]] = field(default_factory=dict)
    _means: dict[tuple[Point, tuple[int, ...]], dict[str, float]] = field(
        default_factory=dict
    )

    def need(self, points: Sequence[Point], seeds: Sequence[int]) -> Asking:
        """Yield what has not been run yet; afterwards all of it is known."""
        wanted = [(p, s) for p in points for s in seeds if (p, s) not in self.known]
        missing = [ask for ask in dict.fromkeys(wanted) if ask not in self.store]
        if missing:
            yield missing
        for ask in wanted:
            self.known[ask] = self.store[ask]

    def runs(self, point: Point, seeds: Sequence[int]) -> list[Numbers] | None:
        """Return the numbers of a setting; None when one could not be had."""
        found = [self.known.get((point, seed)) for seed in seeds]
        lost = any(numbers is None for numbers in found)
        return None if lost else [numbers for numbers in found if numbers is not None]

    def ran(self, point: Point) -> tuple[int, ...]:
        """Return the seeds with which a setting was run."""
        return tuple(seed for seed in self.seeds if (point, seed) in self.known)

    def complete(self, point: Point) -> bool:
        """Return whether all seeds were run."""
        return all((point, seed) in self.known for seed in self.seeds)

    def mean(self, point: Point, seeds: Sequence[int]) -> dict[str, float] | None:
        """Return the means of a setting; None when a run could not be had."""
        key = (point, tuple(seeds))
        if key not in self._means:
            runs = self.runs(point, seeds)
            if runs is None:
                return None
            self._means[key] = mean_of(runs)
        return self._means[key]

    def base_mean(self, seeds: Sequence[int]) -> dict[str, float]:
        """Return the means of the base."""
        return self.mean(self.space.base, seeds) or {}

    def violation(
        self, point: Point, seeds: Sequence[int], bounds: Sequence[Bound] | None = None
    ) -> float:
        """Return by how much the bounds are missed in all, as shares; 0 = all hold."""
        runs = self.runs(point, seeds)
        if runs is None:
            return _NEVER
        given = self._bounds_with(seeds) if bounds is None else bounds
        return math.fsum(bound.violation(bound.of(runs)) for bound in given)

    def _bounds_with(self, seeds: Sequence[int]) -> list[Bound]:
        """Return the bounds in the light of the base with the same seeds.

        What nobody may lose differs from seed to seed. Those of the search while the
        base lacks one of these.
        """
        key = tuple(seeds)
        if key not in self._bounds:
            runs = self.runs(self.space.base, key)
            if not runs or not self.bounds:
                return self.bounds
            self._bounds[key] = self.goal.bounds(runs)
        return self._bounds[key]

    def objective(self, point: Point, seeds: Sequence[int]) -> float:
        """Return the objectives as a share of the base's; lower is better."""
        mean = self.mean(point, seeds)
        if mean is None:
            return _NEVER
        return self.goal.objective(mean, self.base_mean(seeds))

    def loss(self, point: Point, seeds: Sequence[int]) -> float:
        """Return one number to learn from: objectives, and a price on what is missed."""
        missed = self.violation(point, seeds)
        return min(_NEVER, self.objective(point, seeds) + PRICE * missed)

    def losses(self, point: Point, seeds: Sequence[int]) -> list[float]:
        """Return a loss per objective, each with the price on what is missed."""
        numbers, base = self.mean(point, seeds), self.base_mean(seeds)
        if numbers is None:
            return [_NEVER] * max(1, len(self.goal.objectives))
        price = PRICE * self.violation(point, seeds)
        parts = [self.goal.part(o, numbers, base) for o in self.goal.objectives]
        return [part + price for part in parts or [0.0]]

    def rank(
        self, point: Point, seeds: Sequence[int] = ()
    ) -> tuple[float, float, int, float]:
        """Return what settings are ordered by: bounds, objectives, size."""
        chosen = seeds or self.seeds
        missed = self.violation(point, chosen)
        return (
            round(missed, 9),
            round(self.objective(point, chosen), 9),
            *self.space.size(point),
        )

    def leaders(self, count: int) -> list[Point]:
        """Return the best settings that have all their runs, the first one first."""
        points = {point for point, seed in self.known if seed == self.seeds[-1]}
        done = [point for point in points if self.complete(point)]
        return sorted(done, key=lambda point: (self.rank(point), point))[:count]

    def best(self) -> Point:
        """Return the best setting that has all its runs; the base at worst."""
        return next(iter(self.leaders(1)), self.space.base)
