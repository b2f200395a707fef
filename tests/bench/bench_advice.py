"""The advisor's search of larger worlds beside random search and settings by hand.

    ./dev bench tests/bench/bench_advice.py

Each has as many runs. By hand is what people try: quota as it is or in proportion to
offered work, with every other kind of setting alike for all queues; the best of those
is taken. What comes out is run with seeds that nothing before used; figures are shares
of what the base has there, less is better.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from scheduler.advice.advisor import Advisor
from scheduler.advice.goal import Numbers, mean_of
from scheduler.advice.ledger import PRICE, Ask, RunLedger
from scheduler.advice.proof import Proof
from scheduler.advice.search import Search
from scheduler.advice.space import Point, repair
from scheduler.experiments.intervals import interval
from tests.bench.advice_worlds import (
    KEPT_ASIDE,
    LOOKED_AT,
    LargerWorld,
    advisor_of,
    demands_of,
)

pytestmark = pytest.mark.bench

RUNS = 60
SEARCHES = 3
FRESH = range(5001, 5009)
Runner = Callable[[Ask], Numbers | None]


def searched(advisor: Advisor, run: Runner) -> Point:
    """Return what a search and the smallest change that does as well come to."""
    ledger = RunLedger(space=advisor.space, goal=advisor.goal, seeds=advisor.seeds)
    search = Search(spec=advisor.search, ledger=ledger, most=advisor.search.runs)
    answer(ledger, search.steps(), run)
    proof = proof_of(advisor, ledger)
    answer(ledger, proof.choose(), run)
    answer(ledger, proof.shrink(), run)
    return proof.point


def proof_of(advisor: Advisor, ledger: RunLedger) -> Proof:
    return Proof(
        ledger=ledger,
        point=ledger.best(),
        held_out=advisor.held_out,
        tolerance=advisor.search.tolerance,
    )


def answer(ledger: RunLedger, rounds: Iterable[list[Ask]], run: Runner) -> None:
    """Run what is asked for."""
    for asked in rounds:
        ledger.store.update({ask: run(ask) for ask in asked})


def by_hand(world: LargerWorld, advisor: Advisor, run: Runner, seed: int) -> Point:
    """Return the best of what people try, with as many runs as a search has."""
    ledger = RunLedger(space=advisor.space, goal=advisor.goal, seeds=advisor.seeds)
    answer(ledger, ledger.need([advisor.space.base], advisor.seeds), run)
    ledger.bounds = advisor.goal.bounds(
        ledger.runs(advisor.space.base, advisor.seeds) or []
    )
    settings = hand_made(world, advisor)
    random.Random(seed).shuffle(settings)
    most = RUNS // len(advisor.seeds) - 1
    answer(ledger, ledger.need(settings[:most], advisor.seeds), run)
    proof = proof_of(advisor, ledger)
    answer(ledger, proof.choose(), run)
    return proof.point


def hand_made(world: LargerWorld, advisor: Advisor) -> list[Point]:
    """Return every way to set each kind alike for all queues, quota also by work."""
    space = advisor.space
    kinds: dict[str, list[int]] = {}
    for at, one in enumerate(space.dimensions):
        kind = one.object if one.object.startswith("NodeGroup") else one.field
        kinds.setdefault(kind, []).append(at)
    pooled = {member for pool in space.pools for member in pool.members}
    ways = []
    for members in kinds.values():
        now = {at: space.dimensions[at].now for at in members}
        if members[0] in pooled:
            ways.append([now, by_work(world, advisor, members)])
        else:
            ways.append([now, *_alike(advisor, members)])
    found: dict[Point, None] = {}
    for parts in itertools.product(*ways):
        merged = {at: index for part in parts for at, index in part.items()}
        point = repair(space, tuple(merged[at] for at in range(len(space.dimensions))))
        if point is not None:
            found[point] = None
    return list(found)


def _alike(advisor: Advisor, members: Sequence[int]) -> list[dict[int, int]]:
    dimensions = [advisor.space.dimensions[at] for at in members]
    values = {str(value): value for one in dimensions for value in one.values}
    return [
        {
            at: one.values.index(value)
            for at, one in zip(members, dimensions, strict=True)
            if value in one.values
        }
        for value in values.values()
        if all(value in one.values for one in dimensions)
    ]


def by_work(
    world: LargerWorld, advisor: Advisor, members: Sequence[int]
) -> dict[int, int]:
    """Return quota in proportion to offered work, enough for each queue's largest job."""
    demands = {f"ClusterQueue/{one.queue}": one for one in demands_of(world)}
    work = sum(one.work for one in demands.values())
    total, found = world.cpu * world.queues, {}
    for at in members:
        demand = demands[advisor.space.dimensions[at].object]
        largest = max((size for _, size, *_ in demand.jobs), default=0)
        wanted = max(largest, round(total * demand.work / work))
        values = [int(value) for value in advisor.space.dimensions[at].values]
        found[at] = min(range(len(values)), key=lambda n: abs(values[n] - wanted))
    return found


def loss(advisor: Advisor, run: Runner, point: Point) -> float:
    """Return the goal's loss of a setting on seeds that nothing else uses."""
    base = [run((advisor.space.base, seed)) or {} for seed in FRESH]
    runs = [run((point, seed)) or {} for seed in FRESH]
    missed = math.fsum(b.violation(b.of(runs)) for b in advisor.goal.bounds(base))
    return advisor.goal.objective(mean_of(runs), mean_of(base)) + PRICE * missed


def compared(world: LargerWorld, searches: int) -> str:
    """Return a world's lines: the search, random search, by hand, and differences."""
    advisor, base = advisor_of(world)
    known: dict[Any, Numbers | None] = {}

    def run(ask: Ask) -> Numbers | None:
        if ask not in known:
            known[ask] = advisor.run(base, ask)
        return known[ask]

    found: dict[str, list[float]] = {"search": [], "random": [], "by hand": []}
    began = time.process_time()
    for seed in range(searches):
        for name, sampler in (("search", "tpe"), ("random", "random")):
            one, _ = advisor_of(world, runs=RUNS, sampler=sampler, seed=seed)
            found[name].append(loss(advisor, run, searched(one, run)))
        found["by hand"].append(loss(advisor, run, by_hand(world, advisor, run, seed)))
    space = advisor.space
    lines = [
        f"{world.name}: {len(space.dimensions)} settings, {space.count():,} ways, "
        f"{RUNS} runs each, {time.process_time() - began:.0f} CPU-s",
        *(f"  {name:8} {_between(losses)}" for name, losses in found.items()),
    ]
    for other in ("random", "by hand"):
        pairs = zip(found["search"], found[other], strict=True)
        lines.append(f"  search less {other} {_between([a - b for a, b in pairs])}")
    return "\n".join(["", *lines, ""])


def _between(values: Sequence[float]) -> str:
    one = interval(values)
    if one is None:
        return "none"
    if one.low is None or one.high is None:
        return f"{one.mean:.3f}"
    return f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]"


@pytest.mark.parametrize("world", LOOKED_AT, ids=lambda world: world.name)
def test_search_of_worlds_that_were_looked_at(world, capsys):
    with capsys.disabled():
        sys.stdout.write(compared(world, SEARCHES))


@pytest.mark.parametrize("world", KEPT_ASIDE, ids=lambda world: world.name)
def test_search_of_worlds_kept_aside(world, capsys):
    with capsys.disabled():
        sys.stdout.write(compared(world, SEARCHES))
