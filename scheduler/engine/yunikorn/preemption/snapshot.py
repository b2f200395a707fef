"""A copy of the queue tree in which victims can be tried and put back."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.engine.yunikorn.objects.model import Ask, Queue
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts


class QueueSnapshot:
    """One queue in the snapshot; `used` leaves out what is being preempted."""

    __slots__ = (
        "above_ask_queue",
        "guaranteed",
        "is_ask_queue",
        "parent",
        "path",
        "saved",
        "used",
    )

    def __init__(self, queue: Queue, parent: QueueSnapshot | None) -> None:
        self.path = queue.path
        self.parent = parent
        self.guaranteed = queue.guaranteed
        self.used: Amounts = resources.minus(queue.allocated, queue.preempting)
        self.saved: Amounts | None = None
        self.is_ask_queue = False  # the queue of the ask
        self.above_ask_queue = False  # an ancestor of a ask_queue that has a guarantee


class Snapshot:
    """The tree as one preemption attempt sees it; `restore` undoes everything."""

    __slots__ = ("_touched", "ask_queue", "asked_types", "queues")

    def __init__(
        self, queues: Iterable[Queue], ask_queue: Queue, *, asked_types: bool = True
    ) -> None:
        """Take these queues, parents before children, ask_queue and its path among them.

        `asked_types`: guarantees are compared on the types of the ask or victim.
        """
        self.asked_types = asked_types
        self.queues: dict[str, QueueSnapshot] = {}
        self._touched: list[QueueSnapshot] = []
        for queue in queues:
            above = self.queues[queue.parent.path] if queue.parent else None
            self.queues[queue.path] = QueueSnapshot(queue, above)
        self.ask_queue = self.queues[ask_queue.path]
        self.ask_queue.is_ask_queue = True
        for queue in ask_queue.route[1:]:
            self.queues[queue.path].above_ask_queue = ask_queue.guaranteed is not None

    def remove(self, queue: QueueSnapshot, resource: Amounts) -> None:
        """Take something out of a queue and all above it."""
        at: QueueSnapshot | None = queue
        while at is not None:
            resources.take_from(self._own(at), resource)
            at = at.parent

    def add(self, queue: QueueSnapshot, resource: Amounts) -> None:
        """Put something into a queue and all above it."""
        at: QueueSnapshot | None = queue
        while at is not None:
            resources.add_to(self._own(at), resource)
            at = at.parent

    def _own(self, queue: QueueSnapshot) -> Amounts:
        if queue.saved is None:
            queue.saved = queue.used
            queue.used = dict(queue.used)
            self._touched.append(queue)
        return queue.used

    def restore(self) -> None:
        """Undo every change since the last restore."""
        for queue in self._touched:
            if queue.saved is not None:
                queue.used = queue.saved
                queue.saved = None
        self._touched.clear()

    def eligible(self, queue: QueueSnapshot, ask: Ask) -> bool:
        """Return whether a queue is over its guarantee on a type that is asked.

        Before types were looked at: on one type at least, and below it on none.
        Source: docs/semantics/yunikorn.md#remaining-guarantee
        """
        left = remaining(queue)
        if left is None:
            return True
        if not self.asked_types:
            return _over(left)
        resource = ask.resource
        return any(value < 0 and name in resource for name, value in left.items())

    def has_room_for(self, victim: Amounts) -> bool:
        """Return whether what a victim holds may be charged to the ask's queue.

        It fits what is left of the guarantee; before types were looked at, it must not
        use all of it up with something over.
        """
        left = remaining(self.ask_queue)
        if self.asked_types:
            return left is not None and resources.fits_existing(left, victim)
        self.add(self.ask_queue, victim)
        after = remaining(self.ask_queue)
        self.remove(self.ask_queue, victim)
        return after is None or not _over(after)

    def within_guarantee(self, ask: Ask) -> bool:
        """Return whether the ask's queue is within its guarantee, which there is."""
        left = remaining(self.ask_queue)
        if left is None:
            return False
        names = ask.resource if self.asked_types else left
        return all(left.get(name, 0) >= 0 for name in names)


def _over(left: Amounts) -> bool:
    """Return whether nothing is left on any type, and less than nothing on one."""
    return resources.strictly_greater({}, left)


def remaining(queue: QueueSnapshot) -> Amounts | None:
    """Return the unused guarantee of a queue, top down; None when unset.

    Common ancestors do not hold back siblings of a ask_queue that has its own
    guarantee. Source: docs/semantics/yunikorn.md#remaining-guarantee
    """
    above = remaining(queue.parent) if queue.parent is not None else None
    guaranteed = queue.guaranteed
    if guaranteed is None:
        return above
    used = queue.used
    own = {name: value - used.get(name, 0) for name, value in guaranteed.items()}
    if queue.is_ask_queue:
        return {**above, **own} if above else own
    if queue.above_ask_queue:
        return None
    return resources.least(own, above) if above else own
