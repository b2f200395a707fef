"""Who in a tree has less than its due and waits, who has more, and who leaves some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from scheduler.analysis.explain.workloads import waits
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.tree.tree import Cohort
from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.model.sentence import Quantity, Sentence
from scheduler.words.why import Asked

#: Queues of a sort that are named.
_MOST = 2


def of_cohort(stage: KueueStage, cohort: Cohort) -> Iterator[Sentence]:
    """Yield the ClusterQueues below that starve, that borrow, and that leave quota.

    Source: docs/semantics/kueue.md#quota-tree.
    """
    queues = sorted(cohort.subtree(), key=lambda one: one.name)
    waiting = Counter(
        queue.name
        for work in stage.cluster.workloads.values()
        if waits(work)
        for queue in (stage.cluster.cluster_queue_of(work),)
        if queue is not None
    )
    cells = [
        (queue, cell, *cell.flavor_resource)
        for queue in queues
        for _, cell in sorted(queue.resource_nodes.items())
    ]

    def starved() -> Iterator[Sentence]:
        for queue, cell, flavor, resource in cells:
            if waiting[queue.name] and cell.usage < cell.nominal:
                yield Asked.STARVES.said(
                    queue=queue.name,
                    flavor=flavor,
                    used=Quantity(resource, str(cell.usage)),
                    nominal=Quantity(resource, str(cell.nominal)),
                    n=waiting[queue.name],
                )

    def borrowing() -> Iterator[Sentence]:
        for queue, cell, flavor, resource in cells:
            if (over := cell.usage - cell.nominal) > 0:
                borrowed = Quantity(resource, str(over))
                yield Asked.BORROWS.said(
                    queue=queue.name, flavor=flavor, borrowed=borrowed
                )

    def idle() -> Iterator[Sentence]:
        for queue, cell, flavor, resource in cells:
            left = cell.nominal - cell.usage
            if left > 0 and not waiting[queue.name]:
                yield Asked.IDLE.said(
                    queue=queue.name,
                    flavor=flavor,
                    idle=Quantity(resource, str(left)),
                    nominal=Quantity(resource, str(cell.nominal)),
                )

    for found in (starved(), borrowing(), idle()):
        yield from islice(found, _MOST)


def of_parent(queue: Queue) -> Iterator[Sentence]:
    """Yield the queues of YuniKorn below one that starve, have more, and leave some."""
    below = [one for one in queue.walk() if one is not queue and one.guaranteed]
    rows = [
        (one, name, most, one.allocated.get(name, 0))
        for one in below
        for name, most in sorted((one.guaranteed or {}).items())
    ]

    def waiting(one: Queue) -> int:
        return sum(app.has_pending for leaf in one.walk() for app in leaf.apps.values())

    def given(one: Queue, name: str, most: int, used: int) -> dict[str, str | Quantity]:
        return {
            "queue": one.path,
            "used": Quantity(name, str(used)),
            "guaranteed": Quantity(name, str(most)),
        }

    starved = (
        Asked.UNDER.said(**given(*row), n=waiting(row[0]))
        for row in rows
        if row[3] < row[2] and waiting(row[0])
    )
    more = (
        Asked.OVER.said(**given(*row), over=Quantity(row[1], str(row[3] - row[2])))
        for row in rows
        if row[3] > row[2]
    )
    idle = (
        Asked.SPARE.said(
            queue=row[0].path,
            idle=Quantity(row[1], str(row[2] - row[3])),
            guaranteed=Quantity(row[1], str(row[2])),
        )
        for row in rows
        if row[3] < row[2] and not waiting(row[0])
    )
    for found in (starved, more, idle):
        yield from islice(found, _MOST)
