"""Fair sharing as a strategy, with its order of admission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.engine.kueue.preemption.fair import FairPreemption
from scheduler.engine.kueue.preemption.targets import PreemptionQuestion, Target
from scheduler.engine.kueue.scheduler.fair_sharing_iterator import fair_sharing_order
from scheduler.engine.kueue.scheduler.preempting import PreemptionStrategy
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.model.kueue.feature_gates import FeatureGates
from scheduler.model.registry import register


@register(
    "preemption",
    "FairSharing",
    label="Fair sharing",
    help="The ClusterQueue whose weighted share would stay lowest goes first; who "
    "borrowed the largest share yields.",
)
class FairSharing(PreemptionStrategy):
    """Source: docs/semantics/kueue.md#fair-sharing-tournament."""

    fair = True

    @staticmethod
    def search(question: PreemptionQuestion) -> list[Target]:
        """Return the workloads to preempt."""
        return FairPreemption(question).find()

    @staticmethod
    def order(entries: Sequence[Entry], gates: FeatureGates) -> Iterator[Entry]:
        """Yield entries, lowest resulting share first, looking again after each."""
        return fair_sharing_order(entries, gates)
