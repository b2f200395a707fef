"""What a process and its plug-ins hold of each other: held pods, handles, the house."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from scheduler.kube.framework.framework import Framework
from scheduler.kube.framework.status import (
    Code,
    CycleState,
    Status,
)
from scheduler.kube.preemption.dry_run import Candidate
from scheduler.kube.queue.scheduling_queue import Queued
from scheduler.records.objects import Key
from scheduler.records.pod import Pod

if TYPE_CHECKING:
    from scheduler.kube.scheduling.event_handlers import Desk


@dataclass(slots=True, kw_only=True, eq=False)
class Held:
    """A pod with a node that it is not bound to yet."""

    queued: Queued
    node: str
    framework: Framework
    state: CycleState = field(default_factory=CycleState)
    waits: dict[str, int] = field(default_factory=dict)  # plug-in -> deadline (ms)
    waited_ms: dict[str, int] = field(default_factory=dict)  # plug-in -> its timeout
    bind_at: int | None = None  # when the binding is written
    seen: int = 0  # version of the node when it was chosen
    order: int = 0  # which of those held came first

    @property
    def pod(self) -> Pod:
        """Return the pod."""
        return self.queued.pod


class House(Protocol):
    """What a process asks of the stage that it runs in."""

    bind_latency_ms: int

    def lock(self, process: Desk, node: str) -> None:
        """Keep a node for this process until it is unlocked."""

    def unlock(self, process: Desk, node: str) -> None:
        """Let others have the node again."""

    def locked_for(self, process: Desk) -> frozenset[str]:
        """Return the nodes that other processes keep."""

    def commit(self, process: Desk, held: Held) -> Status:
        """Write a binding; an error when it was refused."""

    def remove_victim(self, victim: Pod, node: str, preemptor: Pod) -> None:
        """Ask that a bound pod be deleted to make room."""

    def group_members(self, group: Key) -> Iterable[Pod]:
        """Return the known pods of a PodGroup."""

    def version(self, process: Desk, node: str) -> int:
        """Return how often others than this process changed the node's pods."""


class ProfileHandle:
    """What the plug-ins of one profile see and do."""

    framework: Framework

    def __init__(self, process: Desk) -> None:
        self._process = process
        self.context = process.context
        self.cluster = process.cluster
        self.nominations = process.nominations

    def waiting(self) -> Iterator[Pod]:
        """Yield the pods that wait at Permit, in key order."""
        held = self._process.held
        return (held[key].pod for key in sorted(held) if held[key].waits)

    def allow(self, key: Key, plugin: str) -> None:
        """Say that a waiting pod need not wait for this plug-in any more."""
        self._process.allow(key, plugin)

    def reject(self, key: Key, plugin: str, reason: str) -> None:
        """Reject a waiting pod."""
        self._process.signal(key, Status(Code.UNSCHEDULABLE, (reason,), plugin))

    def activate(self, keys: Iterable[Key]) -> None:
        """Move waiting-to-be-tried pods to the active queue once the cycle is over."""
        self._process.to_activate += keys

    def members(self, group: Key) -> Iterable[Pod]:
        """Return the known pods with the label of a PodGroup, finished ones not."""
        return self._process.house.group_members(group)

    def ask_extenders(self, pod: Pod, candidates: list[Candidate]) -> list[Candidate]:
        """Let the extenders that preempt drop candidates or change victims."""
        extenders = self._process.extenders
        return extenders.preempt(pod, candidates, self.cluster)[0]

    def denominate(self, pod: Pod) -> None:
        """Take a pod's nomination away."""
        self._process.nominate(pod, "")

    def evict(self, victim: Pod, node: str, preemptor: Pod) -> None:
        """Remove a pod from its node; one not bound yet is just turned back."""
        if victim.key in self._process.held:
            status = Status(Code.ERROR, (f"preempted by {preemptor.key.path}",))
            self._process.signal(victim.key, status)
        else:
            self._process.house.remove_victim(victim, node, preemptor)
