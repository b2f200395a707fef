"""The workloads that wait for one ClusterQueue.

Equivalent workloads of one namespace stand in one members with its own heap, so
that setting all aside who would fail alike, and requeueing them, is one flag.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from scheduler.engine.kueue.tree.tree import Matches
from scheduler.engine.kueue.workload.info import (
    EquivalenceClass,
    LocalQueue,
    Order,
    WorkloadInfo,
)

UsageOf = Callable[[LocalQueue], float]


class PendingQueue:
    """Who waits for a ClusterQueue: in the heap, inadmissible, or inflight.

    `pending_active` and `pending_inadmissible` count the first two; a head that was popped counts as
    neither until it is put back.
    Source: docs/semantics/kueue.md#order-of-pending-workloads.
    """

    __slots__ = (
        "backing_off",
        "class_heads",
        "classes",
        "equivalence_hashing",
        "failed_hashes",
        "heard_us",
        "inadmissible_workloads",
        "inflight",
        "moves",
        "pending_active",
        "pending_inadmissible",
        "preemptor",
        "pushes",
        "shown",
        "told",
        "unseen",
        "usage_of",
    )

    def __init__(
        self, *, equivalence_hashing: bool, usage_of: UsageOf | None = None
    ) -> None:
        # The usage of a LocalQueue, where that comes before all else.
        self.usage_of = usage_of
        # Whether a failed head takes its equivalents with it.
        self.equivalence_hashing = equivalence_hashing
        self.pushes = 0
        # Scheduling hash -> namespace -> class.
        self.classes: dict[str, dict[str, EquivalenceClass]] = {}
        self.inadmissible_workloads: dict[WorkloadInfo, None] = {}  # one by one
        # In the heap although their backoff runs: once set aside, it holds them.
        self.backing_off: dict[WorkloadInfo, None] = {}
        # Set aside, and not counted: their queue has not heard of them again.
        self.unseen: dict[WorkloadInfo, None] = {}
        # How many its status still says, and its metrics by how they wait, since
        # some left with their LocalQueue and nothing told the ClusterQueue.
        self.shown: int | None = None
        self.told: tuple[int, int] | None = None
        # When (us) a workload of it was last deleted: it counts anew a second later.
        self.heard_us: int | None = None
        self.class_heads: list[tuple[Order, int, EquivalenceClass]] = []
        self.failed_hashes: dict[str, str] = {}  # hash -> reason
        self.preemptor: WorkloadInfo | None = None
        self.inflight: WorkloadInfo | None = None
        self.pending_active = 0
        self.pending_inadmissible = 0
        self.moves = Moves()

    def push(self, work: WorkloadInfo, *, added: bool = False) -> None:
        """Put a workload into the heap, or aside if its equivalents just failed.

        One that is `added` with its queue is tried all the same, where none of those
        waits here.
        """
        scheduling_hash = work.scheduling_hash if self.equivalence_hashing else ""
        members = self._class_of(scheduling_hash, work)
        if added and not members.size:
            members.inadmissible = False
        first = members.first()
        self.pushes += 1
        work.pending_queue, work.equivalence_class, work.heap_entry = (
            self,
            members,
            self.pushes,
        )
        heapq.heappush(members.heap, (work.queue_order, self.pushes, work))
        members.size += 1
        self.moves.note(work)
        if members.inadmissible:
            self.pending_inadmissible += 1
            return
        self.pending_active += 1
        if first is None or work.queue_order < first.queue_order:
            self._enter(members)

    def push_backing_off(self, work: WorkloadInfo) -> None:
        """Put a workload into the heap whose backoff runs.

        Set aside with its class, it stays there until its backoff is over.
        Source: docs/semantics/kueue.md#held-localqueues.
        """
        self.push(work, added=True)
        self.backing_off[work] = None
        self._hold_back()

    def is_early(self, work: WorkloadInfo) -> bool:
        """Return whether a workload is in the heap that would be set aside alone."""
        failed = work.scheduling_hash in self.failed_hashes and self.equivalence_hashing
        return work in self.backing_off or (failed and not self.is_inadmissible(work))

    def _hold_back(self) -> None:
        """Set those whose backoff runs aside one by one, if their class is."""
        for work in list(self.backing_off):
            members = work.equivalence_class
            if members is not None and members.inadmissible:
                self.remove(work)
                self.add_inadmissible(work)

    def _class_of(self, scheduling_hash: str, work: WorkloadInfo) -> EquivalenceClass:
        classes = self.classes.setdefault(scheduling_hash, {})
        key = work.namespace
        if self.usage_of is not None:
            key = f"{key}/{work.local_queue_name}"
        members = classes.get(key)
        if members is None:
            members = EquivalenceClass(scheduling_hash, work.namespace, key)
            classes[key] = members
            members.inadmissible = scheduling_hash in self.failed_hashes
        return members

    def _enter(self, members: EquivalenceClass) -> None:
        first = members.first()
        if first is not None:
            self.pushes += 1
            heapq.heappush(self.class_heads, (first.queue_order, self.pushes, members))

    def add_inadmissible(self, work: WorkloadInfo) -> None:
        """Set a workload aside until a re-activation brings it back."""
        work.pending_queue, work.equivalence_class = self, None
        self.inadmissible_workloads[work] = None
        if work.unseen:
            self.unseen[work] = None
        self.moves.note(work)
        self.pending_inadmissible += 1

    def mark_class_inadmissible(self, scheduling_hash: str, reason: str) -> None:
        """Set all aside that are equivalent, and those to come.

        Source: docs/semantics/kueue.md#equivalence-classes.
        """
        self.failed_hashes[scheduling_hash] = reason
        for members in self.classes.get(scheduling_hash, {}).values():
            if not members.inadmissible:
                self.moves.note_class(members)
                members.inadmissible = True
                self.pending_active -= members.size
                self.pending_inadmissible += members.size
        self._hold_back()

    def remove(self, work: WorkloadInfo) -> None:
        """Take a workload out, wherever it waits."""
        self.backing_off.pop(work, None)
        self.unseen.pop(work, None)
        self.moves.forget(work)
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

    def _remove_from_class(self, work: WorkloadInfo, members: EquivalenceClass) -> None:
        members.size -= 1
        if members.inadmissible:
            self.pending_inadmissible -= 1
        else:
            self.pending_active -= 1
        was_first = members.first() is work
        work.equivalence_class = None
        if not members.size:
            classes = self.classes[members.scheduling_hash]
            del classes[members.key]
            self.moves.forget_class(members)
            if not classes:
                del self.classes[members.scheduling_hash]
            members.heap.clear()
        elif was_first and not members.inadmissible:
            self._enter(members)

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
        """Take this one out, to be tried; False when it is inadmissible."""
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
        """Return the Workload that would be tried next."""
        return self._head()

    def _head(self) -> WorkloadInfo | None:
        if self.usage_of is not None:
            return self._head_by_usage(self.usage_of)
        sticky = self.preemptor
        if (
            sticky is not None
            and sticky.equivalence_class is not None
            and not sticky.equivalence_class.inadmissible
        ):
            return sticky
        while self.class_heads:
            order, _, members = self.class_heads[0]
            if not members.inadmissible:
                first: WorkloadInfo | None = members.first()
                if first is not None and first.queue_order == order:
                    return first
            heapq.heappop(self.class_heads)
        return None

    def _head_by_usage(self, usage_of: UsageOf) -> WorkloadInfo | None:
        """Return the first of the LocalQueue with the lowest usage.

        Cost: classes. Source:
        docs/semantics/kueue-admission-fair-sharing.md#order-of-pending-workloads.
        """
        best: tuple[float, bool, Order] | None = None
        head: WorkloadInfo | None = None
        sticky = self.preemptor
        for classes in self.classes.values():
            for members in classes.values():
                if members.inadmissible:
                    continue
                ours = sticky is not None and sticky.equivalence_class is members
                first = sticky if ours else members.first()
                if first is None:
                    continue
                key = usage_of(first.local_queue), not ours, first.queue_order
                if best is None or key < best:
                    best, head = key, first
        return head

    def clear_inflight(self, work: WorkloadInfo) -> None:
        """End the flight of a head without putting it anywhere."""
        if self.inflight is work:
            self.inflight = None
        work.pending_queue = None

    def requeue_inadmissible(
        self, matches: Matches, ready: Callable[[WorkloadInfo], bool]
    ) -> bool:
        """Requeue whose namespace matches and whose backoff is over.

        Returns whether anything moved. Cost: classes, and workloads set aside one
        by one; not members of classes.
        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        self.failed_hashes.clear()
        if not self.pending_inadmissible:
            return False
        before = self.pending_active
        for classes in list(self.classes.values()):
            for members in list(classes.values()):
                if members.inadmissible:
                    self._requeue_class(members, matches)
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

    def _requeue_class(self, members: EquivalenceClass, matches: Matches) -> None:
        if not matches(members.namespace):
            for work in list(members.workloads()):
                self._remove_from_class(work, members)
                self.add_inadmissible(work)
            return
        self.moves.note_class(members)
        members.inadmissible = False
        self.pending_inadmissible -= members.size
        self.pending_active += members.size
        self._enter(members)

    def is_inadmissible(self, work: WorkloadInfo) -> bool:
        """Return whether a workload of this queue is inadmissible."""
        return work in self.inadmissible_workloads or (
            work.equivalence_class is not None and work.equivalence_class.inadmissible
        )

    def is_in_heap(self, work: WorkloadInfo) -> bool:
        """Return whether a workload of this queue waits to be tried."""
        members = work.equivalence_class
        return members is not None and not members.inadmissible

    def heard(self) -> int:
        """Return how many wait, but for those that their queue has not heard of again."""
        return self.pending_active + self.pending_inadmissible - len(self.unseen)

    def take_moved(self) -> list[WorkloadInfo]:
        """Return the pending Workloads whose place may have changed since the last call.

        All whose phase (pending, inadmissible) or stickiness changed, and some whose
        did not. Cost: those, and not everyone who waits.
        """
        return self.moves.take(self.preemptor)

    def workloads(self) -> Iterator[WorkloadInfo]:
        """Yield the pending Workloads, unordered, without the one in flight."""
        for classes in self.classes.values():
            for members in classes.values():
                yield from members.workloads()
        yield from self.inadmissible_workloads


