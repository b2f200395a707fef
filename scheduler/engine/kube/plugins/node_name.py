"""NodeName: a pod that names its node goes nowhere else."""

from __future__ import annotations

import numpy as np

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.node_table import Codes, View
from scheduler.engine.kube.framework import events
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


@register(
    "plugin",
    "NodeName",
    label="Named node",
    help="Filters out every node but the one in spec.nodeName, when that is set.",
)
class NodeName(Plugin):
    """Source: docs/semantics/kube-scheduler.md#filters."""

    name = "NodeName"
    scope = "node"
    reason = "node(s) didn't match the requested node name"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node of another name."""
        if not pod.wanted_node or pod.wanted_node == node_info.node.name:
            return OK
        return unresolvable(self.reason)

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Reject the rows of other names."""
        if not pod.wanted_node:
            return view.full(0, np.int8)
        wrong = int(Code.UNRESOLVABLE)
        return view.each(
            lambda node_info: 0 if node_info.node.name == pod.wanted_node else wrong,
            np.int8,
        )

    def hints(self) -> dict[str, Hint | None]:
        """Try again when the named node comes."""
        return {
            events.NODE_ADDED: lambda pod, event: event.node.name == pod.wanted_node
        }
