"""After the search: the best of the best few, made smaller, and what each edit does."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler.advice.ledger import Asking, RunLedger
from scheduler.advice.moves import around, closer, without
from scheduler.advice.space import Point

#: Beyond this many edits the smaller ones are not looked at one by one.
MOST_ROUNDS = 24
#: So many of the best settings run again, with so many seeds that chose none of them.
FINALISTS, FRESH_SEEDS = 4, 4
_FIRST_FRESH = 2_000_001


@dataclass(slots=True, kw_only=True)
class Proof:
    """A setting that is chosen and made smaller, then tried around and on other seeds.

    Of many settings the best one of few seeds was lucky as well. So the best few run
    with fresh seeds too, and `seeds` (those of the search, and these) choose.
    """

    ledger: RunLedger
    point: Point
    held_out: tuple[int, ...]
    tolerance: float
    left_out: dict[int, Point] = field(default_factory=dict)
    near: list[tuple[int, Point]] = field(default_factory=list)
    seeds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Draw the fresh seeds: none that the search or the proof uses."""
        used = {*self.ledger.seeds, *self.held_out}
        fresh = (seed for seed in itertools.count(_FIRST_FRESH) if seed not in used)
        self.seeds = (*self.ledger.seeds, *itertools.islice(fresh, FRESH_SEEDS))

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
        """Take the best of the finalists by all seeds."""
        ledger, base = self.ledger, self.ledger.space.base
        finalists = ledger.leaders(FINALISTS) or [base]
        if finalists == [base]:
            return
        yield from ledger.need(list(dict.fromkeys([base, *finalists])), self.seeds)
        self.point = min(finalists, key=lambda p: (ledger.rank(p, self.seeds), p))

    def shrink(self) -> Asking:
        """Take edits away, or halve them, while the goal is kept within tolerance."""
        ledger, start = self.ledger, self.point
        for _ in range(MOST_ROUNDS):
            smaller = self._smaller()
            yield from ledger.need(smaller, ledger.seeds)
            kept = [p for p in smaller if self._as_good(p, start, ledger.seeds)]
            kept.sort(key=lambda p: (ledger.space.size(p), ledger.rank(p), p))
            before = self.point
            for point in kept:
                yield from ledger.need([point], self.seeds)
                if self._as_good(point, start, self.seeds):
                    self.point = point
                    break
            if self.point == before:
                return

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
    """Return about how many runs a proof may take, of `settings` that there are."""
    edits = min(dimensions, 6)
    fresh = FRESH_SEEDS * min(settings, 1 + FINALISTS + edits)
    return fresh + seeds * 4 * edits + 2 * len(held_out)
