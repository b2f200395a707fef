"""Fair shares of YuniKorn's queues with their numbers, and the child that a parent serves next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler.analysis.explain.fork import fork_yunikorn
from scheduler.analysis.explain.shapes import Amount, Shape
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.listener import NullListener
from scheduler.engine.yunikorn.objects.model import Application, Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.sorting.queues import children_in_order, share_of
from scheduler.model.yunikorn.properties import SORT_POLICY


class QueueFraction(Shape):
    """What a queue holds of what it is held against, for one resource."""

    resource: str  # YuniKorn's names: vcore, memory
    allocated: str
    whole: str  # guaranteed, else the max that holds here
    of: str  # "guaranteed" or "max"
    ratio: float
    winning: bool


class QueueShare(Shape):
    """The fair share of one queue, and its place in the line of its parent.

    `order` is None when the queue waits for nothing. `priority` is what it
    publishes to its parent; whether that or the share comes first is the parent's.
    """

    name: str  # the whole path
    parent: str
    leaf: bool
    fractions: list[QueueFraction]
    share: float
    priority: int
    order: int | None
    pending: list[Amount]
    next: str  # application that a leaf serves first; "" for none
    #: The order of its applications. A parent's property reaches the leaves below it,
    #: where none nearer says another: `sort_from` is who says it, "" for nobody.
    sort_policy: str = ""  # "" of a parent, which serves its children by fair share
    sort_from: str = ""


class PartitionQueues(Shape):
    """The queues of another partition: on Kubernetes no node or pod is in it."""

    name: str
    queues: list[QueueShare]


class QueueFairness(Shape):
    """Every queue of the partition, parents first."""

    at_ms: int
    tick: int
    laws: str
    queues: list[QueueShare]
    partition: str
    others: list[PartitionQueues]


def queue_fairness(world: World) -> QueueFairness:
    """Return fair shares with their arithmetic, as the next cycle would see them.

    Raises SchedulerError when the stack has no YuniKorn. Changes nothing;
    costs a copy. Source: docs/semantics/yunikorn.md#order-of-queues
    """
    partition = fork_yunikorn(world, "YuniKorn").partition
    return QueueFairness(
        at_ms=world.context.now_ms,
        tick=world.tick,
        laws=partition.laws.name,
        queues=list(_shares(partition)),
        partition=partition.spec.name,
        others=[
            PartitionQueues(
                name=spec.name,
                queues=list(_shares(Partition(spec, partition.laws, NullListener()))),
            )
            for spec in partition.spec.others
        ],
    )


def _shares(partition: Partition) -> Iterator[QueueShare]:
    places: dict[str, int] = {}
    for queue in partition.root.walk():
        if not queue.leaf:
            order = children_in_order(queue, positional=partition.laws.positional)
            places |= {child.path: at for at, child in enumerate(order, start=1)}
        yield _share(queue, places.get(queue.path))


def _share(queue: Queue, order: int | None) -> QueueShare:
    share = share_of(queue)
    fractions = list(_fractions(queue))
    for fraction in fractions:
        fraction.winning = share > 0 and fraction.ratio == share
    return QueueShare(
        name=queue.path,
        parent=queue.parent.path if queue.parent is not None else "",
        leaf=queue.leaf,
        fractions=fractions,
        share=share,
        priority=queue.published,
        order=order,
        pending=_amounts(queue.pending),
        next=_next(queue),
        sort_policy=queue.properties.sort_policy if queue.leaf else "",
        sort_from=_sort_from(queue) if queue.leaf else "",
    )


def _sort_from(queue: Queue) -> str:
    """Return the path of the queue whose property orders the applications of a leaf."""
    for at in queue.route:
        if at.own_texts.get(SORT_POLICY):
            return at.path
    return ""


def _fractions(queue: Queue) -> Iterator[QueueFraction]:
    guaranteed, most = queue.guaranteed or {}, queue.fair_max or {}
    for name in sorted({*guaranteed, *queue.allocated}):
        of = "guaranteed" if name in guaranteed else "max"
        whole = guaranteed.get(name, most.get(name))
        if whole is None:
            continue
        held = queue.allocated.get(name, 0)
        empty = 1.0 if held else 0.0  # nothing is promised, and it is used
        yield QueueFraction(
            resource=name,
            allocated=str(held),
            whole=str(whole),
            of=of,
            ratio=held / whole if whole > 0 else empty,
            winning=False,
        )


def _next(queue: Queue) -> str:
    if not queue.leaf or queue.sort is None:
        return ""
    first: Application | None = next(iter(queue.sort.candidates(queue)), None)
    return "" if first is None else first.id


def _amounts(values: Mapping[str, int]) -> list[Amount]:
    return [
        Amount(resource=name, amount=str(amount))
        for name, amount in sorted(values.items())
        if amount
    ]
