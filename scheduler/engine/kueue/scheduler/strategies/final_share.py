"""Rule S2-a: the preemptor may not end up above the share its victim falls to."""

from __future__ import annotations

from scheduler.engine.kueue.tree.quota import (
    PreemptorNewShare,
    TargetNewShare,
    TargetOldShare,
)
from scheduler.model.registry import register


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
