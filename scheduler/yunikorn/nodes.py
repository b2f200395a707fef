"""Nodes, their free room, and the order in which they are tried."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from scheduler.yunikorn import resources
from scheduler.yunikorn.resources import Amounts, Needs

if TYPE_CHECKING:
    from scheduler.yunikorn.applications import Ask

DEFAULT_WEIGHTS = {"vcore": 1.0, "memory": 1.0}


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
        self.entry: tuple[float, str, Node] = (0.0, name, self)
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
    changes; pods of other schedulers do not move it. Source: YUNIKORN.md 8.
    """

    __slots__ = ("by_name", "entries", "sort", "weighted", "weights")

    def __init__(
        self, sort: NodeSort, weights: Mapping[str, float] | None = None
    ) -> None:
        self.by_name: dict[str, Node] = {}
        self.entries: list[tuple[float, str, Node]] = []
        self.use(sort, weights)

    def use(self, sort: NodeSort, weights: Mapping[str, float] | None) -> None:
        """Order by this policy and these weights from now on."""
        self.sort = sort
        chosen = DEFAULT_WEIGHTS if weights is None else weights
        self.weights = {t: w for t, w in sorted(chosen.items()) if w}
        self.weighted = tuple(self.weights.items())
        for node in self.by_name.values():
            node.entry = (self.sort.score(self.used_share(node)), node.name, node)
        self.entries = sorted(node.entry for node in self.by_name.values())

    def __iter__(self) -> Iterator[Node]:
        for entry in self.entries:
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

    def add(self, node: Node, score: float | None = None) -> None:
        """Take a new node into the order; with `score`, where it stood before."""
        self.by_name[node.name] = node
        if score is None:
            score = self.sort.score(self.used_share(node))
        node.entry = (score, node.name, node)
        insort(self.entries, node.entry)

    def remove(self, node: Node) -> None:
        """Forget a node."""
        del self.by_name[node.name]
        del self.entries[bisect_left(self.entries, node.entry)]

    def move(self, node: Node) -> None:
        """Put a node where its present use belongs."""
        score = self.sort.score(self.used_share(node))
        old = node.entry
        if score == old[0]:
            return
        entries = self.entries
        del entries[bisect_left(entries, old)]
        node.entry = entry = (score, old[1], node)
        insort(entries, entry)

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
