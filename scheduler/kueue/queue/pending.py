"""The line of workloads that wait for one ClusterQueue.

Equivalent workloads of one namespace stand in one group with its own heap, so
that parking all who would fail alike, and bringing them back, is one flag.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.kueue.workload.info import Work

Order = tuple[int, int, str, str]
Matches = Callable[[str], bool]  # namespace -> may it use the ClusterQueue


class Group:
    """Workloads that the scheduler cannot tell apart, best first."""

    __slots__ = ("heap", "identity", "namespace", "parked", "size")

    def __init__(self, identity: str, namespace: str) -> None:
        self.identity = identity
        self.namespace = namespace
        self.heap: list[tuple[Order, int, Work]] = []
        self.size = 0
        self.parked = False

    def first(self) -> Work | None:
        """Return the best member; drops those that have left."""
        heap = self.heap
        while heap:
            _, ticket, work = heap[0]
            if work.group is self and work.ticket == ticket:
                return work
            heapq.heappop(heap)
        return None

    def works(self) -> Iterator[Work]:
        """Yield the members, unordered."""
        for _, ticket, work in self.heap:
            if work.group is self and work.ticket == ticket:
                yield work


class Line:
    """Who waits for a ClusterQueue: in the heap, parked, or in flight.

    `queued` and `waiting` count the first two; a head that was popped counts as
    neither until it is put back. Source: KUEUE.md 5.2.
    """

    __slots__ = (
        "alone",
        "families",
        "flight",
        "hashing",
        "queued",
        "remembered",
        "serial",
        "sticky",
        "tops",
        "waiting",
    )

    def __init__(self, *, hashing: bool) -> None:
        self.hashing = hashing  # equivalent workloads are parked together
        self.serial = 0
        self.families: dict[str, dict[str, Group]] = {}  # identity -> namespace ->
        self.alone: dict[Work, None] = {}  # parked one by one
        self.tops: list[tuple[Order, int, Group]] = []
        self.remembered: dict[str, str] = {}  # identity -> reason it failed for
        self.sticky: Work | None = None
        self.flight: Work | None = None
        self.queued = 0
        self.waiting = 0

    def push(self, work: Work) -> None:
        """Put a workload into the heap, or into parking if its like just failed."""
        identity = work.identity if self.hashing else ""
        group = self._group(identity, work.namespace)
        first = group.first()
        self.serial += 1
        work.line, work.group, work.ticket = self, group, self.serial
        heapq.heappush(group.heap, (work.order, self.serial, work))
        group.size += 1
        if group.parked:
            self.waiting += 1
            return
        self.queued += 1
        if first is None or work.order < first.order:
            self._offer(group)

    def _group(self, identity: str, namespace: str) -> Group:
        family = self.families.setdefault(identity, {})
        group = family.get(namespace)
        if group is None:
            group = family[namespace] = Group(identity, namespace)
            group.parked = identity in self.remembered
        return group

    def _offer(self, group: Group) -> None:
        first = group.first()
        if first is not None:
            self.serial += 1
            heapq.heappush(self.tops, (first.order, self.serial, group))

    def park(self, work: Work) -> None:
        """Set a workload aside until a re-activation brings it back."""
        work.line, work.group = self, None
        self.alone[work] = None
        self.waiting += 1

    def park_family(self, identity: str, reason: str) -> None:
        """Park everyone who is equivalent, and those to come.

        Source: KUEUE.md 5.7.
        """
        self.remembered[identity] = reason
        for group in self.families.get(identity, {}).values():
            if not group.parked:
                group.parked = True
                self.queued -= group.size
                self.waiting += group.size

    def forget(self, work: Work) -> None:
        """Take a workload out, wherever it waits."""
        if self.flight is work:
            self.flight = None
        elif work in self.alone:
            del self.alone[work]
            self.waiting -= 1
        elif work.group is not None:
            self._leave(work, work.group)
        if self.sticky is work:
            self.sticky = None
        work.line = work.group = None

    def _leave(self, work: Work, group: Group) -> None:
        group.size -= 1
        if group.parked:
            self.waiting -= 1
        else:
            self.queued -= 1
        was_first = group.first() is work
        work.group = None
        if not group.size:
            self._close(group)
        elif was_first and not group.parked:
            self._offer(group)

    def _close(self, group: Group) -> None:
        family = self.families[group.identity]
        del family[group.namespace]
        if not family:
            del self.families[group.identity]
        group.heap.clear()

    def pop(self) -> Work | None:
        """Take the head out, to be tried; None when the heap is empty.

        The sticky preemptor goes first. Source: KUEUE.md 5.2, 5.4.
        """
        work = self._head()
        if work is not None:
            self._launch(work)
        return work

    def take(self, work: Work) -> bool:
        """Take this one out, to be tried; False when it is parked."""
        if self.parked(work):
            return False
        self._launch(work)
        return True

    def _launch(self, work: Work) -> None:
        sticky = self.sticky
        self.forget(work)
        self.sticky = sticky
        work.line = self
        self.flight = work

    def head(self) -> Work | None:
        """Return who would be tried next."""
        return self._head()

    def _head(self) -> Work | None:
        sticky = self.sticky
        if sticky is not None and sticky.group is not None and not sticky.group.parked:
            return sticky
        while self.tops:
            order, _, group = self.tops[0]
            if not group.parked:
                first = group.first()
                if first is not None and first.order == order:
                    return first
            heapq.heappop(self.tops)
        return None

    def land(self, work: Work) -> None:
        """End the flight of a head without putting it anywhere."""
        if self.flight is work:
            self.flight = None
        work.line = None

    def revive(self, matches: Matches, ready: Callable[[Work], bool]) -> bool:
        """Bring the parked back whose namespace matches and whose backoff is over.

        Returns whether anything moved. Cost: groups and workloads parked one by
        one, not members of groups. Source: KUEUE.md 5.8.
        """
        self.remembered.clear()
        if not self.waiting:
            return False
        before = self.queued
        for family in list(self.families.values()):
            for group in list(family.values()):
                if group.parked:
                    self._revive_group(group, matches)
        back = [w for w in self.alone if matches(w.namespace) and ready(w)]
        for work in back:
            del self.alone[work]
            self.waiting -= 1
        return self._return(back) or self.queued != before

    def _return(self, works: list[Work]) -> bool:
        for work in works:
            self.push(work)
        return bool(works)

    def _revive_group(self, group: Group, matches: Matches) -> None:
        if not matches(group.namespace):
            for work in list(group.works()):
                self._leave(work, group)
                self.park(work)
            return
        group.parked = False
        self.waiting -= group.size
        self.queued += group.size
        self._offer(group)

    def parked(self, work: Work) -> bool:
        """Tell whether a workload of this line is parked."""
        return work in self.alone or (work.group is not None and work.group.parked)

    def works(self) -> Iterator[Work]:
        """Yield everyone who waits, unordered; not the one in flight."""
        for family in self.families.values():
            for group in family.values():
                yield from group.works()
        yield from self.alone
