"""The same search for victims, with everything it tried written down."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.framework.candidate import Candidate
from scheduler.engine.kube.framework.status import CycleState, Status
from scheduler.engine.kube.framework.verdicts import Verdicts
from scheduler.engine.kube.preemption.dry_run import DryRun, VictimSearch
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

#: Of the nodes that are not tried at most this many have their reasons kept.
MOST = 200


@dataclass(slots=True)
class NodeTrial:
    """What was tried on the copy of one node."""

    removed: list[Pod]  # the most important first
    protected: list[Pod] = field(default_factory=list)  # a budget is used up
    put_back: list[tuple[Pod, Status]] = field(default_factory=list)
    result: Candidate | Status | None = None


class TracedSearch(VictimSearch):
    """Decides as its parent does; an explanation reads what is kept here."""

    pod: Pod | None = None
    run: DryRun | None = None
    wanted = 0
    names: tuple[str, ...] = ()  # where removing pods may help, in the order tried
    compared: tuple[Candidate, ...] = ()
    tied: tuple[Candidate, ...] = ()
    unhelped: dict[str, str]  # node -> why removing pods may not help there
    budgets: dict[Key, int]
    nodes: dict[str, NodeTrial]

    def note_verdicts(self, verdicts: Verdicts, helpable: Collection[str]) -> None:
        """Keep why the other nodes are not even tried; the first few suffice."""
        others = [
            (row, name)
            for row, name in enumerate(verdicts.node_table.names)
            if name not in helpable
        ]
        self.unhelped = {
            name: ", ".join(verdicts.status(row).reasons) for row, name in others[:MOST]
        }

    def try_nodes(
        self, state: CycleState, pod: Pod, names: Iterable[str], wanted: int
    ) -> DryRun:
        """Dry-run nodes, and keep what was asked and what came of it."""
        self.pod, self.names, self.wanted = pod, tuple(names), wanted
        self.budgets, self.nodes = self.allowed(), {}
        self.run = super().try_nodes(state, pod, self.names, wanted)
        return self.run

    def victims_on(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, rivals: list[Pod]
    ) -> Candidate | Status:
        """Try one node, and keep its pods of lower priority and the result."""
        lower = [p for p in node_info.pods.values() if p.priority < pod.priority]
        tried = NodeTrial(sorted(lower, key=self.importance))
        self.nodes[node_info.node.name] = tried
        tried.result = super().victims_on(state, pod, node_info, rivals)
        return tried.result

    def put_back(
        self,
        state: CycleState,
        pod: Pod,
        node_info: NodeInfo,
        rivals: list[Pod],
        other: Pod,
    ) -> Status:
        """Put a pod back, and keep whether the preemptor fits beside it."""
        status = super().put_back(state, pod, node_info, rivals, other)
        self.nodes[node_info.node.name].put_back.append((other, status))
        return status

    def _protected(self, pods: list[Pod]) -> tuple[list[Pod], list[Pod]]:
        protected, others = super()._protected(pods)
        list(self.nodes.values())[-1].protected = protected
        return protected, others

    def least_harm(self, candidates: list[Candidate]) -> list[Candidate]:
        """Compare candidates, and keep those compared and those left."""
        found = super().least_harm(candidates)
        self.compared, self.tied = tuple(candidates), tuple(found)
        return found
