"""Nodes: cordon, drain, fail and bring back; pods pinned to them."""

from __future__ import annotations

from typing import Any, Literal, get_args

from django.contrib.auth.models import User

from sandbox.actions.turns import turn
from sandbox.commits import Work
from sandbox.diffs import Step
from sandbox.errors import Cause, InvalidError, NotFoundError
from sandbox.operations import Delete, Edit, Put, Several
from scheduler.records.objects import Key, Object
from scheduler.world import World

Change = Literal["cordon", "uncordon", "drain", "fail", "recover"]
CHANGES: tuple[str, ...] = get_args(Change)
#: What the node controller puts on a node that does not answer.
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}


def do_node(user: User, sandbox_id: str, name: str, change: str) -> Step:
    """Cordon, uncordon, drain, fail or recover a node."""
    if change not in CHANGES:
        problem = f"expected one of {', '.join(CHANGES)}, got {change!r}"
        raise InvalidError(problem, causes=[Cause(problem=problem, field="change")])
    with turn(user, sandbox_id) as mine:
        world = mine.held.world
        node = world.objects.get(Key("Node", "", name))
        if node is None:
            raise NotFoundError(f"node {name} is not in this sandbox")
        operation = change_of(world, node, change)
        summary = f"{user.get_username()}: {change} node {name}"
        line = mine.line(user, change.capitalize(), str(node.key), summary)
        mine.do(operation)
        return mine.commit(
            Work(operation=operation, who=user.pk, summary=summary, edits=[line])
        )


def change_of(world: World, node: Object, change: str) -> Edit:
    """Return the edit that a change of a node comes to.

    A drain evicts its pods; those that a run owns are made again elsewhere. A
    failed node gets the taint that makes its pods leave.
    """
    match change:
        case "cordon":
            return _spec(node, unschedulable=True)
        case "uncordon":
            return _spec(node, unschedulable=False)
        case "drain":
            return _with_pods_gone(world, node, _spec(node, unschedulable=True))
        case "fail":
            taints = [*(node.spec.get("taints") or ()), UNREACHABLE]
            return _with_pods_gone(world, node, _spec(node, taints=taints))
        case _:
            kept = [t for t in node.spec.get("taints") or () if t != UNREACHABLE]
            return _spec(node, taints=kept, unschedulable=False)


def _spec(node: Object, **fields: Any) -> Put:
    spec = {**node.spec, **fields}
    spec = {name: value for name, value in spec.items() if value not in (False, [])}
    return Put(manifests=[{**node.manifest, "spec": spec}])


def _with_pods_gone(world: World, node: Object, put: Put) -> Edit:
    pods = [
        (key.kind, key.namespace, key.name)
        for key in world.keys("Pod")
        if world.objects[key].spec.get("nodeName") == node.key.name
    ]
    return Several([put, Delete(pods)]) if pods else put
