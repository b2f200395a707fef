"""Whom a preemption is aimed at, and the port through which searches are called."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from scheduler.engine.kueue.cache.candidates import (
    Borrowers,
    CandidateRange,
    Needed,
    merged,
)
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.trace import shares as trace_shares
from scheduler.engine.kueue.tree.quota import (
    DRS,
    PreemptorNewShare,
    TargetNewShare,
    TargetOldShare,
    add_usages,
    available_non_negative,
    dominant_resource_share,
    remove_usages,
    undo_usages,
)
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    QuotaNode,
    Rank,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import SearchTally
from scheduler.model.kueue.feature_gates import DEFAULT_FEATURE_GATES, FeatureGates


class Target(NamedTuple):
    """A victim and the reason that its Preempted condition gets."""

    work: WorkloadInfo
    reason: str


Requests = dict[ResourceNode, int]


class Placement(Protocol):
    """Whether pods that ask for topology have places, with victims out of the trees."""

    def remove(self, work: WorkloadInfo) -> None:
        """Take a victim's pods off their places."""

    def add(self, work: WorkloadInfo) -> None:
        """Put a victim's pods back on their places."""

    def fits(self) -> bool:
        """Return whether the preemptor's pods have places now."""


#: Whether a candidate of another ClusterQueue may be preempted.
FairSharingStrategy = Callable[
    [PreemptorNewShare, TargetOldShare, TargetNewShare], bool
]


VictimOrder = Callable[[list[CandidateRange]], Iterator[Rank]]


@dataclass(slots=True, kw_only=True)
class PreemptionQuestion:
    """Whom to preempt for one Workload, and what the search may use.

    The cost is added to `tally`. `absent` are admitted Workloads that count as gone,
    `placement` is there where topology is asked for. `in_order` yields candidates, the
    best victim first.
    """

    work: WorkloadInfo
    queue: ClusterQueue
    requests: Requests
    needed: Needed
    borrowers: Borrowers
    tally: SearchTally
    rules: Sequence[FairSharingStrategy] = ()
    gates: FeatureGates = DEFAULT_FEATURE_GATES
    absent: Container[WorkloadInfo] = ()
    placement: Placement | None = None
    trace: Trace | None = None
    in_order: VictimOrder = merged


class TargetSearch(Protocol):
    """A search for victims with everything bound but the question."""

    def __call__(
        self,
        work: WorkloadInfo,
        queue: ClusterQueue,
        requests: Requests,
        needed: Needed,
        placement: Placement | None = None,
    ) -> list[Target]:
        """Return the workloads to preempt."""


def take_out(work: WorkloadInfo, placement: Placement | None) -> None:
    """Try a state without a workload."""
    remove_usages(work.usage)
    if placement is not None:
        placement.remove(work)


def put_back(work: WorkloadInfo, placement: Placement | None) -> None:
    """Undo `take_out`."""
    add_usages(work.usage)
    if placement is not None:
        placement.add(work)


def fits(
    requests: Requests, *, borrowing: bool, placement: Placement | None = None
) -> bool:
    """Return whether all requests fit now, within nominal quota unless `borrowing`.

    Where topology is asked for, the pods must have places, too.
    Source: docs/semantics/kueue.md#removing-candidates.
    """
    for resource_node, amount in requests.items():
        if not borrowing and resource_node.usage + amount > resource_node.nominal:
            return False
        if amount > available_non_negative(resource_node):
            return False
    return placement is None or placement.fits()


def fill_back(
    targets: list[Target],
    requests: Requests,
    *,
    borrowing: bool,
    tally: SearchTally,
    placement: Placement | None = None,
    trace: Trace | None = None,
) -> list[Target]:
    """Keep victims that turn out not to be needed; the usage excludes the remaining ones.

    A victim equal to one that could not be spared cannot be either, as usage
    only grows here; places differ, though. It is counted as tried all the same, as
    Kueue tries each. The order of what remains is Kueue's.
    Source: docs/semantics/kueue.md#fill-back.
    """
    needed: set[object] = set()
    for index in range(len(targets) - 2, -1, -1):
        work = targets[index].work
        held = work.usage
        tally.simulations += 1
        if held in needed and trace is None and placement is None:
            continue
        put_back(work, placement)
        fitting = (held not in needed or placement is not None) and fits(
            requests, borrowing=borrowing, placement=placement
        )
        if trace is not None:
            trace.put_back(work, requests, borrowing=borrowing, fits=fitting)
        if fitting:
            targets[index] = targets[-1]
            targets.pop()
        else:
            take_out(work, placement)
            needed.add(held)
    return targets


