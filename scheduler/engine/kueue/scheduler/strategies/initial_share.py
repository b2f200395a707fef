"""Rule S2-b: the preemptor must stay below the share its victim had."""

from __future__ import annotations

from scheduler.engine.kueue.tree.shares import (
    PreemptorNewShare,
    TargetNewShare,
    TargetOldShare,
)
from scheduler.model.registry import register


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
    """Return whether the victim may go.

    Source: docs/semantics/kueue.md#lessthaninitialshare.
    """
    return preemptor < before
