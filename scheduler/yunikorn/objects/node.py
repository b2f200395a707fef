"""Nodes, their free room, and the order in which they are tried."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from scheduler.yunikorn import resources
from scheduler.yunikorn.resources import Amounts, Needs

if TYPE_CHECKING:
    from scheduler.yunikorn.objects.application import Ask

DEFAULT_WEIGHTS = {"vcore": 1.0, "memory": 1.0}


#: A node's place in the order: score, name, node.
Entry = tuple[float, str, "Node"]


class NodeSort(Protocol):
    """A way to order nodes: lower scores are tried first."""

    def score(self, used: float) -> float:
        """Return the score for a weighted used share (0 empty, 1 full)."""


class Node:
    """One node; available = capacity - its pods - what others occupy."""

    __slots__ = (
        "allocations",
        "attributes",
        "available",
        "capacity",
        "entry",
        "memory",
        "name",
        "occupied",
        "reservations",
        "schedulable",
        "shut",
    )

    def __init__(
        self, name: str, capacity: Amounts, *, schedulable: bool = True
    ) -> None:
        self.name = name
        self.capacity = capacity
        self.available: Amounts = dict(capacity)
        self.occupied: Amounts = {}
        self.schedulable = schedulable
        self.allocations: dict[str, Ask] = {}
        self.reservations: dict[str, Ask] = {}
        self.entry: Entry = (0.0, name, self)
        self.shut = False  # no room for any ask so far
        self.attributes: dict[str, str] = {}
        self.memory: object = None

    def __repr__(self) -> str:
        return f"Node({self.name})"

    def has_room(self, needs: Needs) -> bool:
        """Tell whether the needs fit in what is available now."""
        available = self.available
        return all(value <= available.get(name, 0) for name, value in needs)

    def could_hold(self, needs: Needs) -> bool:
        """Tell whether the needs fit the empty node."""
        return resources.fits(self.capacity, needs)

    def take(self, ask: Ask) -> None:
        """Count a pod of ours as running here."""
        self.allocations[ask.key] = ask
        available = self.available
        for name, value in ask.resource.items():
            available[name] = available.get(name, 0) - value

    def release(self, ask: Ask) -> None:
        """Give back what a pod of ours used."""
        del self.allocations[ask.key]
        resources.add_to(self.available, ask.resource)

    def fit_score(self, needs: Mapping[str, int]) -> float:
        """Return how badly an ask would fill what is available; low is tight.

        Source: YUNIKORN.md 9.5.
        """
        score = 0.0
        for name, room in self.available.items():
            wanted = needs.get(name)
            if wanted is None:
                score += 1.0
            elif room > wanted:
                score += (room - wanted) / room
        return score


class NodeOrder:
    """All nodes by score, then name; kept up to date one node at a time.

    A node moves when a pod of ours comes or goes and when its capacity
    changes; pods of other schedulers do not move it. Nodes with less room than
    the smallest ask so far stand in `shut`, so that a search passes them by.
    Source: YUNIKORN.md 8.
    """

    __slots__ = ("by_name", "entries", "floor", "shut", "sort", "weighted")

    def __init__(
        self, sort: NodeSort, weights: Mapping[str, float] | None = None
    ) -> None:
        self.by_name: dict[str, Node] = {}
        self.entries: list[Entry] = []  # nodes with room, in order
        self.shut: list[Entry] = []  # nodes without, in order
        self.floor: Amounts | None = None  # what every ask so far needs at least
        self.use(sort, weights)

    def use(self, sort: NodeSort, weights: Mapping[str, float] | None) -> None:
        """Order by this policy and these weights from now on."""
        self.sort = sort
        chosen = DEFAULT_WEIGHTS if weights is None else weights
        self.weighted = tuple((t, w) for t, w in sorted(chosen.items()) if w)
        for node in self.by_name.values():
            node.entry = (self.sort.score(self.used_share(node)), node.name, node)
        self._sort_out()

    def _sort_out(self) -> None:
        self.entries, self.shut = [], []
        for entry in sorted(node.entry for node in self.by_name.values()):
            node = entry[2]
            node.shut = self._too_full(node)
            (self.shut if node.shut else self.entries).append(entry)

    def _too_full(self, node: Node) -> bool:
        if not self.floor:
            return False
        available = node.available
        return any(v > available.get(name, 0) for name, v in self.floor.items())

    def expect(self, needs: Needs) -> None:
        """Note the needs of an ask that will look for a node."""
        wanted = dict(needs)
        floor = self.floor
        if floor is None:
            self.floor = wanted
            self._sort_out()
        elif any(wanted.get(name, 0) < value for name, value in floor.items()):
            self.floor = {
                name: min(value, wanted[name])
                for name, value in floor.items()
                if name in wanted
            }
            for entry in list(self.shut):
                self.reopen(entry[2])

    def __iter__(self) -> Iterator[Node]:
        for entry in heapq.merge(self.entries, self.shut):
            yield entry[2]

    def __len__(self) -> int:
        return len(self.by_name)

    def used_share(self, node: Node) -> float:
        """Return the weighted used share of a node; 0 when nothing is weighed.

        Source: YUNIKORN.md 8.
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

    def add(self, node: Node) -> None:
        """Take a new node into the order."""
        self.by_name[node.name] = node
        score = self.sort.score(self.used_share(node))
        node.entry = (score, node.name, node)
        node.shut = self._too_full(node)
        insort(self.shut if node.shut else self.entries, node.entry)

    def remove(self, node: Node) -> None:
        """Forget a node."""
        del self.by_name[node.name]
        self._take_out(node)

    def _take_out(self, node: Node) -> None:
        entries = self.shut if node.shut else self.entries
        del entries[bisect_left(entries, node.entry)]

    def move(self, node: Node) -> None:
        """Put a node where its present use belongs."""
        self.put_at(node, self.sort.score(self.used_share(node)))

    def put_at(self, node: Node, score: float) -> None:
        """Put a node where this score belongs."""
        shut = self._too_full(node)
        if score == node.entry[0] and shut is node.shut:
            return
        self._take_out(node)
        node.entry = entry = (score, node.name, node)
        node.shut = shut
        insort(self.shut if shut else self.entries, entry)

    def reopen(self, node: Node) -> None:
        """Look anew at whether a node has room, its place in the order kept."""
        if node.shut is not self._too_full(node):
            self._take_out(node)
            node.shut = not node.shut
            insort(self.shut if node.shut else self.entries, node.entry)

    def first_with_room(self, needs: Needs) -> Node | None:
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
