"""TaintToleration: hard taints filter, soft ones (PreferNoSchedule) score."""

from __future__ import annotations

import numpy as np

from scheduler.engine.kube.cache.node_info import Codes, Ints, NodeInfo, View
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import MAX_SCORE, Event, Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    Code,
    CycleState,
    Status,
    unresolvable,
)
from scheduler.model.pod import Pod
from scheduler.model.registry import register
from scheduler.model.selectors import HARD_EFFECTS, Taint, Toleration, tolerated

_SOFT = "PreferNoSchedule"


@register(
    "plugin",
    "TaintToleration",
    label="Taints and tolerations",
    help="Filters out nodes with a NoSchedule or NoExecute taint that the pod does "
    "not tolerate; prefers nodes with fewer PreferNoSchedule taints.",
)
class TaintToleration(Plugin):
    """Source: docs/semantics/kube-scheduler.md#taints-and-tolerations."""

    name = "TaintToleration"
    scope = "node"
    reason = "node(s) had untolerated taint(s)"
    normalizes_by_peak = True
    idle_points = ("pre_score",)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node with a hard taint that the pod does not tolerate."""
        if refuses(node_info.node.taints, pod.shape.tolerations):
            return unresolvable(self.reason)
        return OK

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Reject the rows with such a taint; equal taints are read once."""
        wrong = int(Code.UNRESOLVABLE)
        return view.by_taints(
            lambda taints: wrong if refuses(taints, pod.shape.tolerations) else 0,
            np.int8,
        )

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return how many soft taints the pod does not tolerate."""
        return soft_taints(node_info.node.taints, pod.shape.tolerations)

    def score_rows(self, state: CycleState, pod: Pod, view: View) -> Ints:
        """Return the number of such taints for every row."""
        return view.by_taints(
            lambda taints: soft_taints(taints, pod.shape.tolerations), np.int64
        )

    def normalize(self, state: CycleState, pod: Pod, view: View, raw: Ints) -> Ints:
        """Give the node with the most such taints 0, one without any 100."""
        peak = int(raw.max(initial=0))
        if peak == 0:
            return np.full(len(raw), MAX_SCORE, dtype=np.int64)
        return MAX_SCORE - MAX_SCORE * raw // peak

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a node's taints became tolerable."""
        return {plugin.NODE_ADDED: _tolerable, plugin.NODE_CHANGED: _tolerable}


def refuses(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> bool:
    """Return whether a hard taint is not tolerated."""
    return any(
        taint.effect in HARD_EFFECTS and not tolerated(taint, tolerations)
        for taint in taints
    )


def soft_taints(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> int:
    """Count the PreferNoSchedule taints that are not tolerated."""
    soft = tuple(t for t in tolerations if t.effect in ("", _SOFT))
    return sum(t.effect == _SOFT and not tolerated(t, soft) for t in taints)


def _tolerable(pod: Pod, event: Event) -> bool:
    before, held = event.old_node, pod.shape.tolerations
    was_refused = before is None or refuses(before.taints, held)
    return was_refused and not refuses(event.node.taints, held)
