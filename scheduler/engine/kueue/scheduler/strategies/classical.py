"""Classical preemption as a strategy, with its order of admission."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from scheduler.engine.kueue.cache.candidates import Borrowers, Needed
from scheduler.engine.kueue.preemption.classical import ClassicalPreemption
from scheduler.engine.kueue.preemption.fair import FairSharingStrategy
from scheduler.engine.kueue.preemption.targets import Placement, Requests, Target
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import SearchTally
from scheduler.model.kueue.feature_gates import DEFAULT_FEATURE_GATES, FeatureGates
from scheduler.model.registry import register


@register(
    "preemption",
    "Classical",
    label="Classical",
    help="Lent quota is reclaimed and lower priorities make room; entries that "
    "borrow least go first.",
)
class Classical:
    """Source: docs/semantics/kueue.md#order-of-entries."""

    fair = False

    @staticmethod
    def search(
        work: WorkloadInfo,
        queue: ClusterQueue,
        requests: Requests,
        needed: Needed,
        *,
        borrowers: Borrowers,
        tally: SearchTally,
        rules: Sequence[FairSharingStrategy] = (),
        gates: FeatureGates = DEFAULT_FEATURE_GATES,
        absent: Collection[WorkloadInfo] = (),
        placement: Placement | None = None,
        trace: Trace | None = None,
    ) -> list[Target]:
        """Return the workloads to preempt; add the cost of the search to the tally."""
        search = ClassicalPreemption(
            work,
            queue,
            requests,
            needed,
            borrowers=borrowers,
            tally=tally,
            absent=absent,
            placement=placement,
            trace=trace,
        )
        return search.find()

    @staticmethod
    def order(
        entries: Sequence[Entry], gates: FeatureGates = DEFAULT_FEATURE_GATES
    ) -> Iterator[Entry]:
        """Yield entries: those that hold quota already, then those that
        borrow lowest, then by priority, then by age.
        """
        weighs = gates.sorts_by_priority
        yield from sorted(
            entries,
            key=lambda entry: (
                not entry.second_pass,
                entry.borrow,
                -entry.work.priority if weighs else 0,
                entry.work.queue_order_us,
                entry.work.uid,
            ),
        )
