"""Why no node, or which: the verdict of the filters on every node, for one pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.node_table import Codes, NodeTable, Rows, View
from scheduler.engine.kube.framework.status import Code, CycleState, Status
from scheduler.model.pod import Pod

_NONE, _SPECIAL = -1, -2


class NodeFilter(Protocol):
    """What a plug-in answers about one node, and about several at once."""

    @property
    def name(self) -> str:
        """Return the plug-in's name."""

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Return whether the pod may run on the node."""

    def histogram(self, state: CycleState, pod: Pod, view: View) -> dict[str, int]:
        """Count the reasons of the rows of the view, which it rejected."""


@dataclass(slots=True)
class Verdicts:
    """Codes by row and who gave them; the reasons are worked out on demand.

    `special` holds the rows whose status no plug-in's filter alone explains:
    excluded by PreFilter, crowded by nominated pods, refused by an extender.
    `rejected` is set when PreFilter turned the pod away from every node.
    """

    filters: Sequence[NodeFilter]
    state: CycleState
    pod: Pod
    node_table: NodeTable
    codes: Codes
    rejector: Codes
    special: dict[int, Status] = field(default_factory=dict)
    rejected: Status | None = None

    def override(self, row: int, status: Status) -> None:
        """Set the status of one row."""
        self.special[row] = status
        self.codes[row] = int(status.code)
        self.rejector[row] = _NONE if status.ok else _SPECIAL

    def status(self, row: int) -> Status:
        """Return the full status of a row, reasons and all."""
        if self.rejected is not None:
            return self.rejected
        if row in self.special:
            return self.special[row]
        index = int(self.rejector[row])
        if index == _NONE:
            return Status()
        plugin = self.filters[index]
        node_info = self.node_table.node_infos[row]
        return plugin.filter(self.state, self.pod, node_info).by(plugin.name)

    def feasible(self) -> Rows:
        """Return the rows that passed."""
        if self.rejected is not None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.codes == 0)

    def helpable(self) -> Rows:
        """Return the rows where removing pods may help."""
        if self.rejected is not None:
            whole = self.rejected.code is Code.UNSCHEDULABLE
            return np.arange(self.node_table.size if whole else 0)
        return np.flatnonzero(self.codes == int(Code.UNSCHEDULABLE))

    def plugins(self) -> list[str]:
        """Return the names of the plug-ins that rejected a node, sorted."""
        if self.rejected is not None:
            return [self.rejected.plugin]
        names = {self.filters[i].name for i in self._rejectors()}
        names |= {s.plugin for s in self.special.values() if not s.ok and s.plugin}
        return sorted(names)

    def _rejectors(self) -> Iterator[int]:
        return (int(index) for index in np.unique(self.rejector) if index >= 0)

    def histogram(self) -> dict[str, int]:
        """Count the nodes of every reason."""
        counts: dict[str, int] = {}
        for index in self._rejectors():
            view = self.node_table.only(np.flatnonzero(self.rejector == index))
            plugin = self.filters[index]
            for reason, n in plugin.histogram(self.state, self.pod, view).items():
                counts[reason] = counts.get(reason, 0) + n
        for status in self.special.values():
            if not status.ok:
                for reason in status.reasons:
                    counts[reason] = counts.get(reason, 0) + 1
        return counts

    def message(self, after: str = "") -> str:
        """Return the sentence of the PodScheduled condition.

        `after` is what PostFilter had to say.
        """
        if self.rejected is not None:
            return no_node(self.node_table.size, self.rejected.message, after)
        return no_node(self.node_table.size, counted(self.histogram()), after)


def counted(counts: dict[str, int]) -> str:
    """Return "2 Insufficient cpu, 1 Too many pods", sorted as texts."""
    return ", ".join(sorted(f"{n} {reason}" for reason, n in counts.items()))


def no_node(nodes: int, reasons: str, after: str = "") -> str:
    """Return kube-scheduler's sentence for a pod that found no node."""
    text = f"0/{nodes} nodes are available:"
    if reasons:
        text += f" {reasons}."
    return f"{text} {after}" if after else text
