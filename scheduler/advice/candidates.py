"""Settings among which a search chooses: near the best, alike for all, or drawn."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from scheduler import streams
from scheduler.advice.moves import moves
from scheduler.advice.space import Point, Space, repair

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
            found[_drawn_anew(space, leader, _few(space, draw), draw)] = None
    pooled = {member for pool in space.pools for member in pool.members}
    free = [at for at in range(len(space.dimensions)) if at not in pooled]
    for n in range(_FAR if free else 0):
        leader = leaders[n % len(leaders)]
        found[_drawn_anew(space, leader, free, draw)] = None
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


def _kinds(space: Space) -> list[list[int]]:
    """Return the dimensions of each field that several objects of a kind have."""
    pooled = {member for pool in space.pools for member in pool.members}
    found: dict[tuple[str, str], list[int]] = {}
    for at, one in enumerate(space.dimensions):
        if at not in pooled:
            kind = one.object.partition("/")[0]
            found.setdefault((kind, one.field), []).append(at)
    return [members for members in found.values() if len(members) > 1]


def _shared_values(space: Space, members: Sequence[int]) -> Iterator[Any]:
    first, *others = (space.dimensions[at].values for at in members)
    yield from (value for value in first if all(value in one for one in others))


def _few(space: Space, draw: random.Random) -> list[int]:
    """Return some dimensions, two or more where there are as many."""
    count = len(space.dimensions)
    most = min(_MOST_DRAWN, count)
    return draw.sample(range(count), draw.randint(min(2, most), most))


def _drawn_anew(
    space: Space, point: Point, which: Sequence[int], draw: random.Random
) -> Point | None:
    found = list(point)
    for at in which:
        found[at] = draw.randrange(len(space.dimensions[at].values))
    return repair(space, tuple(found))
