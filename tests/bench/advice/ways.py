"""Three ways to a setting: the advisor's search, random search, and what people try.

Each ends as the product does: the best few and the base run with fresh seeds, the best
of these is held against the base on held-out seeds, and where those do not show that it
is better, the base is handed over. All runs are counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from scheduler.analysis.advice.advisor import LEAST_SHRINKING, Advisor
from scheduler.analysis.advice.answer import proven, to_set
from scheduler.analysis.advice.goal import Numbers
from scheduler.analysis.advice.ledger import Ask, RunLedger
from scheduler.analysis.advice.proof import Proof
from scheduler.analysis.advice.search import Search
from scheduler.analysis.advice.space import Point
from tests.bench.advice.by_hand import hand_made
from tests.bench.advice.worlds import LargerWorld, advisor_of
from tests.bench.size import sized

#: Runs of a search; and how many the others have more, as they do not go on to make what
#: they found smaller, which takes the search as many at most.
RUNS, NOT_SHRUNK = sized((60, LEAST_SHRINKING), (3, 1))
HELD_OUT = sized(10, 2)
Runner = Callable[[Ask], Numbers | None]


class Handed(NamedTuple):
    """What a way hands over, and after how many runs."""

    point: Point
    verdict: str
    runs: int
    found: Point  # before the held-out seeds were asked


def search(world: LargerWorld, run: Runner, seed: int) -> Handed:
    """Return what the advisor's search comes to."""
    advisor, ledger = begun(world, RUNS, "tpe", seed)
    steps = Search(spec=advisor.search, ledger=ledger, most=RUNS).steps()
    answer(ledger, steps, run)
    return handed_over(advisor, ledger, run, shrink=True)


def random_search(world: LargerWorld, run: Runner, seed: int) -> Handed:
    """Return what settings drawn anywhere come to."""
    advisor, ledger = begun(world, RUNS + NOT_SHRUNK, "random", seed)
    most = RUNS + NOT_SHRUNK
    answer(ledger, Search(spec=advisor.search, ledger=ledger, most=most).steps(), run)
    return handed_over(advisor, ledger, run, shrink=False)


def by_hand(world: LargerWorld, run: Runner, seed: int) -> Handed:
    """Return the best of what people try: all of it, or so many as there are runs for."""
    advisor, ledger = begun(world, RUNS + NOT_SHRUNK, "random", seed)
    base = advisor.space.base
    answer(ledger, ledger.need([base], ledger.seeds), run)
    ledger.bounds = ledger.goal.bounds(ledger.runs(base, ledger.seeds) or [])
    settings = hand_made(world, advisor)
    random.Random(seed).shuffle(settings)
    most = (RUNS + NOT_SHRUNK) // len(ledger.seeds) - 1
    answer(ledger, ledger.need(settings[:most], ledger.seeds), run)
    return handed_over(advisor, ledger, run, shrink=False)


WAYS = {"search": search, "random": random_search, "by hand": by_hand}


def begun(
    world: LargerWorld, runs: int, sampler: str, seed: int
) -> tuple[Advisor, RunLedger]:
    more = {"sampler": sampler, "seed": seed, "heldOut": {"count": HELD_OUT}}
    advisor, _ = advisor_of(world, runs=runs, **more)
    ledger = RunLedger(space=advisor.space, goal=advisor.goal, seeds=advisor.seeds)
    return advisor, ledger


def handed_over(
    advisor: Advisor, ledger: RunLedger, run: Runner, *, shrink: bool
) -> Handed:
    """Return what the product hands over, of the runs so far and those of its proof.

    Without what it runs to say what each edit does, which changes no answer.
    """
    proof = advisor.proof(ledger)
    answer(ledger, _proof(proof, shrink=shrink), run)
    return Handed(to_set(proof), proven(proof), len(ledger.known), proof.point)


def _proof(proof: Proof, *, shrink: bool) -> Iterator[list[Ask]]:
    yield from proof.choose()
    if shrink:
        yield from proof.shrink()
    both = [proof.ledger.space.base, proof.point]
    yield from proof.ledger.need(both, proof.held_out)


def answer(ledger: RunLedger, rounds: Iterable[list[Ask]], run: Runner) -> None:
    """Run what is asked for."""
    for asked in rounds:
        ledger.store.update({ask: run(ask) for ask in asked})
