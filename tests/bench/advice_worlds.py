"""Larger worlds for the advisor: drawn once, a few hundred jobs, 9 to 20 settings each.

KEPT_ASIDE were never looked at while the search was worked on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from scheduler.advice.advisor import Advisor
from scheduler.experiments.bases import FileBase
from tests.builders import cluster_queue, flavor, job, local_queue, workload_priority
from tests.scheduler.advice.worlds import base_of, spec_of_goal

Manifest = dict[str, Any]
_CLASSES = {"low": 1, "middle": 50, "high": 100}
_SIZES, _RUNS_S = (1, 1, 2, 2, 4, 6), (15, 25, 40, 60)
SEEDS = 2


class LargerWorld(NamedTuple):
    """Queues with equal quota and unequal work; `load` is work per quota and time."""

    name: str
    queues: int
    cpu: int
    change: list[dict[str, Any]]
    objectives: list[dict[str, Any]]
    constraints: tuple[str, ...] = ()
    cohort: str = "all"
    jobs: int = 200
    load: float = 0.85
    draw: int = 1
    groups: tuple[Manifest, ...] = ()
    policy: dict[str, Any] = {}  # noqa: RUF012 - never changed
    more: dict[str, Any] = {}  # noqa: RUF012 - never changed


class Demand(NamedTuple):
    """What comes to one queue: (second, processors, mean seconds, class) of each job."""

    queue: str
    jobs: list[tuple[int, int, int, str]]

    @property
    def work(self) -> int:
        """Processor seconds."""
        return sum(size * seconds for _, size, seconds, _ in self.jobs)


def demands_of(world: LargerWorld) -> list[Demand]:
    """The jobs of a world, by its own draw: the same ones every time."""
    draw = random.Random(world.draw)
    shares = [draw.uniform(0.3, 2.0) for _ in range(world.queues)]
    found = []
    for n, share in enumerate(shares):
        sizes, seconds = draw.sample(_SIZES, 2), draw.choice(_RUNS_S)
        name = draw.choice(list(_CLASSES))
        count = round(world.jobs * share / sum(shares))
        kinds = [(draw.choice(sizes), seconds, name) for _ in range(count)]
        found.append(Demand(f"q{n}", [(0, *kind) for kind in kinds]))
    work = sum(one.work for one in found)
    span = round(work / (world.queues * world.cpu * world.load))
    return [
        Demand(one.queue, [(draw.randrange(span), *kind) for _, *kind in one.jobs])
        for one in found
    ]


def manifests_of(world: LargerWorld) -> Iterator[Manifest]:
    """The objects of a world."""
    yield flavor()
    simulation = {"latencies": None, **world.policy}
    yield {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Policy",
        "spec": {"simulation": simulation},
    }
    yield from (workload_priority(name, value) for name, value in _CLASSES.items())
    yield from world.groups
    for demand in demands_of(world):
        name = demand.queue
        yield cluster_queue(name, cohort=world.cohort, cpu=world.cpu, **world.more)
        yield local_queue(name, cluster_queue=name)
        for n, (at, size, seconds, priority) in enumerate(demand.jobs):
            yield job(
                f"{name}-{n}",
                queue=name,
                cpu=size,
                priority_class=priority,
                arrival=f"{at}s",
                runtime=f"uniform({seconds // 2}s,{seconds * 3 // 2}s)",
            )


def advisor_of(world: LargerWorld, **search: Any) -> tuple[Advisor, FileBase]:
    """The advisor of a world, and what it runs."""
    base = base_of(*manifests_of(world))
    spec = spec_of_goal(
        {"objectives": world.objectives, "seeds": {"count": SEEDS}, "horizon": "1h"},
        {"change": world.change, "constraints": list(world.constraints), **search},
    )
    return Advisor.of(spec, base), base


def group(name: str, price: float, order: int, **spec: Any) -> Manifest:
    """A group of nodes of eight processors that come when they are needed."""
    allocatable = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "NodeGroup",
        "metadata": {"name": name},
        "spec": {
            "template": {"status": {"allocatable": allocatable}},
            "bootTime": "20s",
            "pricePerHour": price,
            "priority": order,
            **spec,
        },
    }


_CPU = {"flavor": "default", "resource": "cpu"}
_QUOTA = {"quota": {**_CPU, "step": 2}}
_WAIT = {"measure": "workloads.meanMs"}
_RECLAIM = {"within": "LowerPriority", "reclaim": "Any"}


def _limit(kind: str, *values: Any) -> dict[str, Any]:
    return {kind: {**_CPU, "values": list(values)}}


def _nodes(name: str, *values: int) -> dict[str, Any]:
    given = {"object": f"NodeGroup/{name}", "field": "spec.maxNodes"}
    return {"field": {**given, "values": list(values), "ordered": True}}


LOOKED_AT = (
    LargerWorld(
        "twelve queues that share nothing", 12, 10, [_QUOTA], [_WAIT], cohort="", draw=1
    ),
    LargerWorld(
        "eight queues that lend, q0's p95 bound",
        8,
        10,
        [_QUOTA, {"preemption": {"reclaimWithinCohort": ["Never", "Any"]}}],
        [_WAIT, {"measure": "preemptions", "weight": 0.5}],
        ("queue q0 p95 wait under 15 s",),
        more=_RECLAIM,
        load=1.0,
        draw=2,
    ),
    LargerWorld(
        "six queues for equal slowdown",
        6,
        12,
        [_QUOTA, {"queueingStrategy": {}}],
        [{"measure": "slowdownRatio"}, _WAIT],
        cohort="",
        draw=3,
    ),
    LargerWorld(
        "fair sharing, weights and preemption of six queues",
        6,
        10,
        [
            {"fairSharing": {}},
            {"weight": {}},
            {"preemption": {"reclaimWithinCohort": ["Never", "Any"]}},
        ],
        [{"measure": "slowdownRatio"}, {"measure": "workLostMs", "weight": 0.5}],
        more=_RECLAIM,
        load=1.1,
        draw=4,
    ),
    # Kept aside until the search was found to end there where it began.
    LargerWorld(
        "quota, weights and fair sharing of eight queues",
        8,
        8,
        [_QUOTA, {"weight": {}}, {"fairSharing": {}}],
        [{"measure": "workloads.p95Ms"}, {"measure": "preemptions", "weight": 0.5}],
        ("queue q3 p95 wait under 40 s",),
        more=_RECLAIM,
        load=1.0,
        draw=8,
    ),
)
KEPT_ASIDE = (
    LargerWorld(
        "quota bought for nine queues, nobody loses",
        9,
        8,
        [{"quota": {**_CPU, "step": 2, "total": 90, "low": 4, "high": 24}}],
        [{"measure": "workloads.p95Ms"}],
        ("nobody loses more than 10%",),
        cohort="",
        draw=5,
    ),
    LargerWorld(
        "limits, priorities and preemption of seven queues",
        7,
        10,
        [
            _limit("borrowingLimit", 0, 2, 4, 8, 16, None),
            {"priority": {"classes": list(_CLASSES), "values": [1, 50, 100, 200]}},
            {"preemption": {"withinClusterQueue": ["Never", "LowerPriority"]}},
        ],
        [_WAIT, {"measure": "workLostMs", "weight": 0.3}],
        ("queue q1 p95 wait under 60 s",),
        more=_RECLAIM,
        load=1.1,
        draw=6,
    ),
    LargerWorld(
        "nodes of three groups and quota of six queues",
        6,
        12,
        [
            _QUOTA,
            _nodes("large", 0, 2, 4, 6, 8, 10),
            _nodes("middle", 0, 2, 4, 6, 8, 10),
            _nodes("spot", 0, 2, 4, 6, 8, 10),
            {
                "field": {
                    "policy": "simulation.checkpointEvery",
                    "values": ["never", "1m", "20s"],
                    "ordered": True,
                }
            },
        ],
        [{"measure": "cost"}, {"measure": "workloads.meanMs", "weight": 0.5}],
        cohort="",
        draw=7,
        policy={"checkpointEvery": "never"},
        groups=(
            group("large", 1.0, 1, maxNodes=10),
            group("middle", 0.7, 2, maxNodes=0),
            group("spot", 0.3, 3, maxNodes=0, spot={"interruptionsPerHour": 6}),
        ),
    ),
    LargerWorld(
        "limits, weights and fair sharing of nine queues",
        9,
        8,
        [
            _limit("borrowingLimit", 0, 4, 8, 16, None),
            {"weight": {}},
            {"fairSharing": {}},
        ],
        [{"measure": "slowdownRatio"}, _WAIT],
        more=_RECLAIM,
        load=1.1,
        draw=9,
    ),
    LargerWorld(
        "quota, strategies and preemption of seven queues",
        7,
        10,
        [
            _QUOTA,
            {"queueingStrategy": {}},
            {"preemption": {"withinClusterQueue": ["Never", "LowerPriority"]}},
        ],
        [{"measure": "workloads.p95Ms"}, {"measure": "workLostMs", "weight": 0.5}],
        more=_RECLAIM,
        draw=10,
    ),
)
