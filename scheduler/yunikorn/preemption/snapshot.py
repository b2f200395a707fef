"""A copy of the queue tree in which victims can be tried and put back."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.yunikorn import resources
from scheduler.yunikorn.objects.application import Ask
from scheduler.yunikorn.objects.queue import Queue
from scheduler.yunikorn.resources import Amounts


class Cell:
    """One queue in the snapshot; `used` leaves out what is told to go."""

    __slots__ = (
        "asks_below",
        "guaranteed",
        "is_home",
        "parent",
        "path",
        "saved",
        "used",
    )

    def __init__(self, queue: Queue, parent: Cell | None) -> None:
        self.path = queue.path
        self.parent = parent
        self.guaranteed = queue.guaranteed
        self.used: Amounts = resources.minus(queue.allocated, queue.preempting)
        self.saved: Amounts | None = None
        self.is_home = False  # the queue of the ask
        self.asks_below = False  # an ancestor of a home that has a guarantee


class Snapshot:
    """The tree as one preemption attempt sees it; `restore` undoes everything."""

    __slots__ = ("_touched", "cells", "home")

    def __init__(self, queues: Iterable[Queue], home: Queue) -> None:
        """Take these queues, parents before children, home and its path among them."""
        self.cells: dict[str, Cell] = {}
        self._touched: list[Cell] = []
        for queue in queues:
            above = self.cells[queue.parent.path] if queue.parent else None
            self.cells[queue.path] = Cell(queue, above)
        self.home = self.cells[home.path]
        self.home.is_home = True
        for queue in home.route[1:]:
            self.cells[queue.path].asks_below = home.guaranteed is not None

    def remove(self, cell: Cell, resource: Amounts) -> None:
        """Take something out of a queue and all above it."""
        at: Cell | None = cell
        while at is not None:
            resources.take_from(self._own(at), resource)
            at = at.parent

    def add(self, cell: Cell, resource: Amounts) -> None:
        """Put something into a queue and all above it."""
        at: Cell | None = cell
        while at is not None:
            resources.add_to(self._own(at), resource)
            at = at.parent

    def _own(self, cell: Cell) -> Amounts:
        if cell.saved is None:
            cell.saved = cell.used
            cell.used = dict(cell.used)
            self._touched.append(cell)
        return cell.used

    def restore(self) -> None:
        """Undo every change since the last restore."""
        for cell in self._touched:
            if cell.saved is not None:
                cell.used = cell.saved
                cell.saved = None
        self._touched.clear()

    def eligible(self, cell: Cell, ask: Ask) -> bool:
        """Tell whether a queue is over its guarantee on a type that is asked.

        Source: YUNIKORN.md 10.4, eligible.
        """
        left = remaining(cell)
        if left is None:
            return True
        resource = ask.resource
        return any(value < 0 and name in resource for name, value in left.items())


def remaining(cell: Cell) -> Amounts | None:
    """Return what is left of a queue's guarantee, top down; None when unset.

    Common ancestors do not hold back siblings of a home that has its own
    guarantee. Source: YUNIKORN.md 10.4, remaining.
    """
    above = remaining(cell.parent) if cell.parent is not None else None
    guaranteed = cell.guaranteed
    if guaranteed is None:
        return above
    used = cell.used
    own = {name: value - used.get(name, 0) for name, value in guaranteed.items()}
    if cell.is_home:
        return {**above, **own} if above else own
    if cell.asks_below:
        return None
    return resources.least(own, above) if above else own
