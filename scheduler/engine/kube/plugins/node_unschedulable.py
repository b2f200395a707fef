"""NodeUnschedulable: a cordoned node takes no pod that does not tolerate it."""

from __future__ import annotations

import numpy as np

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.node_table import Codes, View
from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.framework.plugin import Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    Code,
    CycleState,
    Status,
    unresolvable,
)
from scheduler.model.pod import Pod
from scheduler.model.registry import register
from scheduler.model.selectors import Taint, tolerated

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


@register(
    "plugin",
    "NodeUnschedulable",
    label="Cordoned nodes",
    help="Filters out nodes with spec.unschedulable, unless the pod tolerates it.",
)
class NodeUnschedulable(Plugin):
    """Source: docs/semantics/kube-scheduler.md#filters."""

    name = "NodeUnschedulable"
    scope = "node"
    reason = "node(s) were unschedulable"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a cordoned node."""
        if not node_info.node.unschedulable or tolerated(CORDON, pod.shape.tolerations):
            return OK
        return unresolvable(self.reason)

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Reject the cordoned rows."""
        if tolerated(CORDON, pod.shape.tolerations):
            return view.full(0, np.int8)
        return view.unschedulable.astype(np.int8) * np.int8(Code.UNRESOLVABLE)

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a node comes or is uncordoned."""
        return {events.NODE_ADDED: _open, events.NODE_CHANGED: _open}


def _open(pod: Pod, event: Event) -> bool:
    before = event.old_node
    return not event.node.unschedulable and (before is None or before.unschedulable)
