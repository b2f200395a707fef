"""Who may be evicted: admitted workloads of a queue, kept in victim order.

An index keeps one sorted list per set of (flavor, resource) that its workloads
hold, so a search looks only at those who hold what is needed, best victim
first, and stops when it has enough: nothing is sorted or scanned for it.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator

from scheduler.engine.kueue.tree.protocols import FlavorResource, FlavorResources, Rank
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.local_queue import LocalQueue
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
        """Return those below this priority."""
        end = bisect_left(self.ranks, (priority,), hi=self.end)
        return CandidateRange(
            self.ranks, min(self.certain_end, end), end, self.after_us
        )


class UsageRange(CandidateRange):
    """Candidates of one ClusterQueue by the usage of their LocalQueues, most first.

    Source: docs/semantics/kueue-admission-fair-sharing.md#preemption.
    """

    def below(self, priority: int) -> CandidateRange:
        """Return those below this priority."""
        ranks = [rank for rank in self.ranks if rank[0] < priority]
        return UsageRange(ranks, len(ranks), len(ranks), None)


class AdmittedIndex:
    """The admitted workloads of one ClusterQueue, evicted ones apart."""

    __slots__ = (
        "changes",
        "evicted",
        "running",
        "unadmitted",
        "usage_of",
        "workloads",
    )

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
