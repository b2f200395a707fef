"""The advisor's search of larger worlds beside random search and a setting by hand.

    ./dev bench tests/bench/bench_advice.py

By hand is what offered work suggests: each queue's nominal quota in proportion to it,
the rest as it is. Every setting that comes out is run with seeds that no search used;
figures are shares of what the base has there, less is better.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scheduler.advice.advisor import Advisor, advise
from scheduler.advice.goal import Numbers, mean_of
from scheduler.advice.ledger import PRICE
from scheduler.advice.space import Point, repair
from scheduler.experiments.intervals import interval
from tests.scheduler.advice.worlds import SmallWorld, Team, advisor_of

pytestmark = pytest.mark.bench

RUNS = 120
SEARCHES = 8
FRESH = range(5001, 5007)
_QUOTA = {"quota": {"flavor": "default", "resource": "cpu", "step": 2}}
_RECLAIM = {"within": "LowerPriority", "reclaim": "Any"}
_KINDS = ((4, 2, 30), (2, 5, 40), (5, 4, 20), (1, 2, 60), (3, 6, 25), (2, 3, 50))


def _teams(queues: int, cpu: int, more: dict[str, Any]) -> tuple[Team, ...]:
    """Queues with equal quota, whose work is not equal."""
    return tuple(
        Team(
            f"q{n}",
            cpu,
            4 + n % 3 * 2,
            *(_KINDS[n % 6][1], _KINDS[n % 6][0], _KINDS[n % 6][2]),
            "high" if n % 3 == 0 else "low",
            more,
        )
        for n in range(queues)
    )


WORLDS = (
    SmallWorld("ten queues that share nothing", _teams(10, 8, {}), [_QUOTA], cohort=""),
    SmallWorld(
        "eight queues that lend, q0's p95 under 10 s",
        _teams(8, 6, _RECLAIM),
        [_QUOTA, {"preemption": {"reclaimWithinCohort": ["Never", "Any"]}}],
        [{"measure": "workloads.meanMs"}, {"measure": "preemptions", "weight": 0.5}],
        ["queue q0 p95 wait under 10 s"],
    ),
    SmallWorld(
        "six queues for equal slowdown",
        _teams(6, 8, {}),
        [_QUOTA, {"queueingStrategy": {}}],
        [{"measure": "slowdownRatio"}, {"measure": "workloads.meanMs"}],
        cohort="",
    ),
)


def by_hand(world: SmallWorld, advisor: Advisor) -> Point:
    """Return the setting in which quota is in proportion to offered work."""
    work = [team.jobs * team.asks * team.runs_s for team in world.teams]
    total = sum(team.cpu for team in world.teams)
    point = list(advisor.space.base)
    for at, one in enumerate(work):
        wanted = round(total * one / sum(work) / 2) * 2
        values = [int(v) for v in advisor.space.dimensions[at].values]
        least = max(wanted, world.teams[at].asks)
        point[at] = min(range(len(values)), key=lambda n: abs(values[n] - least))
    return repair(advisor.space, tuple(point)) or advisor.space.base


def loss(advisor: Advisor, run: Callable[..., Numbers | None], point: Point) -> float:
    """Return the goal's loss of a setting on seeds that nothing else uses."""
    base = [run((advisor.space.base, seed)) or {} for seed in FRESH]
    runs = [run((point, seed)) or {} for seed in FRESH]
    missed = math.fsum(b.violation(b.of(runs)) for b in advisor.goal.bounds(base))
    return advisor.goal.objective(mean_of(runs), mean_of(base)) + PRICE * missed


def compared(world: SmallWorld, searches: int) -> None:
    """Print a world's line: the search, random search, by hand."""
    advisor, base = advisor_of(world)
    known: dict[Any, Numbers | None] = {}

    def run(ask: tuple[Point, int]) -> Numbers | None:
        if ask not in known:
            known[ask] = advisor.run(base, ask)
        return known[ask]

    found: dict[str, list[float]] = {"tpe": [], "random": []}
    began = time.process_time()
    for seed in range(searches):
        for sampler, losses in found.items():
            one, _ = advisor_of(world, runs=RUNS, sampler=sampler, seed=seed)
            losses.append(loss(advisor, run, tuple(advise(one, run).point)))
    hand = loss(advisor, run, by_hand(world, advisor))
    pairs = zip(found["tpe"], found["random"], strict=True)
    lines = [
        f"{world.name}: {advisor.space.count():,} settings, {RUNS} runs each, "
        f"{time.process_time() - began:.0f} CPU-s",
        *(f"  {name:8} {_between(losses)}" for name, losses in found.items()),
        f"  by hand  {hand:.3f}",
        f"  search less random {_between([a - b for a, b in pairs])}",
        f"  search less by hand {_between([a - hand for a in found['tpe']])}",
    ]
    sys.stdout.write("\n".join(["", *lines, ""]))


def _between(values: Sequence[float]) -> str:
    one = interval(values)
    if one is None:
        return "none"
    if one.low is None or one.high is None:
        return f"{one.mean:.3f}"
    return f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]"


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_search_beside_random_search_and_by_hand(world, capsys):
    with capsys.disabled():
        compared(world, SEARCHES)
