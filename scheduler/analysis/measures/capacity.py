"""What there is: capacity, who owns which part of it, and the places it lies in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from scheduler.analysis.measures.subjects import Amounts, Shape
from scheduler.engine.world import World
from scheduler.input.manifests.generator import CLASS
from scheduler.model import amounts
from scheduler.model.objects import Object


@dataclass(slots=True, kw_only=True)
class CapacityPool:
    """Capacity in one place: a node, or one flavor of one cohort tree's quota."""

    group: str  # of queues that may use it; "" = all
    amounts: Amounts


@dataclass(slots=True, kw_only=True)
class Entitlement:
    """What is a queue's by right."""

    group: str  # the cohort tree it shares with
    weight: float = 1.0
    own: Amounts = field(default_factory=dict)  # nominal or guaranteed
    kind: str = ""  # class of the performance generator, else ""


@dataclass(slots=True, kw_only=True)
class Capacity:
    """The capacity of a world at one time."""

    capacity: Amounts
    by_group: dict[str, Amounts]  # capacity of each cohort tree
    queues: dict[str, Entitlement]
    places: dict[str, CapacityPool]
    on_nodes: bool  # places are nodes


def read_capacity(world: World) -> Capacity:
    """Return the present capacity. Cost: O(nodes + queues)."""
    nodes = _nodes(world)
    if world.kueue is None:
        capacity = _sum([place.amounts for place in nodes.values()])
        return Capacity(
            capacity=capacity,
            by_group={"": capacity},
            queues=_guaranteed(world),
            places=nodes,
            on_nodes=True,
        )
    queues, pools, by_group = _quota(world)
    on_nodes = (
        bool(nodes) or world.grows
    ) and world.policy.spec.simulation.nodes_schedule
    return Capacity(
        capacity=_sum(list(by_group.values())),
        by_group=by_group,
        queues=queues,
        places=nodes if on_nodes else pools,
        on_nodes=on_nodes,
    )


