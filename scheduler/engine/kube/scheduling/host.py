"""What a scheduler asks of the run that it is part of: locks, bindings, deletions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.framework.framework import Framework
from scheduler.engine.kube.framework.plugin import Event, QueuedPodInfo
from scheduler.engine.kube.framework.status import CycleState, Status
from scheduler.model.objects import Key
from scheduler.model.pod import Pod


class SchedulerRef(Protocol):
    """A scheduler as its host addresses it."""

    name: str
    cluster: ClusterCache

    def bound(self, key: Key) -> None:
        """Note that an assumed pod is bound."""

    def event(self, event: Event) -> None:
        """Let an event wake the pods it may help."""


class SchedulerHost(Protocol):
    """What a scheduler asks of the stage that it runs in."""

    bind_latency_ms: int

    def lock(self, scheduler: SchedulerRef, node: str) -> None:
        """Keep a node for this scheduler until it is unlocked."""

    def unlock(self, scheduler: SchedulerRef, node: str) -> None:
        """Let others have the node again."""

    def locked_for(self, scheduler: SchedulerRef) -> frozenset[str]:
        """Return the nodes that other schedulers keep."""

    def commit(self, scheduler: SchedulerRef, assumed: AssumedPod) -> Status:
        """Write a binding; an error when it was refused."""

    def remove_victim(
        self, victim: Pod, node: str, preemptor: Pod, plugin: str
    ) -> None:
        """Ask that a bound pod be deleted to make room, as a plug-in chose."""

    def group_members(self, group: Key) -> Iterable[Pod]:
        """Return the known pods of a PodGroup."""

    def bind_volumes(self, pod: Key) -> None:
        """Bind the claims of a pod to the volumes that were assumed for it."""

    def bind_devices(self, pod: Pod) -> None:
        """Give a pod's claims the devices that were assumed for it."""

    def version(self, scheduler: SchedulerRef, node: str) -> int:
        """Return how often others than this scheduler changed the node's pods."""

    def node_version(self, node: str) -> int:
        """Return the node's version, which every change raises by one."""


# ------------------------------------------------------------------------
# A pod with a node that it is not bound to yet.


@dataclass(slots=True, kw_only=True, eq=False)
class AssumedPod:
    """A pod with a node that it is not bound to yet."""

    queued: QueuedPodInfo
    node: str
    framework: Framework
    state: CycleState = field(default_factory=CycleState)
    waits: dict[str, int] = field(default_factory=dict)  # plug-in -> deadline (ms)
    waited_ms: dict[str, int] = field(default_factory=dict)  # plug-in -> its timeout
    bind_at: int | None = None  # when the binding is written
    seen: int = 0  # how often others had changed the node when it was chosen
    read: int = 1  # version of the node then
    deleted: bool = False  # while it waited: ends once its rejection is through
    order: int = 0  # which of the assumed ones came first

    @property
    def pod(self) -> Pod:
        """Return the pod."""
        return self.queued.pod
