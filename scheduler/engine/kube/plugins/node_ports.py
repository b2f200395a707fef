"""NodePorts: two pods cannot hold the same host port on one node."""

from __future__ import annotations

import numpy as np

from scheduler.engine.kube.cache.node_info import Codes, NodeInfo, View, ports_conflict
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Event, Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    Code,
    CycleState,
    Status,
    unschedulable,
)
from scheduler.model.pod import Pod
from scheduler.model.registry import register


@register(
    "plugin",
    "NodePorts",
    label="Host ports",
    help="Filters out nodes where a host port that the pod wants is taken.",
)
class NodePorts(Plugin):
    """Source: docs/semantics/kube-scheduler.md#host-ports."""

    name = "NodePorts"
    scope = "row"
    reason = "node(s) didn't have free ports for the requested pod ports"

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Skip a pod without host ports."""
        return (OK if pod.shape.ports else SKIP), None

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node where a wanted port is taken."""
        if pod.shape.ports and node_info.conflicts(pod.shape.ports):
            return unschedulable(self.reason)
        return OK

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Reject the rows where a wanted port is taken."""
        wrong, wanted = int(Code.UNSCHEDULABLE), pod.shape.ports
        return view.each(
            lambda node_info: (
                wrong if node_info.ports and node_info.conflicts(wanted) else 0
            ),
            np.int8,
        )

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a wanted port is freed or a node comes."""
        return {plugin.POD_DELETED: _frees, plugin.NODE_ADDED: None}


def _frees(pod: Pod, event: Event) -> bool:
    held = dict.fromkeys(event.pod.shape.ports, 1)
    return ports_conflict(pod.shape.ports, held)
