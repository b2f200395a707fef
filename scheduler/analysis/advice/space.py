"""Every setting that may be tried: points, steps between them, and their size."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from scheduler.analysis.experiments.document import (
    Change,
    ObjectChange,
    Sampler,
    Variant,
)
from scheduler.model import streams
from scheduler.model.patches import merge

if TYPE_CHECKING:
    import optuna


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


# ------------------------------------------------------------------------
# Steps from one setting to others: one value, or one transfer within a pool.


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


# ------------------------------------------------------------------------
# Which settings to try next: Optuna's samplers, asked and then given what came out.


#: How often a sampler is asked before its answers, all known, are given up.
_TRIES = 8


class Proposer(Protocol):
    """What proposes settings and learns how they did."""

    def ask(self) -> Point:
        """Return a setting to try; it may be one that was tried before."""

    def learn(self, point: Point, losses: Sequence[float]) -> None:
        """Learn the losses of a setting, one per objective."""


def proposer(sampler: Sampler, space: Space, seed: int, objectives: int) -> Proposer:
    """Return the proposer of a name. Optuna takes a second to import."""
    if sampler == "random":
        return RandomProposer(space, seed)
    return OptunaProposer(sampler, space, seed, objectives)


class RandomProposer:
    """Draws each dimension alike; totals are mended."""

    def __init__(self, space: Space, seed: int) -> None:
        self.space = space
        self.seed = seed
        self.drawn = 0

    def ask(self) -> Point:
        """Return a setting drawn at random."""
        while True:
            self.drawn += 1
            point = tuple(
                streams.choose(
                    self.seed, "advice", d.name, self.drawn, among=len(d.values)
                )
                for d in self.space.dimensions
            )
            mended = repair(self.space, point)
            if mended is not None:
                return mended

    def learn(self, point: Point, losses: Sequence[float]) -> None:
        """Learn nothing."""


class OptunaProposer:
    """TPE, or NSGA-II where several objectives are kept apart.

    Every setting that was run is added as a trial, whoever proposed it; what was
    asked for and not run stays open, which no sampler reads.
    """

    def __init__(
        self, sampler: Sampler, space: Space, seed: int, objectives: int
    ) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.optuna = optuna
        self.space = space
        self.asked: dict[Point, optuna.Trial] = {}
        one = optuna.study.StudyDirection.MINIMIZE
        directions = [one] * (objectives if sampler == "nsga2" else 1)
        self.study = optuna.create_study(
            sampler=_sampler(sampler, seed), directions=directions
        )

    def ask(self) -> Point:
        """Return the sampler's setting, its totals mended."""
        for _ in range(_TRIES):
            trial = self.study.ask()
            point = tuple(self._suggest(trial, at) for at in range(self._dimensions()))
            mended = repair(self.space, point)
            if mended == point and point not in self.asked:
                self.asked[point] = trial
                return point
            if mended is not None:
                return mended
        return self.space.base

    def learn(self, point: Point, losses: Sequence[float]) -> None:
        """Learn the losses of a setting, asked for or not."""
        values = list(losses[: len(self.study.directions)])
        trial = self.asked.pop(point, None)
        kept: dict[str, Any] = {}
        if trial is not None:  # NSGA-II's generations are kept there
            asked = self.study.get_trials(deepcopy=False)[trial.number]
            kept = dict(asked.system_attrs)
        names = [str(at) for at in range(self._dimensions())]
        shapes = {name: self._shape(at) for at, name in enumerate(names)}
        params = dict(zip(names, point, strict=True))
        self.study.add_trial(
            self.optuna.trial.create_trial(
                params=params, distributions=shapes, values=values, system_attrs=kept
            )
        )

    def _dimensions(self) -> int:
        return len(self.space.dimensions)

    def _suggest(self, trial: optuna.Trial, at: int) -> int:
        dimension = self.space.dimensions[at]
        if dimension.ordered:
            return trial.suggest_int(str(at), 0, len(dimension.values) - 1)
        return int(trial.suggest_categorical(str(at), range(len(dimension.values))))

    def _shape(self, at: int) -> Any:
        dimension = self.space.dimensions[at]
        if dimension.ordered:
            return self.optuna.distributions.IntDistribution(
                0, len(dimension.values) - 1
            )
        choices = list(range(len(dimension.values)))
        return self.optuna.distributions.CategoricalDistribution(choices)


def _sampler(sampler: Sampler, seed: int) -> Any:
    from optuna.samplers import NSGAIISampler, TPESampler

    seed %= 2**32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is new in Optuna says so
        if sampler == "nsga2":
            return NSGAIISampler(seed=seed, population_size=16)
        return TPESampler(seed=seed, multivariate=True, n_startup_trials=8)
