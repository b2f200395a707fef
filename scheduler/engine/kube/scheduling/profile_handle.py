"""What the plug-ins of one profile see and do of their scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import NodeInfo, Nominations, View
from scheduler.engine.kube.extender.extenders import Extenders
from scheduler.engine.kube.framework.plugin import (
    MAX_SCORE,
    Candidate,
    Plugin,
    PodFilters,
    QueuedPodInfo,
)
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    Code,
    CycleState,
    Fixed,
    Status,
)
from scheduler.engine.kube.queue.heaps import SortKey
from scheduler.engine.kube.scheduling.host import AssumedPod, SchedulerHost
from scheduler.engine.stage import Context
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.proposals import Asking, FittingNode, WaitingPod
from scheduler.model.releases.rules import BINDING, PERMITTED


class PodScheduler(Protocol):
    """A scheduler as the handle of its plug-ins addresses it."""

    context: Context
    host: SchedulerHost
    cluster: ClusterCache
    nominations: Nominations
    extenders: Extenders
    assumed: dict[Key, AssumedPod]
    to_activate: list[Key]

    def allow(self, key: Key, plugin: str) -> None:
        """Drop a plug-in from those a pod waits for."""

    def signal(self, key: Key, status: Status) -> None:
        """Note a rejection or error for an assumed pod."""

    def nominate(self, pod: Pod, node: str) -> None:
        """Nominate the pod to a node; "" takes the nomination away."""


class ProfileHandle:
    """What the plug-ins of one profile see and do."""

    framework: PodFilters

    def __init__(self, scheduler: PodScheduler) -> None:
        self._scheduler = scheduler
        self.context = scheduler.context
        self.cluster = scheduler.cluster
        self.nominations = scheduler.nominations

    def waiting(self) -> Iterator[Pod]:
        """Yield the pods that wait at Permit, in key order."""
        assumed = self._scheduler.assumed
        return (assumed[key].pod for key in sorted(assumed) if assumed[key].waits)

    def allow(self, key: Key, plugin: str) -> None:
        """Allow a waiting pod on behalf of this plug-in."""
        self._scheduler.allow(key, plugin)

    def reject(self, key: Key, plugin: str, reason: str) -> None:
        """Reject a waiting pod."""
        self._scheduler.signal(key, Status(Code.UNSCHEDULABLE, (reason,), plugin))

    def activate(self, keys: Iterable[Key]) -> None:
        """Move waiting-to-be-tried pods to the active queue once the cycle is over."""
        self._scheduler.to_activate += keys

    def members(self, group: Key) -> Iterable[Pod]:
        """Return the known pods with the label of a PodGroup, finished ones not."""
        return self._scheduler.host.group_members(group)

    def ask_extenders(self, pod: Pod, candidates: list[Candidate]) -> list[Candidate]:
        """Let the extenders that preempt drop candidates or change victims."""
        extenders = self._scheduler.extenders
        return extenders.preempt(pod, candidates, self.cluster)[0]

    def bind_volumes(self, pod: Key) -> None:
        """Bind the claims of a pod to the volumes that were assumed for it."""
        self._scheduler.host.bind_volumes(pod)

    def bind_devices(self, pod: Pod) -> None:
        """Give a pod's claims the devices that were assumed for it."""
        self._scheduler.host.bind_devices(pod)

    def clear_nomination(self, pod: Pod) -> None:
        """Take a pod's nomination away."""
        self._scheduler.nominate(pod, "")

    def evict(self, victim: Pod, node: str, preemptor: Pod, plugin: str) -> None:
        """Remove a pod from its node; one not bound yet is turned back, by its release."""
        assumed = self._scheduler.assumed.get(victim.key)
        release = self.context.decides_as
        if assumed is not None and assumed.waits and not PERMITTED.holds(release):
            self.reject(victim.key, plugin, "preempted")
        elif assumed is not None and (assumed.waits or BINDING.holds(release)):
            status = Status(Code.ERROR, (f"preempted by {preemptor.key.path}",))
            self._scheduler.signal(victim.key, status)
        else:
            self._scheduler.host.remove_victim(victim, node, preemptor, plugin)


# ------------------------------------------------------------------------
# A proposal beside the plug-ins of kube-scheduler: the order of pods and of nodes.


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
