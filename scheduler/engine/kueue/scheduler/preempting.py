"""The preemption strategy in force, with the rules it was given."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from scheduler.engine.kueue.cache.borrowers import Borrowers, Needed
from scheduler.engine.kueue.cache.known_searches import KnownSearches, SearchesNow
from scheduler.engine.kueue.flavorassigner.modes import Ranking
from scheduler.engine.kueue.preemption.targets import (
    Placement,
    Requests,
    Target,
    TargetSearch,
)
from scheduler.engine.kueue.scheduler.entries import Entry
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import SearchTally
from scheduler.model import registry
from scheduler.model.kueue.configuration import Settings


class ActivePreemption:
    """Looks the strategy and its rules up once; then only calls.

    `known` are its searches that need not be made again; what is asked for is added
    to the tally, as Kueue searches each time.
    """

    def __init__(self, settings: Settings, spent: SearchTally) -> None:
        self.strategy: Any = registry.lookup("preemption", settings.preemption)
        self.fair: bool = self.strategy.fair
        self.gates = settings.gates
        self.ranking = Ranking(
            settings.no_candidates_last, settings.preference_as_written
        )
        self.known = KnownSearches()
        self.spent = spent
        self.rules = tuple(
            registry.lookup("fair-strategy", name) for name in settings.strategies
        )

    def target_search(
        self,
        *,
        borrowers: Borrowers | None = None,
        known: SearchesNow | None = None,
        absent: Collection[WorkloadInfo] = (),
        trace: Trace | None = None,
    ) -> TargetSearch:
        """Return the search with everything bound but the question.

        `borrowers` and `known` may be shared by searches on the same state of the
        tree. What is known serves where nobody is absent and nothing is traced.
        """
        kept = known if trace is None and not absent else None
        found = borrowers if borrowers is not None else Borrowers()

        def search(
            work: WorkloadInfo,
            queue: ClusterQueue,
            requests: Requests,
            needed: Needed,
            placement: Placement | None = None,
        ) -> list[Target]:
            tally = SearchTally()
            targets = tallied(work, queue, requests, needed, placement, tally)
            if trace is None:
                self.spent.add(tally)
            return targets

        def tallied(
            work: WorkloadInfo,
            queue: ClusterQueue,
            requests: Requests,
            needed: Needed,
            placement: Placement | None,
            tally: SearchTally,
        ) -> list[Target]:
            tally.searches += 1
            targets: list[Target] = self.strategy.search(
                work,
                queue,
                requests,
                needed,
                borrowers=found,
                tally=tally,
                rules=self.rules,
                gates=self.gates,
                absent=absent,
                placement=placement,
                trace=trace,
            )
            return targets

        if kept is None:
            return search

        def known_or_searched(
            work: WorkloadInfo,
            queue: ClusterQueue,
            requests: Requests,
            needed: Needed,
            placement: Placement | None = None,
        ) -> list[Target]:
            answers = kept.of(queue.root) if placement is None else None
            if answers is None:
                return search(work, queue, requests, needed, placement)
            held = tuple(requests.items())
            question = (work, work.priority, work.queue_order_us, held, needed)
            if question not in answers:
                tally = SearchTally()
                answers[question] = (
                    tallied(work, queue, requests, needed, None, tally),
                    tally,
                )
            targets, cost = answers[question]
            self.spent.add(cost)
            return targets

        return known_or_searched

    def order(self, entries: Sequence[Entry]) -> Iterator[Entry]:
        """Yield the entries in the order in which they are processed."""
        ordered: Iterator[Entry] = self.strategy.order(entries, self.gates)
        return ordered
