"""Which untried settings improve most in expectation, by each measure of the goal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np

from scheduler.analysis.advice.goal import Bound, Goal
from scheduler.analysis.advice.ledger import PRICE, RunLedger
from scheduler.analysis.advice.space import Point
from scheduler.analysis.advice.surrogates.parts import parts_of, whole_of
from scheduler.analysis.advice.surrogates.surrogate import (
    Array,
    Kernels,
    Places,
    Posterior,
    Surrogate,
)
from scheduler.analysis.measures import better

#: How many outcomes are looked at for each setting.
_DRAWS = 32
#: Of more settings, those with the least loss are learned from.
MOST_LEARNED = 150
#: Differences far below this share of what the base had count for little.
_FINE = 0.05
_QUANTILES = [NormalDist().inv_cdf((n + 0.5) / _DRAWS) for n in range(_DRAWS)]


class ExpectedImprovement:
    """A Gaussian process of each measure that the objectives and bounds read.

    By itself each is simple: a wait that one quota rules is learned in a few runs,
    where a sum of waits is not. `lengths` has the length scales of each, to begin with
    and to go on from. Cost: per measure a process of at most MOST_LEARNED settings.
    """

    def __init__(
        self, ledger: RunLedger, tried: Sequence[Point], lengths: dict[str, Places]
    ) -> None:
        self.ledger = ledger
        self.base = ledger.base_mean(ledger.seeds)
        ran = {p: seeds for p in tried if (seeds := ledger.ran(p))}
        losses = {p: ledger.loss(p, seeds) for p, seeds in ran.items()}
        learned = sorted(losses, key=lambda p: losses[p])[:MOST_LEARNED]
        self.least = min(losses.values())
        names = measures_of(ledger.goal, ledger.bounds)
        self.parts = {whole: parts_of(whole, self.base) for whole in names}
        kernels = Kernels(ledger.space, learned)
        self.surrogates = {
            name: Surrogate(
                kernels,
                self._values(name, {p: ran[p] for p in learned}),
                lengths.get(name),
            )
            for name in dict.fromkeys(itertools.chain(*self.parts.values()))
        }
        lengths.update({name: s.lengths for name, s in self.surrogates.items()})

    def choose(self, points: Sequence[Point], count: int) -> list[Point]:
        """Return the settings of the greatest expected improvement, that one first.

        Each is chosen as if those before had come to what is expected of them; of
        equal ones the first is taken.
        """
        if not points:
            return []
        expected = {name: s.predict(points) for name, s in self.surrogates.items()}
        found: list[int] = []
        while len(found) < min(count, len(points)):
            losses = self._losses(expected)
            gain = np.maximum(self.least - losses, 0.0).mean(axis=0)
            gain[found] = -1.0
            order = np.lexsort((np.round(losses.mean(axis=0), 9), -np.round(gain, 9)))
            found.append(int(order[0]))
            for one in expected.values():
                one.condition(found[-1])
        return [points[at] for at in found]

    def _fine(self, name: str) -> float:
        """Return what is little of a measure; of a part, beside the whole."""
        wholes = [whole for whole, parts in self.parts.items() if name in parts]
        had = [abs(self.base.get(one, 0.0)) for one in (name, *wholes)]
        return _FINE * max(had) or 1.0

    def _values(self, name: str, ran: Mapping[Point, Sequence[int]]) -> list[float]:
        """Return a measure of settings, in logarithms far from 0, beside the base's.

        What cannot be run is as bad as the worst that was.
        """
        fine = self._fine(name)

        def value(point: Point, seeds: Sequence[int]) -> float | None:
            found = (self.ledger.mean(point, seeds) or {}).get(name)
            return None if found is None else math.asinh(found / fine)

        base = self.ledger.space.base
        whole = value(base, self.ledger.seeds) or 0.0
        shift = {
            s: whole - (value(base, s) or 0.0) for s in set(map(tuple, ran.values()))
        }
        values = [value(point, seeds) for point, seeds in ran.items()]
        known = [v for v in values if v is not None] or [0.0]
        worst = min(known) if better(name) == "high" else max(known)
        return [
            worst if v is None else v + shift[tuple(seeds)]
            for v, seeds in zip(values, ran.values(), strict=True)
        ]

    def _losses(self, expected: Mapping[str, Posterior]) -> Array:
        """Return a loss per draw and setting."""
        drawn = {
            name: self._drawn(at, name, expected[name])
            for at, name in enumerate(expected)
        }
        goal, bounds = self.ledger.goal, self.ledger.bounds
        wholes = {
            name: whole_of(name, drawn, self.base) for name in measures_of(goal, bounds)
        }
        total: Array = np.zeros(next(iter(drawn.values())).shape)
        weights = math.fsum(o.weight for o in goal.objectives) or 1.0
        for one in goal.objectives:
            sign = 1.0 if one.better == "low" else -1.0
            scale = abs(self.base.get(one.measure, 0.0)) or 1.0
            total += one.weight / weights * sign / scale * wholes[one.measure]
        for bound in bounds:
            total += PRICE * _violation(bound, wholes[bound.measure])
        return total

    def _drawn(self, at: int, name: str, expected: Posterior) -> Array:
        """Return draws of a measure; which go together differs between measures."""
        order = np.random.default_rng(at).permutation(_DRAWS)
        normal: Array = np.asarray(_QUANTILES)[order]
        found: Array = expected.mean + expected.deviation * normal[:, None]
        return self._fine(name) * np.sinh(np.clip(found, -20.0, 20.0))


def measures_of(goal: Goal, bounds: Sequence[Bound]) -> list[str]:
    """Return the measures that a goal reads."""
    names = [o.measure for o in goal.objectives] + [b.measure for b in bounds]
    return list(dict.fromkeys(names))


def _violation(bound: Bound, values: Array) -> Array:
    """Return by what share of the bound values are outside."""
    over = np.maximum(values - bound.high, 0.0) / (abs(bound.high) or 1.0)
    under = np.maximum(bound.low - values, 0.0) / (abs(bound.low) or 1.0)
    found: Array = np.where(np.isfinite(over), over, 0.0)
    return found + np.where(np.isfinite(under), under, 0.0)
