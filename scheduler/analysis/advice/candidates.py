"""Settings among which a search chooses: near the best, alike for all, or drawn."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from scheduler.analysis.advice.moves import moves
from scheduler.analysis.advice.space import Dimension, Point, Space, repair
from scheduler.model import streams

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
