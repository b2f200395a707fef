"""Fair sharing as a strategy, with its order of admission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.engine.kueue.preemption.fair import FairPreemption
from scheduler.engine.kueue.preemption.targets import PreemptionQuestion, Target
from scheduler.engine.kueue.scheduler.fair_sharing_iterator import fair_sharing_order
from scheduler.engine.kueue.scheduler.preempting import PreemptionStrategy
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.tree.quota import (
    PreemptorNewShare,
    TargetNewShare,
    TargetOldShare,
)
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


# ------------------------------------------------------------------------
# Rule S2-a: the preemptor may not end up above the share its victim falls to.


@register(
    "fair-strategy",
    "LessThanOrEqualToFinalShare",
    label="At most the victim's share afterwards",
    help="A workload of another ClusterQueue is preempted if the preemptor's share, "
    "with its request, is at most the share that the victim's side is left with.",
)
def at_most_final_share(
    preemptor: PreemptorNewShare, before: TargetOldShare, after: TargetNewShare
) -> bool:
    """Return whether this strategy lets the victim be preempted.

    Source: docs/semantics/kueue.md#lessthanorequaltofinalshare.
    """
    return preemptor <= after


# ------------------------------------------------------------------------
# Rule S2-b: the preemptor must stay below the share its victim had.


@register(
    "fair-strategy",
    "LessThanInitialShare",
    label="Less than the victim's share before",
    help="A workload of another ClusterQueue is preempted if the preemptor's share, "
    "with its request, is strictly below the share that the victim's side has now.",
)
def less_than_initial_share(
    preemptor: PreemptorNewShare, before: TargetOldShare, after: TargetNewShare
) -> bool:
    """Return whether this strategy lets the victim be preempted.

    Source: docs/semantics/kueue.md#lessthaninitialshare.
    """
    return preemptor < before
