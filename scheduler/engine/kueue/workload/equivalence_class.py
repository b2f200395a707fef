"""Workloads that fail alike, in the order in which they would be tried."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from scheduler.engine.kueue.tree.protocols import Workload

Order = tuple[int, int, str, str]


class EquivalenceClass:
    """Workloads that the scheduler treats alike, best first."""

    __slots__ = ("heap", "inadmissible", "key", "namespace", "scheduling_hash", "size")

    def __init__(self, identity: str, namespace: str, key: str) -> None:
        self.scheduling_hash = identity
        self.key = key  # the namespace, or the LocalQueue where usage decides
        self.namespace = namespace
        self.heap: list[tuple[Order, int, Workload]] = []
        self.size = 0
        self.inadmissible = False

    def first(self) -> Workload | None:
        """Return the best member; drops those that have left."""
        heap = self.heap
        while heap:
            _, ticket, work = heap[0]
            if work.equivalence_class is self and work.heap_entry == ticket:
                return work
            heapq.heappop(heap)
        return None

    def workloads(self) -> Iterator[Workload]:
        """Yield the members, unordered."""
        for _, ticket, work in self.heap:
            if work.equivalence_class is self and work.heap_entry == ticket:
                yield work
