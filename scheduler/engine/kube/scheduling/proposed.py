"""A proposal beside the plug-ins of kube-scheduler: the order of pods and of nodes."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.engine.kube.cache.node_info import NodeInfo, View
from scheduler.engine.kube.framework.plugin import MAX_SCORE, Plugin, QueuedPodInfo
from scheduler.engine.kube.framework.status import OK, SKIP, CycleState, Fixed, Status
from scheduler.engine.kube.queue.heaps import SortKey
from scheduler.engine.stage import Context
from scheduler.model.pod import Pod
from scheduler.model.proposals import Asking, FittingNode, WaitingPod


def _pod(pod: Pod, context: Context) -> WaitingPod:
    return WaitingPod(
        name=pod.key.path,
        labels=pod.labels,
        priority=pod.priority,
        created_ms=context.ms(pod.created_us),
        requests=pod.shape.requests.exact,
    )


def _node(info: NodeInfo) -> FittingNode:
    return FittingNode(
        name=info.node.name,
        labels=info.node.labels,
        allocatable=info.node.allocatable,
        requested=info.requested,
        pods=len(info.pods),
    )


def pods_in_order(proposal: Asking | None, context: Context, key: SortKey) -> SortKey:
    """Return the sort key of a queue in which the proposal comes before `key`."""
    if proposal is None or "pod_order" not in proposal.overridden:
        return key

    def proposed(queued: QueuedPodInfo) -> tuple[object, ...]:
        place = proposal.number("pod_order", _pod(queued.pod, context))
        return place, *key(queued)

    return proposed


@dataclass(frozen=True, slots=True)
class _First(Fixed):
    """The nodes that the proposal has first."""

    names: frozenset[str]


class ProposedNodes(Plugin):
    """Scores the nodes that a proposal has first above what all others give."""

    name = "Proposal"

    def pre_score(self, state: CycleState, pod: Pod, view: View) -> Status:
        """Ask for the place of each feasible node; skip where all are equal."""
        context = self.handle.context
        seen = _pod(pod, context)
        places = {
            info.node.name: self.args.number(
                "node_order", seen, _node(info), context.now_ms
            )
            for info in view.node_infos
        }
        least = min(places.values(), default=0)
        first = frozenset(name for name, place in places.items() if place == least)
        state.data[self.name] = _First(first)
        return SKIP if len(first) == len(places) else OK

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return the most for a node that is first, else nothing."""
        first = state.data[self.name]
        assert isinstance(first, _First)
        return MAX_SCORE if node_info.node.name in first.names else 0
