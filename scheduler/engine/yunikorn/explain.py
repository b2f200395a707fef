"""Why a pod waits under YuniKorn: its place in line, quota, nodes, preemption."""

from __future__ import annotations

from typing import Any, Literal

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Ask, Queue, SchedulingNode
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.preemption_laws import Laws, PreemptionPlan
from scheduler.engine.yunikorn.preemption.attempts import RETRY_MS
from scheduler.engine.yunikorn.scheduling.node_fit import may_run
from scheduler.engine.yunikorn.sorting.queues import children_in_order, share_of
from scheduler.model.registry import lookup
from scheduler.model.yunikorn import resources

_SHOWN_NODES = 200
_LAWS = ("released", "documented")

Row = dict[str, Any]
Obstacle = Literal["cordoned", "tooSmall", "reserved", "short", "predicate"]
_OBSTACLES: dict[Obstacle, str] = {
    "cordoned": "cordoned",
    "tooSmall": "too small in {}",
    "reserved": "reserved for {}",
    "short": "short of {}",
    "predicate": "{}",
}


def explain(partition: Partition, key: str) -> Row:
    """Return everything that decides about a waiting pod now. Changes nothing.

    KeyError when there is no such pod. Amounts are in YuniKorn's units
    (`vcore` in thousandths). O(nodes + pods).
    """
    ask = partition.asks[key]
    partition.refresh()
    found: Row = {
        "application": ask.app.id,
        "state": str(ask.app.state),
        "queue": ask.app.queue.path,
        "laws": partition.laws.name,
        "needs": dict(ask.resource),
        "log": list(ask.log),
    }
    if ask.node is not None:
        return {**found, "node": ask.node.name}
    return {
        **found,
        "reserved": ask.reserved_on.name if ask.reserved_on else None,
        "mayRun": may_run(partition, ask.app),
        "sorting": sorting(partition, ask),
        "quota": [_quota(queue, ask) for queue in ask.app.queue.route],
        "userHeadroom": partition.limits.headroom(ask.app),
        "nodes": [
            {"node": node.name, "verdict": verdict(node, ask)}
            for node, _ in zip(partition.nodes, range(_SHOWN_NODES), strict=False)
        ],
        "preemption": preemption(partition, ask),
    }


def sorting(partition: Partition, ask: Ask) -> list[Row]:
    """Return the competitors before it at every level, from the root down."""
    rows: list[Row] = []
    for parent in reversed(ask.app.queue.route[1:]):
        order = children_in_order(partition, parent)
        rows.append(
            {
                "queue": parent.path,
                "children": [
                    {
                        "queue": child.path,
                        "priority": child.published,
                        "share": share_of(child),
                    }
                    for child in order
                ],
            }
        )
    leaf = ask.app.queue
    assert leaf.sort is not None
    apps = [app.id for app in leaf.sort.candidates(leaf)]
    rows.append({"queue": leaf.path, "applications": apps})
    requests = [request.key for request in ask.app.requests]
    rows.append({"application": ask.app.id, "requests": requests})
    return rows


def _quota(queue: Queue, ask: Ask) -> Row:
    limit = queue.max or {}
    room = resources.minus_existing(limit, queue.allocated)
    return {
        "queue": queue.path,
        "guaranteed": queue.guaranteed,
        "max": queue.max,
        "used": dict(queue.allocated),
        "leaving": dict(queue.preempting),
        "fits": resources.fits_undefined(room, ask.needs),
    }


def verdict(node: SchedulingNode, ask: Ask) -> str:
    """Return why a node does not take an ask now; "" when it does."""
    found = obstacle(node, ask)
    return _OBSTACLES[found[0]].format(", ".join(found[1])) if found else ""


def obstacle(node: SchedulingNode, ask: Ask) -> tuple[Obstacle, list[str]] | None:
    """Return why a node does not take an ask now as a code and the names in it.

    "reserved" names asks, "short" and "tooSmall" resources, "predicate" has a message.
    """
    if not node.schedulable:
        return "cordoned", []
    if not node.could_hold(ask.needs):
        return "tooSmall", sorted(resources.shortfall(ask.resource, node.capacity))
    others = [other for other in node.reservations if other != ask.key]
    if others:
        return "reserved", sorted(others)
    short = resources.shortfall(ask.resource, node.available)
    if short:
        return "short", sorted(short)
    said = ask.predicate(node) if ask.predicate is not None else None
    return ("predicate", [said]) if said else None


def preemption(partition: Partition, ask: Ask) -> Row:
    """Return what preemption would do for it now, by the code and by the documentation."""
    plans = {name: _under(lookup("laws", name)(), partition, ask) for name in _LAWS}
    outcomes = [plans[name] for name in _LAWS]
    return {
        "enabled": partition.spec.preemption,
        "allowed": ask.allow_other,
        "triggered": ask.triggered,
        "notBeforeMs": _not_before(partition, ask),
        **plans,
        "lawsDiffer": outcomes[0] != outcomes[1],
    }


def _not_before(partition: Partition, ask: Ask) -> int:
    ready = ask.create_ms + partition.laws.delay_ms(ask.app.queue)
    return ready if ask.checked_ms is None else max(ready, ask.checked_ms + RETRY_MS)


def _under(laws: Laws[Partition], partition: Partition, ask: Ask) -> Row:
    """Return a plan for victims, or why there is none."""
    if ask.required_node is not None:
        node = partition.nodes.by_name.get(ask.required_node)
        victims = laws.required_victims(partition, node, ask) if node else []
        if not victims:
            return {"refused": messages.NO_FIT_ON_REQUIRED_NODE}
        return {"node": ask.required_node, "victims": sorted(v.key for v in victims)}
    fits = resources.fits_undefined(ask.app.queue.headroom(), ask.needs)
    plan = laws.choose(partition, ask, nodes_tried=fits)
    if isinstance(plan, PreemptionPlan):
        keys = [victim.key for victim in plan.victims]
        return {"node": plan.node.name, "victims": keys}
    return {"refused": plan or messages.DOES_NOT_HELP}
