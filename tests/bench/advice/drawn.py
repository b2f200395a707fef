"""Larger worlds for the advisor that nobody thought of: all of each is drawn by its seed.

Those of MEASURED are what docs/benchmarks-history.md has; the search may be worked on with
others. A world is drawn again where it has fewer than LEAST_WAYS settings, and where
there is nothing to be asked: a base in which work waits less than LEAST_WAIT_MS, or that
has nothing of what should become less. So only its base is looked at.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.bench.advice.ten import limit
from tests.bench.advice.worlds import CLASSES, LargerWorld, advisor_of

#: Fixed before any of them was run.
MEASURED = range(101, 113)
LEAST_WAYS, LEAST_WAIT_MS = 10_000, 5_000
_CPU = {"flavor": "default", "resource": "cpu"}
_WAITS = ("workloads.meanMs", "workloads.p95Ms", "slowdownRatio")
_LOST = ("preemptions", "workLostMs")
_LIMITS = ([0, 2, 4, 8, None], [0, 4, 8, 16, None], [0, 1, 2, 4, 8, 16, None])
Kinds = dict[str, list[dict[str, Any]]]


def drawn_world(seed: int) -> LargerWorld:
    """Return the world of a seed: the same one every time."""
    draw = random.Random(f"a larger world for the advisor {seed}")
    while True:
        world = _drawn(seed, draw)
        if _worth_asking(world):
            return world


def _worth_asking(world: LargerWorld) -> bool:
    advisor, base = advisor_of(world)
    if advisor.space.count() < LEAST_WAYS:
        return False
    had = advisor.run(base, (advisor.space.base, advisor.seeds[0])) or {}
    wanted = [had.get(one.measure, 0.0) for one in advisor.goal.objectives]
    return had.get("workloads.meanMs", 0.0) >= LEAST_WAIT_MS and min(wanted) > 0


def _drawn(seed: int, draw: random.Random) -> LargerWorld:
    queues, cohort = draw.randint(6, 12), draw.choice(["", "all", "all"])
    cpu = draw.choice([8, 10, 12])
    kinds = _kinds(draw, queues * cpu, shared=bool(cohort))
    among = draw.sample(list(kinds), draw.randint(1, min(3, len(kinds))))
    return LargerWorld(
        name=f"drawn {seed}: {', '.join(among)} of {queues}",
        queues=queues,
        cpu=cpu,
        change=[one for kind in among for one in kinds[kind]],
        objectives=list(_objectives(draw, shared=bool(cohort))),
        constraints=_constraints(draw, queues),
        cohort=cohort,
        jobs=draw.randint(90, 130),
        load=round(draw.uniform(0.8, 1.4), 2),
        draw=1000 + seed,
        more=_preemption(draw, shared=bool(cohort)),
        mixed=draw.random() < 0.5,
    )


def _kinds(draw: random.Random, quota: int, *, shared: bool) -> Kinds:
    """Return what may be allowed to change, of which some are drawn."""
    total = {"total": draw.choice(["keep", "keep", quota * 5 // 4])}
    step = draw.choice([1, 2])
    kinds: Kinds = {
        "quota": [{"quota": {**_CPU, "step": step, **total}}],
        "strategies": [{"queueingStrategy": {}}],
        "priorities": [{"priority": {"classes": [*CLASSES], "values": [1, 50, 100]}}],
        "preemption": [{"preemption": {"withinClusterQueue": ["Never", _LOWER]}}],
    }
    if shared:
        kinds |= {
            "borrowing": [limit("borrowingLimit", *draw.choice(_LIMITS))],
            "lending": [limit("lendingLimit", *draw.choice(_LIMITS))],
            "weights and fair sharing": [{"weight": {}}, {"fairSharing": {}}],
            "reclaiming": [{"preemption": {"reclaimWithinCohort": ["Never", "Any"]}}],
        }
    return kinds


_LOWER = "LowerPriority"


def _objectives(draw: random.Random, *, shared: bool) -> Iterator[dict[str, Any]]:
    """Yield a wait that should be short and, of two worlds in three, something else."""
    first = draw.choice(_WAITS)
    yield {"measure": first}
    others = [name for name in (*_WAITS, *(_LOST if shared else ())) if name != first]
    if draw.random() < 2 / 3:
        yield {"measure": draw.choice(others), "weight": draw.choice([0.3, 0.5, 1])}


def _constraints(draw: random.Random, queues: int) -> tuple[str, ...]:
    """Return none, in half of the worlds; else one that may or may not be kept."""
    queue, seconds = draw.randrange(queues), draw.choice([20, 30, 45, 60])
    one = f"queue q{queue} p95 wait under {seconds} s"
    nobody = f"nobody loses more than {draw.choice([10, 25])}%"
    return draw.choice([(), (), (one,), (nobody,)])


def _preemption(draw: random.Random, *, shared: bool) -> dict[str, Any]:
    within, reclaim = draw.choice(["Never", _LOWER]), draw.choice(["Never", "Any"])
    return {"within": within, "reclaim": reclaim if shared else "Never"}