# ------------------------------------------------------------------------
# Who moved inside a queue, for who shows the queue: without looking at everyone.


class Moves:
    """What changed in a queue since `take`: workloads one by one, and whole classes.

    A workload that left is not in it, so it holds no more than those who wait.
    """

    __slots__ = ("classes", "preemptor", "works")

    def __init__(self) -> None:
        self.works: dict[WorkloadInfo, None] = {}
        # Class -> whether it was inadmissible at the last `take`.
        self.classes: dict[EquivalenceClass, bool] = {}
        self.preemptor: WorkloadInfo | None = None  # at the last `take`

    def note(self, work: WorkloadInfo) -> None:
        """Note that a workload was put into the queue, or aside."""
        self.works[work] = None

    def forget(self, work: WorkloadInfo) -> None:
        """Note that a workload is out of the queue."""
        self.works.pop(work, None)

    def note_class(self, members: EquivalenceClass) -> None:
        """Note that a class is about to change between pending and inadmissible."""
        self.classes.setdefault(members, members.inadmissible)

    def forget_class(self, members: EquivalenceClass) -> None:
        """Note that a class has no members any longer."""
        self.classes.pop(members, None)

    def take(self, preemptor: WorkloadInfo | None) -> list[WorkloadInfo]:
        """Return the Workloads that moved since the last call, and clear them."""
        moved = self.works
        for members, before in self.classes.items():
            if members.inadmissible != before:
                moved.update(dict.fromkeys(members.workloads()))
        if preemptor is not self.preemptor:
            moved.update(dict.fromkeys(filter(None, (self.preemptor, preemptor))))
            self.preemptor = preemptor
        self.works, self.classes = {}, {}
        return list(moved)
