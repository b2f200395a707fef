"""What there is: capacity, who owns which part of it, and the places it lies in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scheduler.analysis.measures.subjects import Amounts
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
