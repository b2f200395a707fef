"""Statuses that plug-ins answer with, and the state one pod's cycle carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol, Self

import numpy as np

from scheduler.engine.kube.cache.node_info import Codes, NodeInfo, NodeTable, Rows, View
from scheduler.model.pod import Pod


class Code(IntEnum):
    """What a plug-in said; the order is of no meaning."""

    SUCCESS = 0
    UNSCHEDULABLE = 1
    UNRESOLVABLE = 2
    PENDING = 3
    ERROR = 4
    WAIT = 5
    SKIP = 6

    @property
    def text(self) -> str:
        """Return the name that kube-scheduler prints."""
        return _TEXTS[self]

    @property
    def rejected(self) -> bool:
        """Return whether it is a rejection, which is no error."""
        return Code.UNSCHEDULABLE <= self <= Code.PENDING


_TEXTS = {
    Code.SUCCESS: "Success",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.PENDING: "Pending",
    Code.ERROR: "Error",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
}


@dataclass(frozen=True, slots=True)
class Status:
    """A code, the reasons for it, and the plug-in that gave it."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def ok(self) -> bool:
        """Return whether the status is Success."""
        return self.code is Code.SUCCESS

    @property
    def message(self) -> str:
        """Return the reasons as one sentence part."""
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """Return the status with the plug-in named, unless it names one."""
        return self if self.plugin else Status(self.code, self.reasons, plugin)


OK = Status()
#: A rejection by those that its verdicts name.
REJECTED = Status(Code.UNSCHEDULABLE)
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Return a rejection that preemption may turn."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Return a rejection that removing pods from the node cannot turn."""
    return Status(Code.UNRESOLVABLE, reasons)


def error(reason: str) -> Status:
    """Return a failure of the plug-in itself: the pod is tried again."""
    return Status(Code.ERROR, (reason,))


class Copied(Protocol):
    """A piece of cycle state that a dry run may change."""

    def copy(self) -> Any:
        """Return a copy that shares nothing that changes."""


class Fixed:
    """A piece of cycle state that no dry run changes."""

    __slots__ = ()

    def copy(self) -> Self:
        """Return itself."""
        return self


@dataclass(slots=True)
class CycleState:
    """What the plug-ins of one cycle leave for each other and for themselves.

    Keyed by plug-in name; a dry run of preemption works on a `copy`.
    """

    data: dict[str, Copied] = field(default_factory=dict)
    skip_filter: set[str] = field(default_factory=set)
    skip_score: set[str] = field(default_factory=set)

    def copy(self) -> CycleState:
        """Return a state that can be changed without touching this one."""
        data = {name: value.copy() for name, value in self.data.items()}
        return CycleState(data, self.skip_filter, self.skip_score)


# ------------------------------------------------------------------------
# Why no node, or which: the verdict of the filters on every node, for one pod.


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
        nodes = np.bincount(self.rejector - _SPECIAL).tolist()
        return (n + _SPECIAL for n in range(-_SPECIAL, len(nodes)) if nodes[n])

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
