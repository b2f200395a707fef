"""After the search: the smallest change that does as well, and what each edit does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler.advice.ledger import Asking, RunLedger
from scheduler.advice.moves import around, closer, without
from scheduler.advice.space import Point

#: Beyond this many edits the smaller ones are not looked at one by one.
MOST_ROUNDS = 24


@dataclass(slots=True, kw_only=True)
class Proof:
    """A setting that is made smaller, then tried around and on other seeds."""

    ledger: RunLedger
    point: Point
    held_out: tuple[int, ...]
    tolerance: float
    left_out: dict[int, Point] = field(default_factory=dict)
    near: list[tuple[int, Point]] = field(default_factory=list)

    def steps(self) -> Asking:
        """Yield the runs of the proof, round by round."""
        yield from self._shrink()
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

    def _shrink(self) -> Asking:
        """Take edits away, or halve them, while the goal is kept within tolerance."""
        ledger, start = self.ledger, self.point
        for _ in range(MOST_ROUNDS):
            smaller = self._smaller()
            yield from ledger.need(smaller, ledger.seeds)
            kept = [point for point in smaller if self._as_good(point, start)]
            if not kept:
                return
            space = ledger.space
            self.point = min(kept, key=lambda p: (space.size(p), ledger.rank(p), p))

    def _smaller(self) -> list[Point]:
        space, point = self.ledger.space, self.point
        found: dict[Point, None] = {}
        for at in space.edited(point):
            for other in (without(space, point, at), closer(space, point, at)):
                if other is not None and space.size(other) < space.size(point):
                    found[other] = None
        return list(found)

    def _as_good(self, point: Point, start: Point) -> bool:
        ledger, seeds = self.ledger, self.ledger.seeds
        if ledger.violation(point, seeds) > ledger.violation(start, seeds) + 1e-9:
            return False
        had = ledger.objective(start, seeds)
        return ledger.objective(point, seeds) <= had + abs(had) * self.tolerance


def most_runs(dimensions: int, seeds: int, held_out: Sequence[int]) -> int:
    """Return about how many runs a proof may take."""
    return seeds * (4 * min(dimensions, 6)) + 2 * len(held_out)
