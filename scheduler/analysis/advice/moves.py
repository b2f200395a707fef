"""Steps from one setting to others: one value, or one transfer within a pool."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.analysis.advice.space import Dimension, Point, Pool, Space, repair

#: How many steps an ordered dimension, or a transfer, goes at once.
STRIDES = (1, 2, 4, 8, 16)


def moves(
    space: Space, point: Point, *, strides: tuple[int, ...] = STRIDES
) -> list[Point]:
    """Return the settings one move away, each once, in a fixed order.

    With strides, also what goes to either end of an ordered dimension, unless
    there is but one.
    """
    pooled = {member: pool for pool in space.pools for member in pool.members}
    found: dict[Point, None] = {}
    for at, dimension in enumerate(space.dimensions):
        pool = pooled.get(at)
        for index in _indices(dimension, point[at], strides):
            if pool is None or not pool.exact:
                moved = _with(point, at, index)
                if space.valid(moved):
                    found[moved] = None
            if pool is not None:
                for transferred in _transfers(space, pool, point, at, index):
                    found[transferred] = None
    found.pop(point, None)
    return list(found)


def _indices(dimension: Dimension, index: int, strides: tuple[int, ...]) -> list[int]:
    count = len(dimension.values)
    if not dimension.ordered:
        return [other for other in range(count) if other != index]
    near = [index + sign * by for by in strides for sign in (1, -1)]
    ends = [0, count - 1] if len(strides) > 1 else []
    return list(dict.fromkeys(n for n in [*near, *ends] if 0 <= n < count))


def _transfers(
    space: Space, pool: Pool, point: Point, at: int, index: int
) -> Iterator[Point]:
    """Yield settings in which one other member gives what this one gains."""
    for other in pool.members:
        given = point[other] - (index - point[at])
        if other != at and 0 <= given < len(space.dimensions[other].values):
            yield _with(_with(point, at, index), other, given)


def without(space: Space, point: Point, at: int) -> Point | None:
    """Return the setting without one of its edits, totals kept."""
    return repair(space, _with(point, at, space.dimensions[at].now), kept=at)


def closer(space: Space, point: Point, at: int) -> Point | None:
    """Return the setting with one ordered edit half as large; None for the smallest."""
    dimension = space.dimensions[at]
    half = dimension.now + int((point[at] - dimension.now) / 2)
    if not dimension.ordered or half in (dimension.now, point[at]):
        return None
    return repair(space, _with(point, at, half), kept=at)


def around(space: Space, point: Point, at: int) -> list[Point]:
    """Return the settings next to this one in one dimension, totals kept."""
    dimension = space.dimensions[at]
    near = (
        [point[at] - 1, point[at] + 1]
        if dimension.ordered
        else [n for n in range(len(dimension.values)) if n != point[at]]
    )
    able = [n for n in near if 0 <= n < len(dimension.values)]
    found = (repair(space, _with(point, at, n), kept=at) for n in able)
    return [one for one in found if one is not None and one != point]


def _with(point: Point, at: int, index: int) -> Point:
    return (*point[:at], index, *point[at + 1 :])
