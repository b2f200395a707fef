"""Who may be evicted: admitted workloads of a queue, kept in victim order.

A shelf keeps one sorted list per set of (flavor, resource) that its workloads
hold, so a search looks only at those who hold what is needed, best victim
first, and stops when it has enough: nothing is sorted or scanned for it.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from scheduler.kueue.tree.tree import FlavorResource
from scheduler.reasons import ADMITTED

if TYPE_CHECKING:
    from scheduler.kueue.workload.info import Work

#: Priority, reservation time (newest first), UID, name: the order of victims.
Rank = tuple[int, int, str, str, "Work"]
Signature = frozenset[FlavorResource]

LOWER = "LowerPriority"
LOWER_OR_NEWER = "LowerOrNewerEqualPriority"
ANY = "Any"
NEVER = "Never"


class Run:
    """A stretch of one sorted list that a policy lets through.

    Ranks up to `sure` pass; from there to `end` only those queued after
    `after_us` (None: none of them).
    """

    __slots__ = ("after_us", "end", "ranks", "sure")

    def __init__(
        self, ranks: list[Rank], sure: int, end: int, after_us: int | None
    ) -> None:
        self.ranks = ranks
        self.sure = sure
        self.end = end
        self.after_us = after_us

    def __iter__(self) -> Iterator[Rank]:
        ranks = self.ranks
        for index in range(self.sure):
            yield ranks[index]
        if self.after_us is not None:
            for index in range(self.sure, self.end):
                if ranks[index][4].queued_us > self.after_us:
                    yield ranks[index]

    def any(self) -> bool:
        """Tell whether anything is in it."""
        return next(iter(self), None) is not None


class Shelf:
    """The admitted workloads of one ClusterQueue, evicted ones apart."""

    __slots__ = ("evicted", "running", "unadmitted", "works")

    def __init__(self) -> None:
        self.works: dict[Work, None] = {}
        self.unadmitted: dict[Work, None] = {}  # with a reservation only
        self.running: dict[Signature, list[Rank]] = {}
        self.evicted: dict[Signature, list[Rank]] = {}

    def put(self, work: Work) -> None:
        """Take a workload by its present rank, signature and evicted state."""
        work.rank = rank = work.victim_rank()
        work.shelved_evicted = work.evicted
        side = self.evicted if work.shelved_evicted else self.running
        insort(side.setdefault(work.signature, []), rank)
        self.works[work] = None
        if not work.holds(ADMITTED):
            self.unadmitted[work] = None

    def drop(self, work: Work) -> None:
        """Forget a workload that was put."""
        side = self.evicted if work.shelved_evicted else self.running
        ranks = side[work.signature]
        index = bisect_left(ranks, work.rank)
        del ranks[index]
        if not ranks:
            del side[work.signature]
        del self.works[work]
        self.unadmitted.pop(work, None)

    def runs(
        self,
        needed: Collection[FlavorResource],
        policy: str,
        preemptor: Work,
        *,
        evicted: bool,
    ) -> list[Run]:
        """Return the runs of those holding any of `needed` that `policy` allows.

        Source: KUEUE.md 8.1.
        """
        side = self.evicted if evicted else self.running
        if not side or policy == NEVER:
            return []
        found = []
        for signature, ranks in side.items():
            if not signature.isdisjoint(needed):
                run = _run(ranks, policy, preemptor)
                if run.end:
                    found.append(run)
        return found


def _run(ranks: list[Rank], policy: str, preemptor: Work) -> Run:
    if policy == ANY:
        return Run(ranks, len(ranks), len(ranks), None)
    priority = preemptor.priority
    below = bisect_left(ranks, (priority,))
    if policy == LOWER_OR_NEWER:
        upto = bisect_left(ranks, (priority + 1,), lo=below)
        return Run(ranks, below, upto, preemptor.queued_us)
    return Run(ranks, below, below, None)


def below_priority(runs: Iterable[Run], priority: int) -> list[Run]:
    """Return the runs cut off before this priority."""
    cut = []
    for run in runs:
        end = bisect_left(run.ranks, (priority,), hi=run.end)
        if end:
            cut.append(Run(run.ranks, min(run.sure, end), end, run.after_us))
    return cut


def merged(runs: list[Run]) -> Iterator[Rank]:
    """Yield the ranks of all runs in victim order, lazily."""
    if len(runs) == 1:
        return iter(runs[0])
    return heapq.merge(*runs)