def _sum(parts: list[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for resource, amount in part.items():
            total[resource] = amounts.add(total.get(resource, 0), amount)
    return total


def _nodes(world: World) -> dict[str, CapacityPool]:
    found: dict[str, CapacityPool] = {}
    for key in sorted(world.lifetime.nodes):
        obj = world.objects.get(key)
        if obj is None or obj.spec.get("unschedulable"):
            continue
        allocatable = obj.status.get("allocatable") or {}
        free = {r: amounts.canonical(r, text) for r, text in allocatable.items()}
        found[key.name] = CapacityPool(group="", amounts=free)
    return found


def _guaranteed(world: World) -> dict[str, Entitlement]:
    """Return YuniKorn's leaf queues; other stacks have none."""
    if world.yunikorn is None:
        return {}
    return {
        leaf.path: Entitlement(
            group="",
            own={
                amounts.CPU if name == "vcore" else name: value
                for name, value in (leaf.guaranteed or {}).items()
            },
        )
        for leaf in world.yunikorn.partition.root.leaves()
    }


def _quota(
    world: World,
) -> tuple[dict[str, Entitlement], dict[str, CapacityPool], dict[str, Amounts]]:
    parents = {
        key.name: str(obj.spec.get("parentName") or "")
        for key, obj in world.own_objects().items()
        if key.kind == "Cohort"
    }
    queues: dict[str, Entitlement] = {}
    pools: dict[str, CapacityPool] = {}
    by_group: dict[str, Amounts] = {}
    for key, obj in sorted(world.own_objects().items()):
        if key.kind not in ("ClusterQueue", "Cohort"):
            continue
        tree = _tree(key.kind, obj, parents)
        own: Amounts = {}
        for flavor, quota in _flavors(obj):
            pool = pools.setdefault(
                f"{tree} {flavor}", CapacityPool(group=tree, amounts={})
            )
            for total in (own, pool.amounts, by_group.setdefault(tree, {})):
                for resource, amount in quota.items():
                    total[resource] = amounts.add(total.get(resource, 0), amount)
        if key.kind == "ClusterQueue":
            kind = obj.labels.get(CLASS, "")
            queues[key.name] = Entitlement(
                group=tree, weight=_weight(obj), own=own, kind=kind
            )
    return queues, pools, by_group


def _tree(kind: str, obj: Object, parents: dict[str, str]) -> str:
    """Return a name for the root of the object's cohort tree."""
    cohort = obj.key.name if kind == "Cohort" else str(obj.spec.get("cohortName") or "")
    if not cohort:
        return f"queue {obj.key.name}"
    seen: set[str] = set()
    while (above := parents.get(cohort)) and cohort not in seen:
        seen.add(cohort)
        cohort = above
    return f"cohort {cohort}"


def _flavors(obj: Object) -> list[tuple[str, Amounts]]:
    return [
        (str(flavor.get("name")), _nominal(flavor))
        for group in obj.spec.get("resourceGroups") or ()
        for flavor in group.get("flavors") or ()
    ]


def _nominal(flavor: dict[str, Any]) -> Amounts:
    return {
        str(quota["name"]): amounts.quota(quota["name"], quota.get("nominalQuota", "0"))
        for quota in flavor.get("resources") or ()
    }


def _weight(obj: Object) -> float:
    given = (obj.spec.get("fairSharing") or {}).get("weight")
    return 1.0 if given is None else float(amounts.parse(given))


# ------------------------------------------------------------------------
# Free but useless: capacity where nothing that waits fits.


Grouped = tuple[str, Shape]  # the cohort tree ("" = any) and what fits or not

#: As many places as are faster one by one.
_FEW = 24
#: More than any request: a place that does not know a resource does not forbid it.
_PLENTY = np.iinfo(np.int64).max


def useless(
    capacities: Capacity, taken: Mapping[str, Amounts], shapes: Iterable[Grouped]
) -> dict[str, float]:
    """Return per resource the share of capacity that is free where nothing fits.

    A shape fits a place by amounts alone; selectors and taints are not asked.
    Quota pools forbid only what they hold. O(places x shapes), vectorised where
    there are many places.
    """
    if not capacities.places or not capacities.capacity:
        return {}
    if len(capacities.places) <= _FEW:
        return one_by_one(capacities, taken, list(shapes))
    return by_arrays(capacities, taken, shapes)


def by_arrays(
    capacities: Capacity, taken: Mapping[str, Amounts], shapes: Iterable[Grouped]
) -> dict[str, float]:
    """Return it for many places. O(places x shapes), vectorised."""
    resources = sorted(capacities.capacity)
    free = _free(capacities, taken, resources)
    useful = np.zeros(len(capacities.places), dtype=bool)
    groups = np.array([place.group for place in capacities.places.values()])
    for group, shape in shapes:
        fits = _fits(free, resources, shape)
        useful |= fits & (groups == group) if group else fits
    idle = np.where(free == _PLENTY, 0, free)[~useful].astype(float).sum(axis=0)
    return {
        resource: float(idle[n] / capacities.capacity[resource])
        for n, resource in enumerate(resources)
        if capacities.capacity[resource]
    }


def one_by_one(
    capacities: Capacity, taken: Mapping[str, Amounts], shapes: list[Grouped]
) -> dict[str, float]:
    """Return it for few places, without arrays: they cost more than they save."""
    idle = dict.fromkeys(sorted(capacities.capacity), 0)
    for name, place in capacities.places.items():
        used = taken.get(name, {})
        free = {r: max(0, n - used.get(r, 0)) for r, n in place.amounts.items()}
        if not any(
            group in ("", place.group) and _fits_in(free, shape, capacities)
            for group, shape in shapes
        ):
            for resource in free.keys() & idle.keys():
                idle[resource] += free[resource]
    return {
        r: n / capacities.capacity[r] for r, n in idle.items() if capacities.capacity[r]
    }


def _fits_in(free: Amounts, shape: Shape, capacities: Capacity) -> bool:
    """Return whether a place has room; a pool must have some of what is asked for."""
    asked = [(r, n) for r, n in shape if n and r in capacities.capacity]
    absent = 0 if capacities.on_nodes else _PLENTY
    return all(free.get(r, absent) >= n for r, n in asked) and (
        not asked or capacities.on_nodes or any(r in free for r, _ in asked)
    )


def _free(
    capacities: Capacity, taken: Mapping[str, Amounts], resources: list[str]
) -> npt.NDArray[np.int64]:
    absent = 0 if capacities.on_nodes else _PLENTY
    rows = []
    for name, place in capacities.places.items():
        used = taken.get(name, {})
        rows.append(
            [
                max(0, place.amounts[r] - used.get(r, 0))
                if r in place.amounts
                else absent
                for r in resources
            ]
        )
    return np.array(rows, dtype=np.int64)


def _fits(
    free: npt.NDArray[np.int64], resources: list[str], shape: Shape
) -> npt.NDArray[np.bool_]:
    asked = dict(shape)
    wanted = np.array([asked.get(r, 0) for r in resources], dtype=np.int64)
    fits: npt.NDArray[np.bool_] = np.all(free >= wanted, axis=1)
    if not wanted.any():
        return fits
    # A pool that has none of what is asked for is of no use to it.
    has_some: npt.NDArray[np.bool_] = np.any((free != _PLENTY) & (wanted > 0), axis=1)
    return np.logical_and(fits, has_some)
