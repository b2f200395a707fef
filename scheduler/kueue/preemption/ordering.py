"""Which ClusterQueue gives a victim next under fair sharing.

Source: KUEUE.md 9.4.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from scheduler.kueue.cache.candidates import Rank
from scheduler.kueue.tree.shares import Share, measure
from scheduler.kueue.tree.tree import (
    Cohort,
    Node,
    Queue,
)

_BELOW_ALL = Share(-1.0)
#: Share (negated), first candidate, and the stamp that says whether it still holds.
Standing = tuple[float, float, tuple[bool, bool, Rank], int, Queue]


class Pile:
    """The candidates of one queue that are left, best victim first; read lazily."""

    __slots__ = ("_rest", "first")

    def __init__(self, ranks: Iterator[tuple[bool, Rank]]) -> None:
        self._rest = ranks
        self.first = next(ranks, None)

    def pop(self) -> Rank:
        """Take the best one."""
        assert self.first is not None
        rank = self.first[1]
        self.first = next(self._rest, None)
        return rank

    def drain(self) -> Iterator[Rank]:
        """Take all."""
        while self.first is not None:
            yield self.pop()


class Tournament:
    """Descends from the root to the queue that holds the largest share.

    A heap per cohort holds its queues; only the one that changed is measured
    again. What was pruned never comes back: usage only falls while victims are
    removed.
    """

    def __init__(self, queue: Queue, piles: Mapping[Queue, Pile]) -> None:
        self.queue = queue
        self.piles = piles
        self.ancestors = frozenset(queue.path)
        self.pruned: set[Node] = set()
        self.heaps: dict[Cohort, list[Standing]] = {}
        self.stamps = dict.fromkeys(piles, 0)
        self.known: dict[Cohort, tuple[Share, bool]] = {}
        for member in piles:
            self._enter(member)

    def next(self) -> Queue | None:
        """Return the queue to take a victim from, None when nobody is left."""
        root = self.queue.root
        if not isinstance(root, Cohort):
            return self.queue if self._has(self.queue) else None
        while root not in self.pruned:
            found = self._descend(root)
            if found is not None:
                return found
        return None

    def changed(self, queue: Queue) -> None:
        """Note that the queue has fewer candidates, or less usage, than before."""
        self.stamps[queue] += 1
        self._enter(queue)
        for cohort in queue.path:
            self.known.pop(cohort, None)

    def drop(self, queue: Queue) -> None:
        """Leave the queue out from now on."""
        self.pruned.add(queue)
        self.changed(queue)

    def _has(self, queue: Queue) -> bool:
        return queue in self.piles and self.piles[queue].first is not None

    def _enter(self, queue: Queue) -> None:
        """Let the queue stand in its cohort, unless it has nothing to give."""
        first, cohort = self.piles[queue].first, queue.parent
        if first is None or cohort is None or queue in self.pruned:
            return
        value, borrowing = measure(queue)
        own = queue is self.queue
        if not (borrowing or own):
            self.pruned.add(queue)
            return
        order = (first[0], own, first[1])
        standing = (-value.value, -value.ratio, order, self.stamps[queue], queue)
        heapq.heappush(self.heaps.setdefault(cohort, []), standing)

    def _descend(self, cohort: Cohort) -> Queue | None:
        """Return the queue found below, or None after something was pruned."""
        queue, queue_share = self._best_queue(cohort)
        child, child_share = self._best_cohort(cohort)
        if queue is None and child is None:
            self.pruned.add(cohort)
            return None
        if child is not None and (queue is None or child_share >= queue_share):
            return self._descend(child)
        return queue

    def _best_queue(self, cohort: Cohort) -> tuple[Queue | None, Share]:
        """Return the queue with the largest share; ties go by first candidate."""
        heap = self.heaps.get(cohort, [])
        while heap:
            value, ratio, _, stamp, queue = heap[0]
            if stamp == self.stamps[queue] and queue not in self.pruned:
                return queue, Share(-value, -ratio)
            heapq.heappop(heap)
        return None, _BELOW_ALL

    def _best_cohort(self, cohort: Cohort) -> tuple[Cohort | None, Share]:
        best, best_share = None, _BELOW_ALL
        for child in cohort.cohorts:
            if child in self.pruned:
                continue
            value, borrowing = self._measure(child)
            if not borrowing and child not in self.ancestors:
                self.pruned.add(child)
            elif value >= best_share:
                best, best_share = child, value
        return best, best_share

    def _measure(self, cohort: Cohort) -> tuple[Share, bool]:
        known = self.known.get(cohort)
        if known is None:
            known = self.known[cohort] = measure(cohort)
        return known
