"""The three ways to score how full a node would be, for one node and for rows.

Each takes (weight, used, capacity) per resource, `used` with the pod in, and
gives 0..100.
Source: docs/semantics/kube-scheduler.md#noderesourcesfit-scoring-strategies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np

from scheduler.engine.kube.cache.node_info import Ints, View
from scheduler.model.errors import PolicyError
from scheduler.model.node import CPU, MEMORY, is_scalar
from scheduler.model.problems import Wanted, expected, in_field

Part = tuple[int, int, int]
Parts = list[tuple[int, Ints, Ints]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One strategy, twice: `one` node by plain arithmetic, `rows` by arrays."""

    one: Callable[[list[Part]], int]
    rows: Callable[[Parts, int], Ints]


def quotient(value: int, by: int) -> int:
    """Divide truncating toward zero, as Go does."""
    return value // by if value >= 0 else -(-value // by)


def _mean_one(score: Callable[[int, int], int], parts: list[Part]) -> int:
    total = weights = 0
    for weight, used, cap in parts:
        total += weight * score(used, cap)
        weights += weight
    return total // weights if weights else 0


def _mean_rows(score: Callable[[Ints, Ints], Ints], parts: Parts, size: int) -> Ints:
    """Return the weighted mean; a node without the resource leaves it out."""
    total: Ints = np.zeros(size, dtype=np.int64)
    weights: Ints = np.zeros(size, dtype=np.int64)
    plain, everywhere = 0, True
    for weight, used, cap in parts:
        if cap.all():
            total += weight * score(used, cap)
            plain += weight
        else:
            has, everywhere = cap != 0, False
            total += np.where(has, weight * score(used, np.where(has, cap, 1)), 0)
            weights += weight * has
    if everywhere:
        mean: Ints = total // max(plain, 1)
        return mean
    weights += plain
    shared: Ints = total // np.maximum(weights, 1)
    return shared


def _least_one(used: int, cap: int) -> int:
    return 0 if used > cap else (cap - used) * 100 // cap


def _least_rows(used: Ints, cap: Ints) -> Ints:
    left: Ints = np.maximum(cap - used, 0)
    return left * 100 // cap


def _most_one(used: int, cap: int) -> int:
    return quotient(min(used, cap) * 100, cap)


def _most_rows(used: Ints, cap: Ints) -> Ints:
    return np.minimum(used, cap) * 100 // cap


def ratio_rule(points: list[tuple[int, int]]) -> Rule:
    """Return RequestedToCapacityRatio over points of (0..100, 0..10).

    A resource that scores 0 does not count in the mean.
    Source: docs/semantics/kube-scheduler.md#noderesourcesfit-scoring-strategies.
    """
    line = np.array([value_at(points, u) for u in range(101)], dtype=np.int64)

    def utilization(used: Ints, cap: Ints) -> Ints:
        return np.where(used > cap, 100, np.minimum(used, cap) * 100 // cap)

    def one(parts: list[Part]) -> int:
        sums = weights = 0
        for weight, used, cap in parts:
            value = int(line[100 if used > cap else used * 100 // cap])
            if value > 0:
                sums += weight * value
                weights += weight
        return math.floor(sums / weights + 0.5) if weights else 0

    def rows(parts: Parts, size: int) -> Ints:
        sums: Ints = np.zeros(size, dtype=np.int64)
        weights: Ints = np.zeros(size, dtype=np.int64)
        for weight, used, cap in parts:
            has = cap != 0
            full = utilization(used, np.where(has, cap, 1))
            value = np.where(has, line[full], 0)
            sums += weight * value
            weights += weight * (value > 0)
        mean = sums / np.maximum(weights, 1)
        rounded: Ints = np.floor(mean + 0.5).astype(np.int64)
        return rounded

    return Rule(one, rows)


def value_at(points: list[tuple[int, int]], utilization: int) -> int:
    """Return the line's value x 10 at a whole percentage."""
    if utilization <= points[0][0]:
        return points[0][1] * 10
    for (x0, y0), (x1, y1) in pairwise(points):
        if utilization <= x1:
            rise = (y1 - y0) * 10 * (utilization - x0)
            return y0 * 10 + quotient(rise, x1 - x0)
    return points[-1][1] * 10


rules = {
    "LeastAllocated": Rule(
        lambda parts: _mean_one(_least_one, parts),
        lambda parts, size: _mean_rows(_least_rows, parts, size),
    ),
    "MostAllocated": Rule(
        lambda parts: _mean_one(_most_one, parts),
        lambda parts, size: _mean_rows(_most_rows, parts, size),
    ),
}


# ------------------------------------------------------------------------
# What the resource plug-ins share: weighted resources, columns, shortages.


class ResourceSpec(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A resource and its weight, 1 to 100 (0 or absent: 1)."""

    name: str
    weight: int = 1

    def check(self, plugin: str) -> None:
        """Refuse a weight out of range; make 0 the 1 it stands for."""
        if not 0 <= self.weight <= 100:
            raise PolicyError(
                in_field(
                    "resources",
                    expected(
                        Wanted.WEIGHT.said(least="1", most="100", name=self.name),
                        given=self.weight,
                    ),
                ),
                plugin,
            )
        self.weight = self.weight or 1


class Shortage(NamedTuple):
    """A resource that a node has too little of, in canonical units."""

    resource: str
    asked: int
    taken: int
    capacity: int

    @property
    def reason(self) -> str:
        """Return kube-scheduler's words for the shortage."""
        return f"Insufficient {self.resource}"


def skips(resource: str, asked: Mapping[str, int]) -> bool:
    """Return whether scoring leaves the resource out: a scalar not asked for."""
    return not asked.get(resource) and is_scalar(resource)


def column(view: View, resource: str, *, defaults: bool) -> Ints:
    """Return the requests of each row's pods; with `defaults`, default requests included."""
    if defaults and resource == CPU:
        return view.assumed_cpu
    if defaults and resource == MEMORY:
        return view.assumed_memory
    return view.requested(resource)
