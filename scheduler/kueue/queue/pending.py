"""The line of workloads that wait for one ClusterQueue.

Equivalent workloads of one namespace stand in one group with its own heap, so
that parking all who would fail alike, and bringing them back, is one flag.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from scheduler.kueue.tree.protocols import Matches
from scheduler.kueue.workload.equivalence_class import EquivalenceClass, Order
from scheduler.kueue.workload.info import WorkloadInfo


class PendingQueue:
    """Who waits for a ClusterQueue: in the heap, parked, or in flight.

    `queued` and `waiting` count the first two; a head that was popped counts as
    neither until it is put back.
    Source: docs/semantics/kueue.md#order-of-pending-workloads.
    """

    __slots__ = (
        "class_heads",
        "classes",
        "equivalence_hashing",
        "failed_hashes",
        "inadmissible_workloads",
        "inflight",
        "pending_active",
        "pending_inadmissible",
        "preemptor",
        "pushes",
    )

    def __init__(self, *, equivalence_hashing: bool) -> None:
        self.equivalence_hashing = (
            equivalence_hashing  # a failed head takes its like with it
        )
        self.pushes = 0
        self.classes: dict[
            str, dict[str, EquivalenceClass]
        ] = {}  # identity -> namespace ->
        self.inadmissible_workloads: dict[WorkloadInfo, None] = {}  # parked one by one
        self.class_heads: list[tuple[Order, int, EquivalenceClass]] = []
        self.failed_hashes: dict[str, str] = {}  # identity -> reason it failed for
        self.preemptor: WorkloadInfo | None = None
        self.inflight: WorkloadInfo | None = None
        self.pending_active = 0
        self.pending_inadmissible = 0

    def push(self, work: WorkloadInfo) -> None:
        """Put a workload into the heap, or into parking if its like just failed."""
        identity = work.scheduling_hash if self.equivalence_hashing else ""
        group = self._class_of(identity, work.namespace)
        first = group.first()
        self.pushes += 1
        work.pending_queue, work.equivalence_class, work.heap_entry = (
            self,
            group,
            self.pushes,
        )
        heapq.heappush(group.heap, (work.queue_order, self.pushes, work))
        group.size += 1
        if group.inadmissible:
            self.pending_inadmissible += 1
            return
        self.pending_active += 1
        if first is None or work.queue_order < first.queue_order:
            self._enter(group)

    def _class_of(self, identity: str, namespace: str) -> EquivalenceClass:
        family = self.classes.setdefault(identity, {})
        group = family.get(namespace)
        if group is None:
            group = family[namespace] = EquivalenceClass(identity, namespace)
            group.inadmissible = identity in self.failed_hashes
        return group

    def _enter(self, group: EquivalenceClass) -> None:
        first = group.first()
        if first is not None:
            self.pushes += 1
            heapq.heappush(self.class_heads, (first.queue_order, self.pushes, group))

    def add_inadmissible(self, work: WorkloadInfo) -> None:
        """Set a workload aside until a re-activation brings it back."""
        work.pending_queue, work.equivalence_class = self, None
        self.inadmissible_workloads[work] = None
        self.pending_inadmissible += 1

    def mark_class_inadmissible(self, identity: str, reason: str) -> None:
        """Park everyone who is equivalent, and those to come.

        Source: docs/semantics/kueue.md#equivalence-classes.
        """
        self.failed_hashes[identity] = reason
        for group in self.classes.get(identity, {}).values():
            if not group.inadmissible:
                group.inadmissible = True
                self.pending_active -= group.size
                self.pending_inadmissible += group.size

    def remove(self, work: WorkloadInfo) -> None:
        """Take a workload out, wherever it waits."""
        if self.inflight is work:
            self.inflight = None
        elif work in self.inadmissible_workloads:
            del self.inadmissible_workloads[work]
            self.pending_inadmissible -= 1
        elif work.equivalence_class is not None:
            self._remove_from_class(work, work.equivalence_class)
        if self.preemptor is work:
            self.preemptor = None
        work.pending_queue = work.equivalence_class = None

    def _remove_from_class(self, work: WorkloadInfo, group: EquivalenceClass) -> None:
        group.size -= 1
        if group.inadmissible:
            self.pending_inadmissible -= 1
        else:
            self.pending_active -= 1
        was_first = group.first() is work
        work.equivalence_class = None
        if not group.size:
            self._drop_class(group)
        elif was_first and not group.inadmissible:
            self._enter(group)

    def _drop_class(self, group: EquivalenceClass) -> None:
        family = self.classes[group.scheduling_hash]
        del family[group.namespace]
        if not family:
            del self.classes[group.scheduling_hash]
        group.heap.clear()

    def pop(self) -> WorkloadInfo | None:
        """Take the head out, to be tried; None when the heap is empty.

        The sticky preemptor goes first.
        Source: docs/semantics/kueue.md#order-of-pending-workloads.
        """
        work = self._head()
        if work is not None:
            self._set_inflight(work)
        return work

    def pop_workload(self, work: WorkloadInfo) -> bool:
        """Take this one out, to be tried; False when it is parked."""
        if self.is_inadmissible(work):
            return False
        self._set_inflight(work)
        return True

    def _set_inflight(self, work: WorkloadInfo) -> None:
        sticky = self.preemptor
        self.remove(work)
        self.preemptor = sticky
        work.pending_queue = self
        self.inflight = work

    def head(self) -> WorkloadInfo | None:
        """Return who would be tried next."""
        return self._head()

    def _head(self) -> WorkloadInfo | None:
        sticky = self.preemptor
        if (
            sticky is not None
            and sticky.equivalence_class is not None
            and not sticky.equivalence_class.inadmissible
        ):
            return sticky
        while self.class_heads:
            order, _, group = self.class_heads[0]
            if not group.inadmissible:
                first: WorkloadInfo | None = group.first()
                if first is not None and first.queue_order == order:
                    return first
            heapq.heappop(self.class_heads)
        return None

    def clear_inflight(self, work: WorkloadInfo) -> None:
        """End the flight of a head without putting it anywhere."""
        if self.inflight is work:
            self.inflight = None
        work.pending_queue = None

    def requeue_inadmissible(
        self, matches: Matches, ready: Callable[[WorkloadInfo], bool]
    ) -> bool:
        """Bring the parked back whose namespace matches and whose backoff is over.

        Returns whether anything moved. Cost: groups and workloads parked one by
        one, not members of groups.
        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        self.failed_hashes.clear()
        if not self.pending_inadmissible:
            return False
        before = self.pending_active
        for family in list(self.classes.values()):
            for group in list(family.values()):
                if group.inadmissible:
                    self._requeue_class(group, matches)
        back = [
            w for w in self.inadmissible_workloads if matches(w.namespace) and ready(w)
        ]
        for work in back:
            del self.inadmissible_workloads[work]
            self.pending_inadmissible -= 1
        return self._push_all(back) or self.pending_active != before

    def _push_all(self, works: list[WorkloadInfo]) -> bool:
        for work in works:
            self.push(work)
        return bool(works)

    def _requeue_class(self, group: EquivalenceClass, matches: Matches) -> None:
        if not matches(group.namespace):
            for work in list(group.workloads()):
                self._remove_from_class(work, group)
                self.add_inadmissible(work)
            return
        group.inadmissible = False
        self.pending_inadmissible -= group.size
        self.pending_active += group.size
        self._enter(group)

    def is_inadmissible(self, work: WorkloadInfo) -> bool:
        """Tell whether a workload of this line is parked."""
        return work in self.inadmissible_workloads or (
            work.equivalence_class is not None and work.equivalence_class.inadmissible
        )

    def workloads(self) -> Iterator[WorkloadInfo]:
        """Yield everyone who waits, unordered; not the one in flight."""
        for family in self.classes.values():
            for group in family.values():
                yield from group.workloads()
        yield from self.inadmissible_workloads
