"""The advisor's search of larger worlds beside random search and settings by hand.

    ./dev bench tests/bench/bench_advice.py

Each has as many runs. By hand is what people try: quota as it is or in proportion to
offered work, with every other kind of setting alike for all queues; the best of those
is taken. What comes out is run with seeds that nothing before used; figures are shares
of what the base has there, less is better. The last lines are the mean over the worlds
that were run, with a 95% interval over these.
"""

from __future__ import annotations

import math
import random
import statistics
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
from scheduler.advice.space import Point
from scheduler.experiments.intervals import interval
from tests.bench.advice_by_hand import hand_made
from tests.bench.advice_worlds import KEPT_ASIDE, LOOKED_AT, LargerWorld, advisor_of

pytestmark = pytest.mark.bench

RUNS = 60
SEARCHES = 3
FRESH = range(5001, 5009)
OTHERS = ("random", "by hand")
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


def loss(advisor: Advisor, run: Runner, point: Point) -> float:
    """Return the goal's loss of a setting on seeds that nothing else uses."""
    base = [run((advisor.space.base, seed)) or {} for seed in FRESH]
    runs = [run((point, seed)) or {} for seed in FRESH]
    missed = math.fsum(b.violation(b.of(runs)) for b in advisor.goal.bounds(base))
    return advisor.goal.objective(mean_of(runs), mean_of(base)) + PRICE * missed


def compared(
    world: LargerWorld, searches: int, known: dict[Any, Numbers | None]
) -> tuple[str, dict[str, float]]:
    """Return a world's lines, and the mean of the search's loss less each other one.

    What is in `known` is not run again; what is run is put there.
    """
    advisor, base = advisor_of(world)

    def run(ask: Ask) -> Numbers | None:
        if ask not in known:
            known[ask] = advisor.run(base, ask)
        return known[ask]

    began = time.process_time()
    found = losses_of(world, advisor, run, searches)
    space = advisor.space
    lines = [
        f"{world.name}: {len(space.dimensions)} settings, {space.count():,} ways, "
        f"{RUNS} runs each, {time.process_time() - began:.0f} CPU-s",
        *(f"  {name:8} {_between(losses)}" for name, losses in found.items()),
    ]
    means = {}
    for other in OTHERS:
        pairs = zip(found["search"], found[other], strict=True)
        differences = [a - b for a, b in pairs]
        means[other] = statistics.fmean(differences)
        lines.append(f"  search less {other} {_between(differences)}")
    return "\n".join(["", *lines, ""]), means


def losses_of(
    world: LargerWorld, advisor: Advisor, run: Runner, searches: int
) -> dict[str, list[float]]:
    """Return the losses of what each way of searching comes to, seed by seed."""
    found: dict[str, list[float]] = {"search": [], "random": [], "by hand": []}
    for seed in range(searches):
        for name, sampler in (("search", "tpe"), ("random", "random")):
            one, _ = advisor_of(world, runs=RUNS, sampler=sampler, seed=seed)
            found[name].append(loss(advisor, run, searched(one, run)))
        found["by hand"].append(loss(advisor, run, by_hand(world, advisor, run, seed)))
    return found


def pooled(worlds: Sequence[dict[str, float]]) -> str:
    """Return the differences over all these worlds, each world counting once."""
    lines = [
        f"  search less {other} {_between([means[other] for means in worlds])}"
        for other in OTHERS
    ]
    return "\n".join(["", f"mean of {len(worlds)} worlds", *lines, ""])


def _between(values: Sequence[float]) -> str:
    one = interval(values)
    if one is None:
        return "none"
    if one.low is None or one.high is None:
        return f"{one.mean:.3f}"
    return f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]"


@pytest.fixture(scope="module")
def differences() -> list[dict[str, float]]:
    """Those of the worlds so far."""
    return []


@pytest.mark.parametrize("world", LOOKED_AT, ids=lambda world: world.name)
def test_search_of_worlds_that_were_looked_at(world, differences, capsys):
    lines, means = compared(world, SEARCHES, {})
    differences.append(means)
    with capsys.disabled():
        sys.stdout.write(lines)


@pytest.mark.parametrize("world", KEPT_ASIDE, ids=lambda world: world.name)
def test_search_of_worlds_kept_aside(world, differences, capsys):
    lines, means = compared(world, SEARCHES, {})
    differences.append(means)
    with capsys.disabled():
        sys.stdout.write(lines)


def test_search_of_all_worlds_together(differences, capsys):
    with capsys.disabled():
        sys.stdout.write(pooled(differences))
