"""The active queue's order: a heap for fixed keys, another for keys that move."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from scheduler.engine.kube.framework.plugin import QueuedPodInfo

SortKey = Callable[[QueuedPodInfo], tuple[Any, ...]]


class ActiveHeap(Protocol):
    """What the queue needs of a heap of the pods that are to be tried."""

    def push(self, queued: QueuedPodInfo) -> None:
        """Put a pod in, or in its right place again."""

    def pop(self) -> QueuedPodInfo | None:
        """Take the first pod out; None when there is none."""

    def drop(self, queued: QueuedPodInfo) -> None:
        """Take a pod out, wherever it is."""

    def __len__(self) -> int: ...

    def dump_order(self) -> list[QueuedPodInfo]:
        """Return the pods so that `lay` gives the same heap."""

    def load_order(self, pods: Iterable[QueuedPodInfo]) -> None:
        """Fill the heap with pods in the order of `dump_order`."""


class FixedKeyHeap:
    """For sorts whose keys never change while a pod is queued.

    Ties are broken by the order of queueing; a pod taken out leaves a stale
    entry, which is passed over when it comes up.
    """

    def __init__(self, sort_key: SortKey) -> None:
        self._sort_key = sort_key
        self._heap: list[tuple[tuple[Any, ...], int, int, QueuedPodInfo]] = []
        self._current: dict[int, int] = {}  # id of a queued pod -> its entry
        self._entries = 0

    def push(self, queued: QueuedPodInfo) -> None:
        """Put a pod in, or in its right place again."""
        self._entries += 1
        self._current[id(queued)] = self._entries
        entry = (self._sort_key(queued), queued.seq, self._entries, queued)
        heapq.heappush(self._heap, entry)

    def pop(self) -> QueuedPodInfo | None:
        """Take the first pod out."""
        while self._heap:
            _, _, entry, queued = heapq.heappop(self._heap)
            if self._current.get(id(queued)) == entry:
                del self._current[id(queued)]
                return queued
        return None

    def drop(self, queued: QueuedPodInfo) -> None:
        """Take a pod out."""
        self._current.pop(id(queued), None)

    def __len__(self) -> int:
        return len(self._current)

    def dump_order(self) -> list[QueuedPodInfo]:
        """Return nothing: the order follows from the keys."""
        return []

    def load_order(self, pods: Iterable[QueuedPodInfo]) -> None:
        """Do nothing."""


class BackoffHeap:
    """Pods that back off, the first to be tried early on top, for keys that stay.

    Soonest second first, then by QueueSort, then by the order of queueing. A pod that
    went elsewhere, or whose key is another one, leaves a stale entry.
    """

    def __init__(self, sort_key: SortKey) -> None:
        self._sort_key = sort_key
        self._heap: list[tuple[int, tuple[Any, ...], int, int, QueuedPodInfo]] = []
        self._current: dict[int, int] = {}  # id of a queued pod -> its last entry
        self._entries = 0

    def push(self, queued: QueuedPodInfo) -> None:
        """Put in a pod that backs off, or one that changed meanwhile."""
        self._entries += 1
        self._current[id(queued)] = self._entries
        key = self._sort_key(queued)
        entry = (queued.ready_ms, key, queued.seq, self._entries, queued)
        heapq.heappush(self._heap, entry)

    def first(self) -> QueuedPodInfo | None:
        """Return the first pod, which stays in; None when none backs off."""
        heap = self._heap
        while heap:
            _, _, _, entry, queued = heap[0]
            last = self._current.get(id(queued)) == entry
            if last and queued.place == "backoff":
                return queued
            heapq.heappop(heap)
            if last:
                del self._current[id(queued)]
        return None


class ChangingKeyHeap:
    """For sorts whose keys change while pods are queued (groups that failed).

    A binary heap that compares afresh at every step and is not put right when
    a key moves, as in kube-scheduler: who is next was settled by the last pop.
    Source: docs/semantics/kube-scheduler.md#coscheduling-queue-order.
    """

    def __init__(self, sort_key: SortKey) -> None:
        self._sort_key = sort_key
        self._items: list[QueuedPodInfo] = []
        self._inside: set[int] = set()

    def _less(self, left: int, right: int) -> bool:
        items = self._items
        return self._sort_key(items[left]) < self._sort_key(items[right])

    def _swap(self, left: int, right: int) -> None:
        items = self._items
        items[left], items[right] = items[right], items[left]

    def _up(self, at: int) -> None:
        while at > 0 and self._less(at, (at - 1) // 2):
            self._swap(at, (at - 1) // 2)
            at = (at - 1) // 2

    def _down(self, at: int, size: int) -> bool:
        start = at
        while (child := 2 * at + 1) < size:
            if child + 1 < size and self._less(child + 1, child):
                child += 1
            if not self._less(child, at):
                break
            self._swap(at, child)
            at = child
        return at > start

    def push(self, queued: QueuedPodInfo) -> None:
        """Put a pod in, or in its right place again."""
        if id(queued) in self._inside:
            at = self._items.index(queued)
            if not self._down(at, len(self._items)):
                self._up(at)
            return
        self._items.append(queued)
        self._inside.add(id(queued))
        self._up(len(self._items) - 1)

    def pop(self) -> QueuedPodInfo | None:
        """Take the first pod out."""
        if not self._items:
            return None
        last = len(self._items) - 1
        self._swap(0, last)
        self._down(0, last)
        return self._gone(self._items.pop())

    def _gone(self, queued: QueuedPodInfo) -> QueuedPodInfo:
        self._inside.discard(id(queued))
        return queued

    def drop(self, queued: QueuedPodInfo) -> None:
        """Take a pod out."""
        if id(queued) not in self._inside:
            return
        at, last = self._items.index(queued), len(self._items) - 1
        if at != last:
            self._swap(at, last)
            if not self._down(at, last):
                self._up(at)
        self._gone(self._items.pop())

    def __len__(self) -> int:
        return len(self._items)

    def dump_order(self) -> list[QueuedPodInfo]:
        """Return the pods in the order of the heap's array."""
        return list(self._items)

    def load_order(self, pods: Iterable[QueuedPodInfo]) -> None:
        """Fill the heap's array in the order of `dump_order`."""
        self._items = list(pods)
        self._inside = {id(queued) for queued in self._items}
