"""Settings that people try: each kind alike for all queues, quota also by work."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from scheduler.analysis.advice.advisor import Advisor
from scheduler.analysis.advice.space import Point, repair
from tests.bench.advice.worlds import LargerWorld, demands_of


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
