"""The quota tree by its definitions. Source: docs/semantics/kueue.md#quota-tree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.model.quota import read_groups, read_weight

FR = tuple[str, str]
MAX = 2**63 - 1
MIN = -(2**63)


def plus(*amounts: int) -> int:
    """Return the sum; MAX is Unlimited and stays so.

    Source: docs/semantics/kueue.md#quantities-of-quota.
    """
    total = 0
    for amount in amounts:
        either = MAX in (total, amount)
        total = MAX if either else max(MIN, min(MAX, total + amount))
    return total


def minus(a: int, b: int) -> int:
    """Return the difference; MAX is Unlimited.

    Source: docs/semantics/kueue.md#quantities-of-quota.
    """
    if a == MAX:
        return 0 if b == MAX else MAX
    return MIN if b == MAX else max(MIN, min(MAX, a - b))


class QuotaNode:
    """A ClusterQueue or a Cohort."""

    def __init__(self, kind: str, name: str, spec: Mapping[str, Any]) -> None:
        self.kind, self.name, self.spec = kind, name, spec
        self.parent: QuotaNode | None = None
        self.children: list[QuotaNode] = []
        self.groups = read_groups(spec.get("resourceGroups"))
        self.quotas = {fr: q for g in self.groups for fr, q in g.quotas.items()}
        self.usage: dict[FR, int] = {}
        self.weight = read_weight(spec)
        self.active = True

    def used(self, fr: FR) -> int:
        return self.usage.get(fr, 0)

    def nominal(self, fr: FR) -> int:
        return self.quotas[fr].nominal if fr in self.quotas else 0

    def borrowing_limit(self, fr: FR) -> int | None:
        return self.quotas[fr].borrowing if fr in self.quotas else None

    def resources_with_quota(self) -> set[FR]:
        """Return every (flavor, resource) with quota here or below."""
        return set(self.quotas).union(
            *(c.resources_with_quota() for c in self.children)
        )

    def subtree_quota(self, fr: FR) -> int:
        shared = [minus(c.subtree_quota(fr), c.local(fr)) for c in self.children]
        return plus(self.nominal(fr), *shared)

    def local(self, fr: FR) -> int:
        lending = self.quotas[fr].lending if fr in self.quotas else None
        return 0 if lending is None else max(0, minus(self.subtree_quota(fr), lending))

    def local_free(self, fr: FR) -> int:
        return max(0, self.local(fr) - self.used(fr))

    def available(self, fr: FR) -> int:
        if self.parent is None:
            return minus(self.subtree_quota(fr), self.used(fr))
        above = self.parent.available(fr)
        limit = self.borrowing_limit(fr)
        if limit is not None:
            own = minus(self.subtree_quota(fr), self.local(fr))
            stored = max(0, self.used(fr) - self.local(fr))
            above = min(above, minus(plus(own, limit), stored))
        return plus(self.local_free(fr), above)

    def available_non_negative(self, fr: FR) -> int:
        return max(0, self.available(fr))

    def potential(self, fr: FR) -> int:
        if self.parent is None:
            return self.subtree_quota(fr)
        most = plus(self.local(fr), self.parent.potential(fr))
        limit = self.borrowing_limit(fr)
        return most if limit is None else min(most, plus(self.subtree_quota(fr), limit))

    def add(self, fr: FR, amount: int) -> None:
        free = self.local_free(fr)
        self.usage[fr] = self.used(fr) + amount
        if self.parent is not None and amount > free:
            self.parent.add(fr, amount - free)

    def take(self, fr: FR, amount: int) -> None:
        stored = self.used(fr) - self.local(fr)
        self.usage[fr] = self.used(fr) - amount
        if stored > 0 and self.parent is not None:
            self.parent.take(fr, min(amount, stored))

    def path(self) -> list[QuotaNode]:
        """Return parent .. root."""
        return [] if self.parent is None else [self.parent, *self.parent.path()]

    def root(self) -> QuotaNode:
        return self.path()[-1] if self.parent is not None else self

    def queues(self) -> Iterator[QuotaNode]:
        """Yield the active ClusterQueues below, or this one."""
        if self.kind == "ClusterQueue" and self.active:
            yield self
        for child in self.children:
            yield from child.queues()

    def cohorts(self) -> list[QuotaNode]:
        return [c for c in self.children if c.kind == "Cohort"]

    def within_nominal(self, frs: set[FR]) -> bool:
        return all(self.subtree_quota(fr) >= self.used(fr) for fr in frs)

    def height(self) -> int:
        """Return the height of a cohort; a stopped ClusterQueue does not exist."""
        children = [c for c in self.children if c.kind == "Cohort" or c.active]
        below = [1 + c.height() for c in self.cohorts()]
        return max([min(len(children), 1), *below])

    def borrowing_height(self, fr: FR, amount: int) -> tuple[int, bool]:
        if self.used(fr) + amount <= self.nominal(fr) or self.parent is None:
            return 0, self.parent is not None
        rest = amount - self.local_free(fr)
        for node in self.path():
            if node.used(fr) + rest <= node.subtree_quota(fr):
                return node.height(), node.parent is not None
            rest -= node.local_free(fr)
        return self.root().height(), False

    def ratio(self) -> tuple[float, bool]:
        """Return the unweighted share, and whether anything is borrowed."""
        if self.parent is None:
            return 0.0, False
        borrowed: dict[str, int] = {}
        for fr in self.resources_with_quota():
            over = self.used(fr) - self.subtree_quota(fr)
            if over > 0:
                borrowed[fr[1]] = borrowed.get(fr[1], 0) + over
        lendable: dict[str, int] = {}
        for fr in self.root().resources_with_quota():
            most = self.parent.potential(fr)
            lendable[fr[1]] = plus(lendable.get(fr[1], 0), most)
        ratios = [
            float(b) * 1000.0 / float(lendable[r])
            for r, b in borrowed.items()
            if lendable.get(r, 0) > 0
        ]
        return max(ratios, default=0.0), bool(borrowed)

    def share(self) -> tuple[float, float]:
        """Return (weighted share, ratio among borrowers of weight 0)."""
        ratio, _ = self.ratio()
        if ratio == 0.0:
            return 0.0, 0.0
        if self.weight == 0.0:
            return math.inf, ratio
        return ratio / self.weight, 0.0

    def borrows(self) -> bool:
        return self.ratio()[1]


def shown(node: QuotaNode) -> int:
    """Return status.fairSharing.weightedShare."""
    share = node.share()[0]
    return MAX if math.isinf(share) else math.ceil(share)
