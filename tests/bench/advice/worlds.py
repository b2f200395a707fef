"""What a larger world for the advisor is: queues alike, and jobs drawn once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from scheduler.analysis.advice.advisor import Advisor
from scheduler.analysis.experiments.bases import FileBase
from tests.builders import cluster_queue, flavor, job, local_queue, workload_priority
from tests.scheduler.advice.worlds import base_of, spec_of_goal

Manifest = dict[str, Any]
CLASSES = {"low": 1, "middle": 50, "high": 100}
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
    jobs: int = 100
    load: float = 0.85
    draw: int = 1
    groups: tuple[Manifest, ...] = ()
    policy: dict[str, Any] = {}  # noqa: RUF012 - never changed
    more: dict[str, Any] = {}  # noqa: RUF012 - never changed
    mixed: bool = False  # jobs of one queue have different priorities


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
        name = draw.choice(list(CLASSES))
        count = round(world.jobs * share / sum(shares))
        kinds = [(draw.choice(sizes), seconds, name) for _ in range(count)]
        if world.mixed:
            kinds = [(*kind, draw.choice(list(CLASSES))) for *kind, _ in kinds]
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
    yield from (workload_priority(name, value) for name, value in CLASSES.items())
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
