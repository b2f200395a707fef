"""After the search: the best of the best few, made smaller, and what each edit does."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler.analysis.advice.ledger import Asking, RunLedger
from scheduler.analysis.advice.space import Point, around, closer, without

#: Beyond this many edits the smaller ones are not looked at one by one.
MOST_ROUNDS = 24
#: So many of the best settings run again, beside the base, with seeds that chose none
#: of them: after each so many, the better half of them goes on.
FINALISTS, FRESH_SEEDS = 8, (2, 4)
_FIRST_FRESH = 2_000_001


@dataclass(slots=True, kw_only=True)
class Proof:
    """A setting that is chosen and made smaller, then tried around and on other seeds.

    Of many settings the best one of few seeds was lucky as well. So the best few run
    with fresh seeds too, and `seeds` (those of the search, and these) choose among them
    and the base, which no luck has chosen.
    """

    ledger: RunLedger
    point: Point
    held_out: tuple[int, ...]
    tolerance: float
    shrinking: int = 100  # runs to make the setting smaller, at most
    left_out: dict[int, Point] = field(default_factory=dict)
    near: list[tuple[int, Point]] = field(default_factory=list)
    seeds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Draw the fresh seeds: none that the search or the proof uses."""
        used = {*self.ledger.seeds, *self.held_out}
        fresh = (seed for seed in itertools.count(_FIRST_FRESH) if seed not in used)
        self.seeds = (*self.ledger.seeds, *itertools.islice(fresh, FRESH_SEEDS[-1]))

    def steps(self) -> Asking:
        """Yield the runs of the proof, round by round."""
        yield from self.choose()
        yield from self.shrink()
        ledger, space = self.ledger, self.ledger.space
        if self.point == space.base:
            yield from ledger.need([space.base], self.held_out)
            return
        for at in space.edited(self.point):
            fewer = without(space, self.point, at)
            if fewer is not None:
                self.left_out[at] = fewer
            self.near += [(at, p) for p in around(space, self.point, at)]
        tried = [*self.left_out.values(), *(point for _, point in self.near)]
        yield from ledger.need(list(dict.fromkeys(tried)), ledger.seeds)
        yield from ledger.need([space.base, self.point], self.held_out)

    def choose(self) -> Asking:
        """Take the best of the finalists and the base by all seeds."""
        ledger, base = self.ledger, self.ledger.space.base
        finalists = [point for point in ledger.leaders(FINALISTS) if point != base]
        for count in FRESH_SEEDS if finalists else ():
            seeds = self.seeds[: len(ledger.seeds) + count]
            yield from ledger.need([base, *finalists], seeds)
            order = sorted(finalists, key=lambda p: (ledger.rank(p, seeds), p))
            finalists = order[: (len(order) + 1) // 2]
        if finalists:
            best = (base, finalists[0])
            self.point = min(best, key=lambda p: ledger.rank(p, self.seeds))

    def shrink(self) -> Asking:
        """Take edits away, or halve them, while the goal is kept within tolerance."""
        ledger, start = self.ledger, self.point
        most = len(ledger.known) + self.shrinking
        for _ in range(MOST_ROUNDS):
            smaller = self._affordable(self._smaller(), ledger.seeds, most)
            yield from ledger.need(smaller, ledger.seeds)
            kept = [p for p in smaller if self._as_good(p, start, ledger.seeds)]
            kept.sort(key=lambda p: (ledger.space.size(p), ledger.rank(p), p))
            before = self.point
            for point in self._affordable(self._together(kept), self.seeds, most):
                yield from ledger.need([point], self.seeds)
                if self._as_good(point, start, self.seeds):
                    self.point = point
                    break
            if self.point == before:
                return

    def _affordable(
        self, points: Sequence[Point], seeds: Sequence[int], most: int
    ) -> list[Point]:
        """Return the first of some settings, for which there are runs enough."""
        known, found = self.ledger.known, []
        left = most - len(known)
        for point in points:
            left -= sum((point, seed) not in known for seed in seeds)
            if left < 0:
                break
            found.append(point)
        return found

    def _together(self, kept: Sequence[Point]) -> list[Point]:
        """Return what all of these come to at once, half of them, and so on; then each.

        Edits that do no harm one by one are mostly harmless together, and taken away
        one by one they would ask for as many rounds as there are.
        """
        space, found, count = self.ledger.space, list(kept), len(kept)
        both: list[Point] = []
        while count > 1:
            point = self._without_all(kept[:count])
            if space.size(point) < space.size(kept[0]):
                both.append(point)
            count //= 2
        return list(dict.fromkeys([*both, *found]))

    def _without_all(self, smaller: Sequence[Point]) -> Point:
        """Return the setting without each edit that one of these is without."""
        space, point = self.ledger.space, self.point
        for at in space.edited(self.point):
            gone = any(one[at] == space.base[at] for one in smaller)
            if gone and point[at] != space.base[at]:
                point = without(space, point, at) or point
        return point

    def _smaller(self) -> list[Point]:
        space, point = self.ledger.space, self.point
        found: dict[Point, None] = {}
        for at in space.edited(point):
            for other in (without(space, point, at), closer(space, point, at)):
                if other is not None and space.size(other) < space.size(point):
                    found[other] = None
        return list(found)

    def _as_good(self, point: Point, start: Point, seeds: Sequence[int]) -> bool:
        ledger = self.ledger
        if ledger.violation(point, seeds) > ledger.violation(start, seeds) + 1e-9:
            return False
        had = ledger.objective(start, seeds)
        return ledger.objective(point, seeds) <= had + abs(had) * self.tolerance


def most_runs(
    settings: int, dimensions: int, seeds: int, held_out: Sequence[int]
) -> int:
    """Return an estimate of the most runs that a proof takes where there are so many settings."""
    edits = min(dimensions, 6)
    fresh = FRESH_SEEDS[-1] * min(settings, 1 + FINALISTS + edits)
    return fresh + seeds * 4 * edits + 2 * len(held_out)
