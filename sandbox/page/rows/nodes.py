"""Nodes with what is taken on them."""

from __future__ import annotations

from typing import Literal

from sandbox.page.diffs import Row
from sandbox.page.phases import conditions_of
from sandbox.page.rows.quota import taint_texts
from sandbox.page.wire_rows import NodeRow
from scheduler.engine.world import World
from scheduler.model import amounts
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Object


def row(world: World, obj: Object) -> NodeRow:
    """Return the row of one Node."""
    now = taken_fields(world, obj)
    return NodeRow(
        key=str(obj.key),
        name=obj.key.name,
        state=state_of(obj),
        flavor=now["flavor"],
        allocatable=_texts(allocatable(obj)),
        used=now["used"],
        pods=now["pods"],
        held=now["held"],
        held_pods=now["heldPods"],
        locked_by=now["lockedBy"],
        taints=taint_texts(obj.spec.get("taints")),
        labels=dict(obj.labels),
    )


def taken_fields(world: World, obj: Object) -> Row:
    """Return the part of a Node's row that may change though the Node does not."""
    name, kube = obj.key.name, world.kube
    used, pods = taken(world, name)
    held, held_pods = kube.held_on(name) if kube is not None else ({}, 0)
    return {
        "flavor": _flavor(world, obj),
        "used": _texts(used),
        "pods": pods,
        "held": _texts(held),
        "heldPods": held_pods,
        "lockedBy": kube.locked_by(name) if kube is not None else "",
    }


def state_of(obj: Object) -> Literal["ready", "cordoned", "failed"]:
    """Return the state: not Ready is failed, unschedulable is cordoned."""
    ready = conditions_of(obj.status).get("Ready")
    if ready is not None and ready.get("status") != "True":
        return "failed"
    return "cordoned" if obj.spec.get("unschedulable") else "ready"


def allocatable(obj: Object) -> dict[str, int]:
    """Return what the node has for pods, canonical units."""
    given = obj.status.get("allocatable") or obj.status.get("capacity") or {}
    found = {}
    for name, text in given.items():
        try:
            found[name] = amounts.canonical(name, text)
        except QuantityError:
            continue  # refused on import; kept only in dumps
    return found


def taken(world: World, name: str) -> tuple[dict[str, int], int]:
    """Return what pods hold on a node, and how many they are."""
    if world.kube is not None:
        return world.kube.used_on(name)
    if world.yunikorn is not None:
        return world.yunikorn.partition.used_on(name)
    return {}, 0


def _flavor(world: World, obj: Object) -> str:
    """Return the ResourceFlavor whose labels the node has; the most specific wins."""
    if world.kueue is None:
        return ""
    best, most = "", 0
    for name, flavor in sorted(world.kueue.cluster.flavors.items()):
        labels = flavor.labels
        if len(labels) > most and labels.items() <= obj.labels.items():
            best, most = name, len(labels)
    return best


def _texts(values: dict[str, int]) -> dict[str, str]:
    return {name: str(amount) for name, amount in sorted(values.items()) if amount}
