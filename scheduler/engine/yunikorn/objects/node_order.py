"""The order in which a partition's nodes are tried."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from typing import Protocol

from scheduler.engine.yunikorn.objects.model import SchedulingNode
from scheduler.model.yunikorn.resources import Amounts, Needs

DEFAULT_WEIGHTS = {"vcore": 1.0, "memory": 1.0}


#: A node's place in the order: score, name, node.
NodeEntry = tuple[float, str, SchedulingNode]


class NodeSort(Protocol):
    """A way to order nodes: lower scores are tried first."""

    def score(self, used: float) -> float:
        """Return the score for a weighted used share (0 empty, 1 full)."""


class NodeOrder:
    """All nodes by score, then name; kept up to date one node at a time.

    A node moves when a pod of ours comes or goes and when its capacity
    changes; pods of other schedulers do not move it. Nodes with less room than
    the smallest ask so far are in `full`, so that a search skips them.
    Source: docs/semantics/yunikorn.md#order-of-nodes
    """

    __slots__ = ("by_name", "entries", "full", "smallest", "sort", "weighted")

    def __init__(
        self, sort: NodeSort, weights: Mapping[str, float] | None = None
    ) -> None:
        self.by_name: dict[str, SchedulingNode] = {}
        self.entries: list[NodeEntry] = []  # nodes with room, in order
        self.full: list[NodeEntry] = []  # nodes without, in order
        self.smallest: Amounts | None = None  # what every ask so far needs at least
        self.use(sort, weights)

    def use(self, sort: NodeSort, weights: Mapping[str, float] | None) -> None:
        """Order by this policy and these weights from now on."""
        self.sort = sort
        chosen = DEFAULT_WEIGHTS if weights is None else weights
        self.weighted = tuple((t, w) for t, w in sorted(chosen.items()) if w)
        for node in self.by_name.values():
            node.entry = (self.sort.score(self.used_share(node)), node.name, node)
        self._rebuild()

    def _rebuild(self) -> None:
        self.entries, self.full = [], []
        for entry in sorted(node.entry for node in self.by_name.values()):
            node = entry[2]
            node.full = self._is_full(node)
            (self.full if node.full else self.entries).append(entry)

    def _is_full(self, node: SchedulingNode) -> bool:
        if not self.smallest:
            return False
        available = node.available
        return any(v > available.get(name, 0) for name, v in self.smallest.items())

    def note_ask(self, needs: Needs) -> None:
        """Note the needs of an ask that will look for a node."""
        wanted = dict(needs)
        smallest = self.smallest
        if smallest is None:
            self.smallest = wanted
            self._rebuild()
        elif any(wanted.get(name, 0) < value for name, value in smallest.items()):
            self.smallest = {
                name: min(value, wanted[name])
                for name, value in smallest.items()
                if name in wanted
            }
            for entry in list(self.full):
                self.update_full(entry[2])

    def __iter__(self) -> Iterator[SchedulingNode]:
        for entry in heapq.merge(self.entries, self.full):
            yield entry[2]

    def __len__(self) -> int:
        return len(self.by_name)

    def used_share(self, node: SchedulingNode) -> float:
        """Return the weighted used share of a node; 0 when nothing is weighed.

        Source: docs/semantics/yunikorn.md#order-of-nodes
        """
        used = total = 0.0
        capacity, available = node.capacity, node.available
        for name, weight in self.weighted:
            whole = capacity.get(name)
            if whole is None:
                continue
            left = available.get(name, 0)
            if whole:
                used += (1.0 - left / whole) * weight
            elif left:
                used += math.copysign(math.inf, -left) * weight
            else:
                continue  # 0 of 0 says nothing
            total += weight
        return used / total if total else 0.0

    def shares(self, node: SchedulingNode) -> list[tuple[str, float, float]]:
        """Return (type, used share, weight) of what a node's place is made of."""
        found = []
        for name, weight in self.weighted:
            whole = node.capacity.get(name)
            if whole:
                left = node.available.get(name, 0)
                found.append((name, 1.0 - left / whole, weight))
        return found

    def add(self, node: SchedulingNode) -> None:
        """Take a new node into the order."""
        self.by_name[node.name] = node
        score = self.sort.score(self.used_share(node))
        node.entry = (score, node.name, node)
        node.full = self._is_full(node)
        insort(self.full if node.full else self.entries, node.entry)

    def remove(self, node: SchedulingNode) -> None:
        """Remove a node."""
        del self.by_name[node.name]
        self._remove_entry(node)

    def _remove_entry(self, node: SchedulingNode) -> None:
        entries = self.full if node.full else self.entries
        del entries[bisect_left(entries, node.entry)]

    def move(self, node: SchedulingNode) -> None:
        """Put a node where its present use belongs."""
        self.put_at(node, self.sort.score(self.used_share(node)))

    def put_at(self, node: SchedulingNode, score: float) -> None:
        """Put a node where this score belongs."""
        full = self._is_full(node)
        if score == node.entry[0] and full is node.full:
            return
        self._remove_entry(node)
        node.entry = entry = (score, node.name, node)
        node.full = full
        insort(self.full if full else self.entries, entry)

    def update_full(self, node: SchedulingNode) -> None:
        """Update whether a node is full; its place in the order is kept."""
        if node.full is not self._is_full(node):
            self._remove_entry(node)
            node.full = not node.full
            insort(self.full if node.full else self.entries, node.entry)

    def first_fitting(self, needs: Needs) -> SchedulingNode | None:
        """Return the first schedulable, unreserved node that has room."""
        for entry in self.entries:
            node = entry[2]
            if node.schedulable and not node.reservations:
                available = node.available
                for name, value in needs:
                    if value > available.get(name, 0):
                        break
                else:
                    return node
        return None
