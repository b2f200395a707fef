"""Who may be evicted: admitted workloads of a queue, kept in victim order.

An index keeps one sorted list per set of (flavor, resource) that its workloads
hold, so a search looks only at those who hold what is needed, best victim
first, and stops when it has enough: nothing is sorted or scanned for it.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from scheduler.engine.kueue.tree.quota import within_nominal
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    FlavorResource,
    FlavorResources,
    QuotaNode,
    Rank,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import LocalQueue, WorkloadInfo
from scheduler.model.reasons import ADMITTED

UsageOf = Callable[[LocalQueue], float]

LOWER_OR_NEWER = "LowerOrNewerEqualPriority"
ANY = "Any"
NEVER = "Never"


class CandidateRange:
    """A stretch of one sorted list that a policy lets through.

    Ranks up to `sure` pass; from there to `end` only those queued after
    `after_us` (None: none of them).
    """

    __slots__ = ("after_us", "certain_end", "end", "ranks")

    def __init__(
        self, ranks: list[Rank], sure: int, end: int, after_us: int | None
    ) -> None:
        self.ranks = ranks
        self.certain_end = sure
        self.end = end
        self.after_us = after_us

    def __iter__(self) -> Iterator[Rank]:
        ranks = self.ranks
        for index in range(self.certain_end):
            yield ranks[index]
        if self.after_us is not None:
            for index in range(self.certain_end, self.end):
                if ranks[index][4].queue_order_us > self.after_us:
                    yield ranks[index]

    def below(self, priority: int) -> CandidateRange:
        """Return the candidates below this priority."""
        end = bisect_left(self.ranks, (priority,), hi=self.end)
        return CandidateRange(
            self.ranks, min(self.certain_end, end), end, self.after_us
        )


class UsageRange(CandidateRange):
    """Candidates of one ClusterQueue by the usage of their LocalQueues, most first.

    Source: docs/semantics/kueue-admission-fair-sharing.md#preemption.
    """

    def below(self, priority: int) -> CandidateRange:
        """Return the candidates below this priority."""
        ranks = [rank for rank in self.ranks if rank[0] < priority]
        return UsageRange(ranks, len(ranks), len(ranks), None)


class AdmittedIndex:
    """The admitted workloads of one ClusterQueue, evicted ones apart."""

    __slots__ = ("changes", "evicted", "running", "unadmitted", "usage_of", "workloads")

    def __init__(self, usage_of: UsageOf | None = None) -> None:
        # The usage of a LocalQueue, where it comes before priority.
        self.usage_of = usage_of
        self.changes = 0  # how often a workload was put or dropped
        self.workloads: dict[WorkloadInfo, None] = {}
        self.unadmitted: dict[WorkloadInfo, None] = {}  # with a reservation only
        self.running: dict[FlavorResources, list[Rank]] = {}
        self.evicted: dict[FlavorResources, list[Rank]] = {}

    def put(self, work: WorkloadInfo) -> None:
        """Take a workload by its present rank, signature and evicted state."""
        self.changes += 1
        work.rank = rank = work.candidate_rank()
        work.indexed_as_evicted = work.evicted
        side = self.evicted if work.indexed_as_evicted else self.running
        insort(side.setdefault(work.flavor_resources, []), rank)
        self.workloads[work] = None
        if not work.has_condition(ADMITTED):
            self.unadmitted[work] = None

    def drop(self, work: WorkloadInfo) -> None:
        """Forget a workload that was put."""
        self.changes += 1
        side = self.evicted if work.indexed_as_evicted else self.running
        ranks = side[work.flavor_resources]
        index = bisect_left(ranks, work.rank)
        del ranks[index]
        if not ranks:
            del side[work.flavor_resources]
        del self.workloads[work]
        self.unadmitted.pop(work, None)

    def candidate_ranges(
        self,
        needed: Collection[FlavorResource],
        policy: str,
        preemptor: WorkloadInfo,
        *,
        evicted: bool,
    ) -> list[CandidateRange]:
        """Return the runs of those holding any of `needed` that `policy` allows.

        Source: docs/semantics/kueue.md#preemption-policies.
        """
        side = self.evicted if evicted else self.running
        if not side or policy == NEVER:
            return []
        found = []
        for signature, ranks in side.items():
            if not signature.isdisjoint(needed):
                run = _range(ranks, policy, preemptor)
                if run.end:
                    found.append(run)
        if self.usage_of is None or not found:
            return found
        return [_by_usage(found, self.usage_of)]


def _by_usage(runs: list[CandidateRange], usage_of: UsageOf) -> CandidateRange:
    ranks = [rank for run in runs for rank in run]
    ranks.sort(key=lambda rank: (-usage_of(rank[4].local_queue), rank))
    return UsageRange(ranks, len(ranks), len(ranks), None)


def _range(ranks: list[Rank], policy: str, preemptor: WorkloadInfo) -> CandidateRange:
    if policy == ANY:
        return CandidateRange(ranks, len(ranks), len(ranks), None)
    priority = preemptor.priority
    below = bisect_left(ranks, (priority,))
    if policy == LOWER_OR_NEWER:
        upto = bisect_left(ranks, (priority + 1,), lo=below)
        return CandidateRange(ranks, below, upto, preemptor.queue_order_us)
    return CandidateRange(ranks, below, below, None)


def below_priority(
    runs: Iterable[CandidateRange], priority: int
) -> list[CandidateRange]:
    """Return the runs cut off before this priority."""
    return [cut for run in runs if (cut := run.below(priority)).end]


def merged(runs: list[CandidateRange]) -> Iterator[Rank]:
    """Yield the ranks of all runs in victim order, lazily."""
    if len(runs) == 1:
        return iter(runs[0])
    return heapq.merge(*runs)


# ------------------------------------------------------------------------
# Who uses more than its quota, found once for all searches on one state of the tree.


Needed = frozenset[FlavorResource]


class Borrowers:
    """Remembers, per cohort and needed quota, the children that use too much.

    Holds while usage does not change; make a new one when it has.
    """

    def __init__(self) -> None:
        self._queues: dict[tuple[Cohort, Needed], list[ClusterQueue]] = {}
        self._cohorts: dict[tuple[Cohort, Needed], list[Cohort]] = {}
        self._nominal: dict[tuple[Cohort, Needed], list[ClusterQueue]] = {}

    def queues(self, cohort: Cohort, needed: Needed) -> list[ClusterQueue]:
        """Return the child ClusterQueues above their subtree quota.

        Source: docs/semantics/kueue.md#candidates-in-the-cohort.
        """
        found = self._queues.get((cohort, needed))
        if found is None:
            found = [q for q in cohort.queues if not within_nominal(q, needed)]
            self._queues[cohort, needed] = found
        return found

    def cohorts(self, cohort: Cohort, needed: Needed) -> list[Cohort]:
        """Return the child Cohorts above their subtree quota."""
        found = self._cohorts.get((cohort, needed))
        if found is None:
            found = [c for c in cohort.cohorts if not within_nominal(c, needed)]
            self._cohorts[cohort, needed] = found
        return found

    def below(self, root: Cohort, needed: Needed) -> list[ClusterQueue]:
        """Return the ClusterQueues of a whole tree above their nominal quota.

        Source: docs/semantics/kueue.md#fair-preemption-candidates.
        """
        found = self._nominal.get((root, needed))
        if found is None:
            found = [q for q in root.subtree() if not within_nominal(q, needed)]
            self._nominal[root, needed] = found
        return found


# ------------------------------------------------------------------------
# What was found, kept while nothing changes in the tree of its queue: victims, and
# nominations in vain.


#: Preemptor, its priority and place in line, what it asks for, what is short.
VictimQuestion = tuple[
    WorkloadInfo,
    int,
    int,
    tuple[tuple[ResourceNode, int], ...],
    frozenset[FlavorResource],
]
#: Who is nominated where, its equals and place in line, and where its search goes on.
NominationQuestion = tuple[
    WorkloadInfo, ClusterQueue, str, int, tuple[tuple[tuple[str, int], ...], ...]
]
#: What each question found, and the tally of its searches; neither is changed.
Answers = dict[VictimQuestion | NominationQuestion, tuple[Any, Any]]


class KnownSearches:
    """What was found, per root, with the state of the tree that it holds for."""

    def __init__(self) -> None:
        self._links = -1
        self._trees: dict[QuotaNode, tuple[list[Any], Answers]] = {}

    def now(self, links: int) -> SearchesNow:
        """Return what is known for as long as usage stays: during nominations.

        `links` counts how often the trees were built; older ones are forgotten.
        """
        if links != self._links:
            self._links = links
            self._trees.clear()
        return SearchesNow(self)

    def of(self, root: QuotaNode) -> Answers | None:
        """Return the answers that hold for the present state of a tree.

        None where the order of victims depends on usage over time.
        Cost: O(queues x resources) of the tree.
        """
        state: list[Any] = []
        for queue in root.subtree() if isinstance(root, Cohort) else _alone(root):
            if queue.admitted.usage_of is not None:
                return None
            state.append(queue.active)
            state.append(queue.admitted.changes)
            state.extend([each.usage for each in queue.resource_nodes.values()])
        kept = self._trees.get(root)
        if kept is not None and kept[0] == state:
            return kept[1]
        answers: Answers = {}
        self._trees[root] = state, answers
        return answers


def _alone(root: QuotaNode) -> tuple[ClusterQueue, ...]:
    assert isinstance(root, ClusterQueue)
    return (root,)


class SearchesNow:
    """Finds the answers of a tree once for all searches on one state of it."""

    def __init__(self, known: KnownSearches) -> None:
        self._known = known
        self._found: dict[QuotaNode, Answers | None] = {}

    def of(self, root: QuotaNode) -> Answers | None:
        """Return the answers that hold now; None where none may be kept."""
        if root not in self._found:
            self._found[root] = self._known.of(root)
        return self._found[root]
