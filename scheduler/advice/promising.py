"""Which untried settings promise most, by what each measure of the goal is guessed at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np

from scheduler.advice.goal import Bound, Goal, mean_of
from scheduler.advice.ledger import PRICE, RunLedger
from scheduler.advice.parts import parts_of, whole_of
from scheduler.advice.space import Point
from scheduler.advice.surrogate import Array, Surrogate
from scheduler.measures import better

#: How many outcomes are looked at for each setting.
_DRAWS = 32
#: Of more settings, those with the least loss are learned from.
MOST_LEARNED = 150
#: Differences far below this share of what the base had count for little.
_FINE = 0.05
_QUANTILES = [NormalDist().inv_cdf((n + 0.5) / _DRAWS) for n in range(_DRAWS)]


class Promising:
    """What is guessed of each measure that the objectives and bounds read.

    By itself each is simple: a wait that one quota rules is learned in a few runs,
    where a sum of waits is not. Cost: per measure a Gaussian process of at most
    MOST_LEARNED settings.
    """

    def __init__(self, ledger: RunLedger, tried: Sequence[Point]) -> None:
        self.ledger = ledger
        self.base = ledger.base_mean(ledger.seeds)
        ran = {p: seeds for p in tried if (seeds := ledger.ran(p))}
        losses = {p: ledger.loss(p, seeds) for p, seeds in ran.items()}
        learned = sorted(losses, key=lambda p: losses[p])[:MOST_LEARNED]
        self.least = min(losses.values())
        self.guesses = {
            name: Surrogate(
                ledger.space, learned, self._values(name, {p: ran[p] for p in learned})
            )
            for name in self._parts()
        }

    def choose(self, points: Sequence[Point], count: int) -> list[Point]:
        """Return the settings of which most is expected, the most promising first.

        Each is chosen as if those before had come to what is guessed of them; of
        equal ones the first is taken.
        """
        found: list[Point] = []
        left = list(points)
        while left and len(found) < count:
            losses = self._losses(left)
            gain = np.maximum(self.least - losses, 0.0).mean(axis=0)
            order = np.lexsort((np.round(losses.mean(axis=0), 9), -np.round(gain, 9)))
            found.append(left.pop(int(order[0])))
            for guess in self.guesses.values():
                guess.believe(found[-1])
        return found

    def _parts(self) -> list[str]:
        names = measures_of(self.ledger.goal, self.ledger.bounds)
        parts = [part for name in names for part in parts_of(name, self.base)]
        return list(dict.fromkeys(parts))

    def _fine(self, name: str) -> float:
        """Return what is little of a measure; of a part, beside the whole."""
        names = measures_of(self.ledger.goal, self.ledger.bounds)
        wholes = [whole for whole in names if name in parts_of(whole, self.base)]
        had = [abs(self.base.get(one, 0.0)) for one in (name, *wholes)]
        return _FINE * max(had) or 1.0

    def _values(self, name: str, ran: Mapping[Point, Sequence[int]]) -> list[float]:
        """Return a measure of settings, in logarithms far from 0, beside the base's.

        What cannot be run is as bad as the worst that was.
        """
        fine = self._fine(name)

        def value(point: Point, seeds: Sequence[int]) -> float | None:
            runs = self.ledger.runs(point, seeds)
            found = None if runs is None else mean_of(runs).get(name)
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

    def _losses(self, points: Sequence[Point]) -> Array:
        """Return a loss per draw and setting."""
        drawn = {name: self._drawn(name, points) for name in self.guesses}
        goal, bounds = self.ledger.goal, self.ledger.bounds
        wholes = {
            name: whole_of(name, drawn, self.base) for name in measures_of(goal, bounds)
        }
        total: Array = np.zeros((_DRAWS, len(points)))
        weights = math.fsum(o.weight for o in goal.objectives) or 1.0
        for one in goal.objectives:
            sign = 1.0 if one.better == "low" else -1.0
            scale = abs(self.base.get(one.measure, 0.0)) or 1.0
            total += one.weight / weights * sign / scale * wholes[one.measure]
        for bound in bounds:
            total += PRICE * _violation(bound, wholes[bound.measure])
        return total

    def _drawn(self, name: str, points: Sequence[Point]) -> Array:
        """Return draws of a measure; which go together differs between measures."""
        mean, deviation = self.guesses[name].guess(points)
        at = list(self.guesses).index(name)
        order = np.random.default_rng(at).permutation(_DRAWS)
        normal: Array = np.asarray(_QUANTILES)[order]
        found: Array = mean + deviation * normal[:, None]
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
