"""Fair sharing as a strategy, with its order of admission."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from scheduler.engine.kueue.cache.candidates import Borrowers, Needed
from scheduler.engine.kueue.preemption.fair import FairPreemption, FairSharingStrategy
from scheduler.engine.kueue.preemption.targets import Placement, Requests, Target
from scheduler.engine.kueue.scheduler.fair_sharing_iterator import fair_sharing_order
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import SearchTally
from scheduler.model.kueue.feature_gates import DEFAULT_FEATURE_GATES, FeatureGates
from scheduler.model.registry import register


@register(
    "preemption",
    "FairSharing",
    label="Fair sharing",
    help="The ClusterQueue whose weighted share would stay lowest goes first; who "
    "borrowed the largest share yields.",
)
class FairSharing:
    """Source: docs/semantics/kueue.md#fair-sharing-tournament."""

    fair = True

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
        search = FairPreemption(
            work,
            queue,
            requests,
            needed,
            borrowers=borrowers,
            tally=tally,
            rules=rules,
            nominal_without_strategy=gates.nominal_without_strategy,
            absent=absent,
            placement=placement,
            trace=trace,
        )
        return search.find()

    @staticmethod
    def order(
        entries: Sequence[Entry], gates: FeatureGates = DEFAULT_FEATURE_GATES
    ) -> Iterator[Entry]:
        """Yield entries, lowest resulting share first, looking again after each."""
        return fair_sharing_order(entries, gates)
