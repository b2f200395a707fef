"""The search: asks for runs in rounds, learns from them, and says what is best.

A search is a generator: it yields the runs that it needs and goes on when they are
known. The same goal, seeds and numbers lead to the same questions, so a search that
was cut off goes on from the runs that are kept.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler.analysis.advice.goal import Numbers, guesses
from scheduler.analysis.advice.ledger import Asking, RunLedger
from scheduler.analysis.advice.space import (
    Dimension,
    Point,
    Proposer,
    Space,
    moves,
    proposer,
    repair,
)
from scheduler.analysis.advice.surrogates.expected_improvement import (
    ExpectedImprovement,
)
from scheduler.analysis.advice.surrogates.surrogate import Places
from scheduler.analysis.experiments.document import SearchSpec
from scheduler.model import streams

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


# ------------------------------------------------------------------------
# What is tried first: quota by work, then settings of several kinds in turn.


#: How many settings are drawn, of which those are tried that were not before.
_DRAWS = 40


def screening(space: Space, base: Numbers, seed: int, most: int) -> list[Point]:
    """Return up to `most` settings, each once, by what the base did.

    After the first guesses, in turn: one kind alike for all, and a single change, of
    each kind in turn, as there are far more transfers of quota than switches.
    """
    both = shuffled(alike(space, space.base), seed, "alike")
    ways = [both, _single(space, seed)]
    found = dict.fromkeys([*guesses(space, base), *in_turn(ways)])
    return list(found)[:most]


def in_turn(series: Iterable[Iterable[Point]]) -> Iterator[Point]:
    """Yield the first of each, the second of each, and so on until all are used up."""
    for row in itertools.zip_longest(*series):
        yield from (point for point in row if point is not None)


def _single(space: Space, seed: int) -> Iterator[Point]:
    kinds: dict[tuple[str, str], list[Point]] = {}
    for point in shuffled(moves(space, space.base), seed, "screening"):
        changed = space.dimensions[space.edited(point)[0]]
        kinds.setdefault(kind_of(changed), []).append(point)
    return in_turn(kinds.values())


def drawn(space: Space, around: Point, seed: int, number: int) -> list[Point]:
    """Return settings of which all that shares no total is drawn; none where all does.

    Only so is found what helps together: weights once fair sharing is on, while each
    by itself does nothing, or harm. `number` tells one draw from the next.
    """
    which = free(space)
    draw = random.Random(streams.bits(seed, "drawn", str(number)))
    found = [
        drawn_anew(space, around, which, draw) for _ in range(_DRAWS if which else 0)
    ]
    return list(dict.fromkeys(point for point in found if point is not None))


def shuffled(points: Iterable[Point], seed: int, why: str) -> list[Point]:
    """Return settings in an order of this seed and purpose alone."""
    return sorted(points, key=lambda point: streams.bits(seed, why, repr(point)))


# ------------------------------------------------------------------------
# Racing: which settings get more seeds, and who stops after the first ones.


#: How far behind the best a setting may be on its first seeds, in deviations of a
#: difference between seeds; and that deviation while no setting has all seeds.
_SLACK = 1.0
_UNKNOWN_NOISE = math.inf


def rungs(seeds: tuple[int, ...], *, racing: bool) -> list[tuple[int, ...]]:
    """Return the seeds of each round: one, half of them, all; or all at once."""
    if not racing:
        return [seeds]
    counts = sorted({1, math.ceil(len(seeds) / 2), len(seeds)})
    return [seeds[:count] for count in counts]


def affordable(
    ledger: RunLedger, points: Iterable[Point], seeds: Sequence[int], left: int
) -> list[Point]:
    """Return the settings that the runs that are left are enough for, best first."""

    def so_far(point: Point) -> float:
        ran = ledger.ran(point)
        return ledger.loss(point, ran) if ran else 0.0

    found: list[Point] = []
    for point in sorted(points, key=so_far):
        left -= sum((point, seed) not in ledger.known for seed in seeds)
        if left < 0:
            break
        found.append(point)
    return found


def goes_on(
    ledger: RunLedger, tried: Collection[Point], point: Point, seeds: Sequence[int]
) -> bool:
    """Return whether a setting may still be the best, by the seeds it shares."""
    slack = _SLACK * _noise(ledger, tried) / math.sqrt(len(seeds))
    return ledger.loss(point, seeds) <= ledger.loss(ledger.best(), seeds) + slack


def _noise(ledger: RunLedger, tried: Collection[Point]) -> float:
    """Return how much a difference to the base varies between seeds."""
    base = ledger.space.base
    done = [point for point in tried if point != base and ledger.complete(point)]
    if not done or len(ledger.seeds) < 2:
        return _UNKNOWN_NOISE
    return statistics.median(
        statistics.stdev(
            ledger.loss(point, [seed]) - ledger.loss(base, [seed])
            for seed in ledger.seeds
        )
        for point in done
    )


# ------------------------------------------------------------------------
# Settings among which a search chooses: near the best, alike for all, or drawn.


#: How many settings are drawn around each of the best, and how many anywhere.
_NEAR, _FAR = 150, 150
#: At most so many dimensions of the best are drawn anew at once.
_MOST_DRAWN = 4


def candidates(
    space: Space, leaders: Sequence[Point], seed: int, number: int
) -> list[Point]:
    """Return settings to choose from, each once, in a fixed order.

    One move from the leaders; one kind of setting alike for all; a few dimensions of
    a leader drawn anew; and all of them that share no total. `number` tells one choice from the next.
    """
    found: dict[Point | None, None] = {}
    for leader in leaders:
        found.update(dict.fromkeys([*moves(space, leader), *alike(space, leader)]))
    draw = random.Random(streams.bits(seed, "candidates", str(number)))
    for leader in leaders:
        for _ in range(_NEAR):
            found[drawn_anew(space, leader, _few(space, draw), draw)] = None
    which = free(space)
    for n in range(_FAR if which else 0):
        found[drawn_anew(space, leaders[n % len(leaders)], which, draw)] = None
    return [point for point in found if point is not None]


def alike(space: Space, point: Point) -> list[Point]:
    """Return the settings in which one kind of setting is the same for all objects.

    Not of those that share a total. What only helps when all do it (nobody reclaims)
    is not seen by changing one.
    """
    found: dict[Point, None] = {}
    for members in _kinds(space):
        for value in _shared_values(space, members):
            changed = list(point)
            for at in members:
                changed[at] = space.dimensions[at].values.index(value)
            found[tuple(changed)] = None
    found.pop(point, None)
    return list(found)


def free(space: Space) -> list[int]:
    """Return the dimensions that share no total."""
    pooled = {member for pool in space.pools for member in pool.members}
    return [at for at in range(len(space.dimensions)) if at not in pooled]


def kind_of(dimension: Dimension) -> tuple[str, str]:
    """Return the kind of object and the field: what several objects may have alike."""
    return dimension.object.partition("/")[0], dimension.field


def _kinds(space: Space) -> list[list[int]]:
    """Return the dimensions of each field that several objects of a kind have."""
    found: dict[tuple[str, str], list[int]] = {}
    for at in free(space):
        found.setdefault(kind_of(space.dimensions[at]), []).append(at)
    return [members for members in found.values() if len(members) > 1]


def _shared_values(space: Space, members: Sequence[int]) -> Iterator[Any]:
    first, *others = (space.dimensions[at].values for at in members)
    yield from (value for value in first if all(value in one for one in others))


def _few(space: Space, draw: random.Random) -> list[int]:
    """Return some dimensions, two or more where there are as many."""
    count = len(space.dimensions)
    most = min(_MOST_DRAWN, count)
    return draw.sample(range(count), draw.randint(min(2, most), most))


def drawn_anew(
    space: Space, point: Point, which: Sequence[int], draw: random.Random
) -> Point | None:
    """Return the setting with these dimensions drawn, totals kept; None if none is."""
    found = list(point)
    for at in which:
        found[at] = draw.randrange(len(space.dimensions[at].values))
    return repair(space, tuple(found))