def restore(targets: list[Target], placement: Placement | None = None) -> None:
    """Give the usage of all targets back."""
    for target in reversed(targets):
        put_back(target.work, placement)


def trace_targets(
    trace: Trace, queue: ClusterQueue, targets: list[Target], requests: Requests
) -> None:
    """Note the victims that a search ends with; their usage is out of the tree now.

    The shares are those with the preemptor in and its victims out.
    """
    add_usages(requests.items())
    after = trace_shares(queue)
    undo_usages(reversed(requests.items()))
    found = [[str(target.work.key), target.reason] for target in targets]
    trace.note("targets", targets=found, shares=after)


# ------------------------------------------------------------------------
# Which ClusterQueue gives a victim next under fair sharing.


_BELOW_ALL = DRS(-1.0)
#: Share (negated), first candidate, and the stamp that says whether it still holds.
Standing = tuple[float, float, tuple[bool, bool, Rank], int, ClusterQueue]


class TargetClusterQueue:
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


class TargetClusterQueueOrdering:
    """Descends from the root to the queue that holds the largest share.

    A heap per cohort holds its queues; only the one that changed is measured
    again. What was pruned never comes back: usage only falls while victims are
    removed.
    """

    def __init__(
        self, queue: ClusterQueue, targets: Mapping[ClusterQueue, TargetClusterQueue]
    ) -> None:
        self.queue = queue
        self.targets = targets
        self.ancestors = frozenset(queue.ancestors)
        self.pruned: set[QuotaNode] = set()
        self.heaps: dict[Cohort, list[Standing]] = {}
        self.versions = dict.fromkeys(targets, 0)
        self.cohort_shares: dict[Cohort, tuple[DRS, bool]] = {}
        for member in targets:
            self._enter(member)

    def next(self) -> ClusterQueue | None:
        """Return the queue to take a victim from, None when nobody is left."""
        root = self.queue.root
        if not isinstance(root, Cohort):
            return self.queue if self._has(self.queue) else None
        while root not in self.pruned:
            found = self._descend(root)
            if found is not None:
                return found
        return None

    def changed(self, queue: ClusterQueue) -> None:
        """Note that the queue has fewer candidates, or less usage, than before."""
        self.versions[queue] += 1
        self._enter(queue)
        for cohort in queue.ancestors:
            self.cohort_shares.pop(cohort, None)

    def drop(self, queue: ClusterQueue) -> None:
        """Leave the queue out from now on."""
        self.pruned.add(queue)
        self.changed(queue)

    def _has(self, queue: ClusterQueue) -> bool:
        return queue in self.targets and self.targets[queue].first is not None

    def _enter(self, queue: ClusterQueue) -> None:
        """Let the queue stand in its cohort, unless it has nothing to give."""
        first, cohort = self.targets[queue].first, queue.parent
        if first is None or cohort is None or queue in self.pruned:
            return
        value, borrowing = dominant_resource_share(queue)
        own = queue is self.queue
        if not (borrowing or own):
            self.pruned.add(queue)
            return
        order = (first[0], own, first[1])
        standing = (-value.value, -value.ratio, order, self.versions[queue], queue)
        heapq.heappush(self.heaps.setdefault(cohort, []), standing)

    def _descend(self, cohort: Cohort) -> ClusterQueue | None:
        """Return the queue found below, or None after something was pruned."""
        queue, queue_share = self._best_queue(cohort)
        child, child_share = self._best_cohort(cohort)
        if queue is None and child is None:
            self.pruned.add(cohort)
            return None
        if child is not None and (queue is None or child_share >= queue_share):
            return self._descend(child)
        return queue

    def _best_queue(self, cohort: Cohort) -> tuple[ClusterQueue | None, DRS]:
        """Return the queue with the largest share; ties go by first candidate."""
        heap = self.heaps.get(cohort, [])
        while heap:
            value, ratio, _, stamp, queue = heap[0]
            if stamp == self.versions[queue] and queue not in self.pruned:
                return queue, DRS(-value, -ratio)
            heapq.heappop(heap)
        return None, _BELOW_ALL

    def _best_cohort(self, cohort: Cohort) -> tuple[Cohort | None, DRS]:
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

    def _measure(self, cohort: Cohort) -> tuple[DRS, bool]:
        known = self.cohort_shares.get(cohort)
        if known is None:
            known = self.cohort_shares[cohort] = dominant_resource_share(cohort)
        return known
