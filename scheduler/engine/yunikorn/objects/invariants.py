"""What must hold in a partition, counted anew from its pods."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.node_order import NodeOrder
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts


def violations(partition: Partition) -> Iterator[str]:
    """Yield a sentence per sum that is not what it sums. O(pods x depth)."""
    for queue in partition.root.walk():
        yield from _queue_sums(queue)
    for node in partition.nodes:
        used: Amounts = {}
        for ask in node.allocations.values():
            resources.add_to(used, ask.resource)
        left = resources.minus(resources.minus(node.capacity, node.occupied), used)
        if _differ(left, node.available):
            yield f"node {node.name}: available is {node.available}, counted {left}"
        for name, value in resources.minus(node.capacity, used).items():
            if value < 0:
                yield f"node {node.name}: pods exceed its {name} by {-value}"
    yield from _order_of_nodes(partition.nodes)
    waiting = sum(ask.node is None for ask in partition.asks.values())
    if waiting != partition.pending:
        yield f"pending is {partition.pending}, counted {waiting}"


def _order_of_nodes(order: NodeOrder) -> Iterator[str]:
    for name, entries in (("with room", order.entries), ("full", order.full)):
        if entries != sorted(entries):
            yield f"nodes {name} are out of order: {[at[:2] for at in entries]}"
        for entry in entries:
            node = entry[2]
            if node.entry != entry or node.full is not (name == "full"):
                yield f"node {node.name} does not know that it is {name} at {entry[0]}"
    known = sorted(entry[1] for entry in (*order.entries, *order.full))
    if known != sorted(order.by_name):
        yield f"nodes in the order are {known}, known are {sorted(order.by_name)}"


def _queue_sums(queue: Queue) -> Iterator[str]:
    allocated: Amounts = {}
    pending: Amounts = {}
    preempting: Amounts = {}
    for leaf in queue.leaves():
        for app in leaf.apps.values():
            for ask in app.allocations.values():
                resources.add_to(allocated, ask.resource)
                if ask.preempted:
                    resources.add_to(preempting, ask.resource)
            for ask in app.requests:
                resources.add_to(pending, ask.resource)
    sums = (
        ("allocated", queue.allocated, allocated),
        ("pending", queue.pending, pending),
        ("preempting", queue.preempting, preempting),
    )
    if queue.has_pending is not any(pending.values()):
        yield f"{queue.path}: has_pending is {queue.has_pending}, counted {pending}"
    for name, kept, counted in sums:
        if _differ(kept, counted):
            yield f"{queue.path}: {name} is {kept}, counted {counted}"


def _differ(left: Amounts, right: Amounts) -> bool:
    return any(resources.minus(left, right).values())
