"""The search: asks for runs in rounds, learns from them, and says what is best.

A search is a generator: it yields the runs that it needs and goes on when they are
known. The same goal, seeds and numbers lead to the same questions, so a search that
was cut off goes on from the runs that are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler.analysis.advice.candidates import candidates
from scheduler.analysis.advice.ledger import Asking, RunLedger
from scheduler.analysis.advice.moves import moves
from scheduler.analysis.advice.proposals import Proposer, proposer
from scheduler.analysis.advice.racing import affordable, goes_on, rungs
from scheduler.analysis.advice.screening import drawn, screening, shuffled
from scheduler.analysis.advice.space import Point
from scheduler.analysis.advice.surrogates.expected_improvement import (
    ExpectedImprovement,
)
from scheduler.analysis.advice.surrogates.kernels import Places
from scheduler.analysis.experiments.document import SearchSpec

#: Settings that are tried at once: few where there are few runs, so that each learns
#: from those before. Never the number of workers: results must not depend on it.
LEAST_BATCH, MOST_BATCH, RUNS_PER_BATCH = 2, 8, 40
#: Up to so many settings, all untried ones are guessed at; of more, those near the best.
MOST_GUESSED = 3000
LEADERS = 3
#: Share of the runs that single changes of the base may take.
_SCREENING = 0.2
#: In larger spaces one in so many settings is what the sampler asks for.
_EVERY = 3
#: Share of the runs that is kept for the steps around the best.
_POLISHING = 0.5
#: In larger spaces, up to this share of the runs, what shares no total is drawn; later
#: every other round while nothing is better than the base.
_DRAWING = 0.4


@dataclass(slots=True, kw_only=True)
class Search:
    """One search in progress; `spent` counts its runs, `trail` has the best by then."""

    spec: SearchSpec
    ledger: RunLedger
    most: int  # runs
    stop: int | None = None  # runs after which nothing more is asked
    spent: int = 0
    tried: dict[Point, None] = field(default_factory=dict)
    trail: list[tuple[int, Point]] = field(default_factory=list)
    dropped: int = 0  # settings that did not get all their seeds
    lengths: dict[str, Places] = field(default_factory=dict)  # of each measure
    rounds: int = 0
    settings: int = 0  # that there are

    def __post_init__(self) -> None:
        """Count the settings once: it takes a while where there are many."""
        self.settings = self.ledger.space.count()

    def steps(self) -> Asking:
        """Yield the runs of the search, round by round. The base comes first."""
        base, ledger = self.ledger.space.base, self.ledger
        yield from self._need([base], ledger.seeds)
        runs = ledger.runs(base, ledger.seeds)
        ledger.bounds = ledger.goal.bounds(runs or [])
        self.tried[base] = None
        self.trail.append((self.spent, base))
        if self.settings * len(ledger.seeds) <= self.most:
            yield from self._everything()
        else:
            yield from self._sampled()

    @property
    def left(self) -> int:
        """Return how many runs there still are."""
        most = self.most if self.stop is None else min(self.most, self.stop)
        return most - self.spent

    @property
    def batch(self) -> int:
        """Return how many settings are tried at once."""
        return min(MOST_BATCH, max(LEAST_BATCH, self.most // RUNS_PER_BATCH))

    def _everything(self) -> Asking:
        """Try every setting, small changes first."""
        space = self.ledger.space
        points = sorted(space.points(), key=lambda point: (space.size(point), point))
        fresh = [point for point in points if point not in self.tried]
        for start in range(0, len(fresh), self.batch):
            if self.left <= 0:
                return
            yield from self._race(fresh[start : start + self.batch])

    def _sampled(self) -> Asking:
        """Try first guesses, then what a sampler and the best so far suggest."""
        asked = proposer(
            self.spec.sampler,
            self.ledger.space,
            self.spec.seed,
            max(1, len(self.ledger.goal.objectives)),
        )
        learned: set[Point] = set()
        first = self._screening() if self.spec.sampler != "random" else []
        while self.left > 0:
            batch = (
                first[: self.batch]
                or self._drawn()
                or self._beside()
                or self._suggested(asked)
            )
            first = first[len(batch) :]
            if not batch:
                return
            yield from self._race(batch)
            self.rounds += 1
            self._learn(asked, learned)

    def _drawn(self) -> list[Point]:
        """Return settings drawn anywhere: at first, and while nothing better is found."""
        if self.spec.sampler == "random" or self.settings <= MOST_GUESSED:
            return []
        space, best = self.ledger.space, self.ledger.best()
        again = best == space.base and self.rounds % 2
        if self.spent > self.most * _DRAWING and not again:
            return []
        found = drawn(space, best, self.spec.seed, len(self.tried))
        return [point for point in found if point not in self.tried][: self.batch]

    def _beside(self) -> list[Point]:
        """Return untried settings one step from the best, once few runs are left."""
        if self.spec.sampler == "random" or self.left > self.most * _POLISHING:
            return []
        ledger = self.ledger
        near = [
            p
            for best in ledger.leaders(LEADERS)
            for p in moves(ledger.space, best, strides=(1,))
        ]
        fresh = [point for point in dict.fromkeys(near) if point not in self.tried]
        return self._guessed(fresh, 2)

    def _learn(self, asked: Proposer, learned: set[Point]) -> None:
        for point in self.tried:
            seeds = self.ledger.ran(point)
            if point not in learned and seeds:
                learned.add(point)
                asked.learn(point, self.ledger.losses(point, seeds))

    def _screening(self) -> list[Point]:
        ledger = self.ledger
        most = max(self.batch, int(self.most * _SCREENING / self._price()))
        base = ledger.base_mean(ledger.seeds)
        return screening(ledger.space, base, self.spec.seed, most)

    def _price(self) -> float:
        """Return how many runs a setting costs, about, when most end early."""
        return (
            (1 + len(self.ledger.seeds)) / 2
            if self.spec.racing
            else len(self.ledger.seeds)
        )

    def _suggested(self, asked: Proposer) -> list[Point]:
        found: dict[Point, None] = {}
        whole = self.settings <= MOST_GUESSED
        places = range(len(self.tried), len(self.tried) + self.batch)
        count = sum(whole or at % _EVERY > 0 for at in places)
        near = self._near(count) if self.spec.sampler != "random" else []
        for point in near:
            found[point] = None
        for _ in range(self.batch * 10):
            if len(found) >= self.batch:
                break
            point = asked.ask()
            if point not in self.tried:
                found[point] = None
        return list(found)

    def _near(self, count: int) -> list[Point]:
        """Return untried settings, promising ones first: all, or near the best."""
        space = self.ledger.space
        if self.settings <= MOST_GUESSED:
            fresh = [point for point in space.points() if point not in self.tried]
        else:
            leaders = self.ledger.leaders(LEADERS)
            found = candidates(space, leaders, self.spec.seed, len(self.tried))
            fresh = [point for point in found if point not in self.tried]
        return self._guessed(fresh, count)

    def _guessed(self, points: Sequence[Point], count: int) -> list[Point]:
        """Return the settings of which most is expected."""
        order = shuffled(points, self.spec.seed, f"near {len(self.tried)}")
        expected = ExpectedImprovement(self.ledger, list(self.tried), self.lengths)
        return expected.choose(order, count)

    def _race(self, points: Sequence[Point]) -> Asking:
        """Run settings on more and more seeds; who does badly stops early."""
        running, ledger = list(points), self.ledger
        for seeds in rungs(ledger.seeds, racing=self.spec.racing):
            running = affordable(ledger, running, seeds, self.left)
            self.tried.update(dict.fromkeys(running))
            yield from self._need(running, seeds)
            ended = len(seeds) == len(ledger.seeds)
            kept = [
                p for p in running if ended or goes_on(ledger, self.tried, p, seeds)
            ]
            self.dropped += len(running) - len(kept)
            running = kept
        best = ledger.best()
        if best != self.trail[-1][1]:
            self.trail.append((self.spent, best))

    def _need(self, points: Sequence[Point], seeds: Sequence[int]) -> Asking:
        before = len(self.ledger.known)
        yield from self.ledger.need(points, seeds)
        self.spent += len(self.ledger.known) - before
