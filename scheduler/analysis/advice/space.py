"""Every setting that may be tried: points, steps between them, and their size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.analysis.experiments.document import Change, ObjectChange, Variant
from scheduler.model.patches import merge

#: A setting: per dimension the index of the value that it has.
Point = tuple[int, ...]
#: Above this the number of settings is not counted exactly.
MANY = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One thing that may change, and its values; `now` is the one that it has.

    `changes` has what makes each value so; nothing at `now`. In an `ordered` one
    neighbours are alike, and a step between them is the smallest change.
    """

    object: str  # "Kind/name", "Kind/namespace/name", "policy"
    field: str
    values: tuple[Any, ...]
    now: int
    changes: tuple[Change, ...]
    ordered: bool = False

    @property
    def name(self) -> str:
        """Return the unique name of the dimension."""
        return f"{self.object} {self.field}"

    def distance(self, index: int) -> float:
        """Return how far a value is from what it is now, 0 to 1."""
        if not self.ordered:
            return float(index != self.now)
        return abs(index - self.now) / max(1, len(self.values) - 1)

    def text(self, index: int) -> str:
        """Return the change in words."""
        return (
            f"{self.name}: {shown(self.values[self.now])} → {shown(self.values[index])}"
        )


def shown(value: Any) -> str:
    """Return a value as people read it."""
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "off"
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Dimensions that share a total: steps that one gains, others give.

    `room` is how many steps the sum may grow; `exact` = it stays as it is. Of quota,
    `queues` has the queue of each member, and `lowest` its lowest value in steps.
    """

    members: tuple[int, ...]
    queues: tuple[str, ...] = ()
    resource: str = ""
    lowest: tuple[float, ...] = ()
    room: int = 0
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The settings that a search may try; `base` is what is there."""

    dimensions: tuple[Dimension, ...]
    pools: tuple[Pool, ...] = ()

    @property
    def base(self) -> Point:
        """Return the setting that nothing changes."""
        return tuple(dimension.now for dimension in self.dimensions)

    def edited(self, point: Point) -> list[int]:
        """Return the dimensions in which a setting is not what is there."""
        pairs = zip(point, self.base, strict=True)
        return [at for at, (value, now) in enumerate(pairs) if value != now]

    def size(self, point: Point) -> tuple[int, float]:
        """Return how large a change is: edits, then how far they go."""
        far = sum(d.distance(v) for d, v in zip(self.dimensions, point, strict=True))
        return len(self.edited(point)), round(far, 9)

    def valid(self, point: Point) -> bool:
        """Return whether every pool keeps its total."""
        return all(_surplus(self, pool, point) == 0 for pool in self.pools)

    def count(self) -> int:
        """Return how many settings there are, at most MANY."""
        pooled = {member for pool in self.pools for member in pool.members}
        single = (
            len(d.values) for at, d in enumerate(self.dimensions) if at not in pooled
        )
        found = math.prod(single) * math.prod(_ways(self, p) for p in self.pools)
        return min(found, MANY)

    def points(self) -> Iterator[Point]:
        """Yield every setting. O(product of the values)."""
        ranges = [range(len(dimension.values)) for dimension in self.dimensions]
        yield from filter(self.valid, itertools.product(*ranges))

    def texts(self, point: Point) -> list[str]:
        """Return the edits of a setting in words."""
        return [self.dimensions[at].text(point[at]) for at in self.edited(point)]

    def variant(self, point: Point) -> Variant:
        """Return the setting as a variant of an experiment; "base" changes nothing."""
        parts = [self.dimensions[at].changes[point[at]] for at in self.edited(point)]
        policy: dict[str, Any] = {}
        for part in parts:
            policy = merge(policy, part.policy)
        name = "; ".join(self.texts(point)) or "base"
        objects = _joined([change for part in parts for change in part.objects])
        return Variant(name=name, policy=policy, objects=objects)


def _joined(changes: Sequence[ObjectChange]) -> list[ObjectChange]:
    """Return one change per object where several patch or set it."""
    found: dict[str, ObjectChange] = {}
    alone: list[ObjectChange] = []
    for change in changes:
        if change.create or change.delete:
            alone.append(change)
            continue
        known = found.get(change.object, ObjectChange(object=change.object))
        found[change.object] = ObjectChange(
            object=change.object,
            patch=merge(known.patch, change.patch),
            set={**known.set, **change.set},
        )
    return [*found.values(), *alone]


def _surplus(space: Space, pool: Pool, point: Point) -> int:
    """Return by how many steps a pool has too much (above 0) or too little."""
    moved = sum(point[at] - space.dimensions[at].now for at in pool.members)
    if pool.exact:
        return moved
    return max(0, moved - pool.room)


def _ways(space: Space, pool: Pool) -> int:
    ways = {0: 1}
    for at in pool.members:
        dimension = space.dimensions[at]
        following: dict[int, int] = {}
        for moved, number in ways.items():
            for index in range(len(dimension.values)):
                key = moved + index - dimension.now
                following[key] = following.get(key, 0) + number
        ways = following
    if pool.exact:
        return ways.get(0, 0)
    return sum(number for moved, number in ways.items() if moved <= pool.room)


def repair(space: Space, point: Point, *, kept: int = -1) -> Point | None:
    """Return the point with every pool's total mended, `kept` as it is.

    Members go back to what they are now before any goes further away. None where
    the bounds leave no way.
    """
    found = list(point)
    for pool in space.pools:
        while (surplus := _surplus(space, pool, tuple(found))) != 0:
            sign = -1 if surplus > 0 else 1
            able = [
                at for at in pool.members if at != kept and _can(space, found, at, sign)
            ]
            if not able:
                return None
            best = max(able, key=lambda at: (_back(space, found, at, sign), -at))
            found[best] += sign
    return tuple(found)


def _can(space: Space, point: Sequence[int], at: int, sign: int) -> bool:
    return 0 <= point[at] + sign < len(space.dimensions[at].values)


def _back(space: Space, point: Sequence[int], at: int, sign: int) -> int:
    return (space.dimensions[at].now - point[at]) * sign
