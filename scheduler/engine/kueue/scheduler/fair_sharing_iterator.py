"""Whose turn it is under fair sharing: a tournament through the cohort tree.

Source: docs/semantics/kueue.md#fair-sharing-tournament.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.tree.quota import (
    DRS,
    add_usages,
    dominant_resource_share,
    undo_usages,
)
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort, QuotaNode
from scheduler.model.kueue.feature_gates import DEFAULT_FEATURE_GATES, FeatureGates

#: Borrowing, share, priority (negated), age, name: the lowest goes first.
Standing = tuple[bool, DRS, int, int, str]


def fair_sharing_order(
    entries: Sequence[Entry], gates: FeatureGates = DEFAULT_FEATURE_GATES
) -> Iterator[Entry]:
    """Yield entries tree by tree; usage may change between two of them."""
    trees: dict[QuotaNode, list[Entry]] = {}
    for entry in entries:
        trees.setdefault(entry.queue.root, []).append(entry)
    for root, members in trees.items():
        if isinstance(root, Cohort):
            tree = FairSharingIterator(root, members, gates)
            yield from tree.entries_by_share()
        else:
            yield from members


class FairSharingIterator:
    """The entries of one tree, with the standings that still hold."""

    def __init__(
        self, root: Cohort, entries: Sequence[Entry], gates: FeatureGates
    ) -> None:
        self.root = root
        self.gates = gates
        self.entries: dict[ClusterQueue, Entry] = {e.queue: e for e in entries}
        self.standing: dict[ClusterQueue, Standing] = {}
        self.winners: dict[Cohort, tuple[Entry, Standing]] = {}
        self.queues: dict[Cohort, list[ClusterQueue]] = {}
        self.cohorts: dict[Cohort, dict[Cohort, None]] = {}
        for queue in self.entries:
            self._add(queue)

    def _add(self, queue: ClusterQueue) -> None:
        self.queues.setdefault(queue.ancestors[0], []).append(queue)
        for child, parent in zip(queue.ancestors, queue.ancestors[1:], strict=False):
            self.cohorts.setdefault(parent, {})[child] = None

    def entries_by_share(self) -> Iterator[Entry]:
        """Yield the winner at the root until nobody is left."""
        while self.entries:
            entry = self._winner(self.root)
            assert entry is not None
            yield entry
            queue = entry.queue
            del self.entries[queue]
            self.queues[queue.ancestors[0]].remove(queue)
            for cohort in queue.ancestors:
                self.winners.pop(cohort, None)

    def _winner(self, cohort: Cohort) -> Entry | None:
        """Return the best entry below a cohort."""
        best: tuple[Standing, Entry] | None = None
        for child in self.cohorts.get(cohort, ()):
            known = self._child_winner(child)
            if known is not None and (best is None or known[1] < best[0]):
                best = known[1], known[0]
        for queue in self.queues.get(cohort, ()):
            standing = self._queue_standing(queue)
            if best is None or standing < best[0]:
                best = standing, self.entries[queue]
        return None if best is None else best[1]

    def _child_winner(self, child: Cohort) -> tuple[Entry, Standing] | None:
        known = self.winners.get(child)
        if known is None:
            entry = self._winner(child)
            if entry is None:
                return None
            known = self.winners[child] = entry, self._standing(child, entry)
        return known

    def _queue_standing(self, queue: ClusterQueue) -> Standing:
        known = self.standing.get(queue)
        if known is None:
            known = self._standing(queue, self.entries[queue])
            self.standing[queue] = known
        return known

    def _standing(self, node: QuotaNode, entry: Entry) -> Standing:
        """Return how the entry stands with its usage added; `node` contains it."""
        assert entry.assignment is not None
        usage = tuple(entry.assignment.usage.items())
        add_usages(usage)
        value, _ = dominant_resource_share(node)
        borrowing = self.gates.non_borrowing_first and (
            any(
                amount > 0 and _borrows(node, resource_node.flavor_resource)
                for resource_node, amount in usage
            )
            if self.gates.borrows_by_flavor
            else entry.assignment.borrow > 0
        )
        undo_usages(reversed(usage))
        work = entry.work
        priority = work.priority if self.gates.sorts_by_priority else 0
        return borrowing, value, -priority, work.queue_order_us, work.name


def _borrows(node: QuotaNode, flavor_resource: tuple[str, str]) -> bool:
    resource_node = node.resource_nodes[flavor_resource]
    return resource_node.usage > resource_node.subtree_quota
