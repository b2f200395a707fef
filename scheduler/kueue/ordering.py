"""Which ClusterQueue gives a victim next under fair sharing.

Source: KUEUE.md 9.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler.kueue.candidates import Rank
from scheduler.kueue.shares import Share, measure
from scheduler.kueue.tree import Cohort, Node, Queue

_BELOW_ALL = Share(-1.0)


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

    Pruned nodes never come back: usage only falls while victims are removed.
    """

    def __init__(self, queue: Queue, piles: Mapping[Queue, Pile]) -> None:
        self.queue = queue
        self.piles = piles
        self.ancestors = frozenset(queue.path)
        self.pruned: set[Node] = set()
        self.known: dict[Node, tuple[Share, bool]] = {}
        self.live: dict[Cohort, list[Queue]] = {}

    def next(self) -> Queue | None:
        """Return the queue to take a victim from, None when nobody is left."""
        if not isinstance(self.queue.root, Cohort):
            return self.queue if self._has(self.queue) else None
        root = self.queue.root
        while root not in self.pruned:
            found = self._descend(root)
            if found is not None:
                return found
        return None

    def changed(self, queue: Queue) -> None:
        """Note that a workload of this queue was removed."""
        self.known.pop(queue, None)
        for cohort in queue.path:
            self.known.pop(cohort, None)

    def drop(self, queue: Queue) -> None:
        """Leave the queue out from now on."""
        self.changed(queue)
        self.pruned.add(queue)

    def _has(self, queue: Queue) -> bool:
        pile = self.piles.get(queue)
        return pile is not None and pile.first is not None and queue not in self.pruned

    def _measure(self, node: Node) -> tuple[Share, bool]:
        known = self.known.get(node)
        if known is None:
            known = self.known[node] = measure(node)
        return known

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
        best, best_share = None, _BELOW_ALL
        for queue in self._live(cohort):
            value, borrowing = self._measure(queue)
            if not self._has(queue) or not (borrowing or queue is self.queue):
                self.pruned.add(queue)
            elif value > best_share or (
                value == best_share and best is not None and self._before(queue, best)
            ):
                best, best_share = queue, value
        return best, best_share

    def _live(self, cohort: Cohort) -> list[Queue]:
        live = self.live.get(cohort)
        if live is None:
            live = [queue for queue in cohort.queues if queue in self.piles]
        live = self.live[cohort] = [q for q in live if q not in self.pruned]
        return live

    def _before(self, left: Queue, right: Queue) -> bool:
        """Tell whose first candidate comes first. Source: KUEUE.md 8.3."""
        return self._order(left) < self._order(right)

    def _order(self, queue: Queue) -> tuple[bool, bool, Rank]:
        first = self.piles[queue].first
        assert first is not None
        return first[0], queue is self.queue, first[1]

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
