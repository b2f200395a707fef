"""What a plug-in may see and do of the scheduler that runs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.nominations import Nominations
from scheduler.engine.kube.framework.candidate import Candidate
from scheduler.engine.kube.framework.status import CycleState, Status
from scheduler.engine.stage import Context
from scheduler.model.objects import Key
from scheduler.model.pod import Pod


class PodFilters(Protocol):
    """The filters of a profile, and the pods they take into account."""

    def filter_with(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, others: list[Pod]
    ) -> Status:
        """Return the first rejection, with the nominated pods and without them."""

    def add_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Put a pod on the node, in the plug-ins' state as well."""

    def remove_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Take a pod off the node, in the plug-ins' state as well."""


class Handle(Protocol):
    """What a plug-in may see and do of the scheduler that runs it."""

    context: Context
    cluster: ClusterCache
    nominations: Nominations
    framework: PodFilters

    def waiting(self) -> Iterable[Pod]:
        """Yield the pods that wait at Permit, in key order."""

    def allow(self, key: Key, plugin: str) -> None:
        """Allow a waiting pod on behalf of this plug-in."""

    def reject(self, key: Key, plugin: str, reason: str) -> None:
        """Reject a waiting pod."""

    def activate(self, keys: Iterable[Key]) -> None:
        """Move waiting-to-be-tried pods to the active queue at once."""

    def members(self, group: Key) -> Iterable[Pod]:
        """Return the known pods of a PodGroup or gang, finished ones not."""

    def ask_extenders(self, pod: Pod, candidates: list[Candidate]) -> list[Candidate]:
        """Let the extenders that preempt drop candidates or change victims."""

    def bind_volumes(self, pod: Key) -> None:
        """Bind the claims of a pod to the volumes that were assumed for it."""

    def bind_devices(self, pod: Pod) -> None:
        """Give a pod's claims the devices that were assumed for it."""

    def clear_nomination(self, pod: Pod) -> None:
        """Take a pod's nomination away, so that it is tried again."""

    def evict(self, victim: Pod, node: str, preemptor: Pod, plugin: str) -> None:
        """Remove a pod from its node to make room, as a plug-in chose."""
