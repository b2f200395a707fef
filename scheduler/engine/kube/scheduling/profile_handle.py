"""What the plug-ins of one profile see and do of their scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import Nominations
from scheduler.engine.kube.extender.extenders import Extenders
from scheduler.engine.kube.framework.plugin import Candidate, PodFilters
from scheduler.engine.kube.framework.status import Code, Status
from scheduler.engine.kube.scheduling.host import AssumedPod, SchedulerHost
from scheduler.engine.stage import Context
from scheduler.model.objects import Key
from scheduler.model.pod import Pod


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
        """Remove a pod from its node; one not bound yet is just turned back."""
        if victim.key in self._scheduler.assumed:
            status = Status(Code.ERROR, (f"preempted by {preemptor.key.path}",))
            self._scheduler.signal(victim.key, status)
        else:
            self._scheduler.host.remove_victim(victim, node, preemptor, plugin)
