"""How several schedulers share the nodes: bindings, refusals, locks, what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.decisions import Bind, Fail, Preempt
from scheduler.kube.binding.rules import (
    Counts,
    Locks,
    Versions,
    conflict,
    plain_counts,
    refusal,
)
from scheduler.kube.framework import events
from scheduler.kube.framework.events import Event
from scheduler.kube.framework.status import (
    OK,
    Status,
    error,
)
from scheduler.kube.queue.scheduling_queue import Queued
from scheduler.kube.scheduling.event_handlers import Desk
from scheduler.kube.scheduling.handle import Held
from scheduler.kube.scheduling.schedule_one import LOCK
from scheduler.records.objects import Key
from scheduler.records.pod import Pod
from scheduler.records.policy import Simulation

if TYPE_CHECKING:
    from scheduler.kube.stage import KubeStage


class Sharing:
    """What every process asks of the house that it runs in.

    A single process has the nodes to itself: nothing is checked or locked.
    """

    def __init__(self, stage: KubeStage, simulation: Simulation) -> None:
        self.stage = stage
        self.context = stage.context
        self.bind_latency_ms = simulation.bind_latency_ms
        self.compare_and_set = simulation.binding == "compare-and-set"
        self.pessimistic = simulation.locking == "pessimistic"
        self.versions = Versions()
        self.locks = Locks()
        self.counts: dict[str, Counts] = {}
        self._idle_since: dict[str, int] = {}

    def commit(self, process: Desk, held: Held) -> Status:
        """Write a binding, by the rules of the binding mode."""
        pod, node = held.pod, held.node
        counts = self.counts[process.name]
        host = self.stage.nodes.hosts.get(node)
        if host is None:
            return error(f"node {node} is gone")
        if self.stage.in_rounds:
            if self.compare_and_set:
                lost = conflict(process, held, self.version(process, node))
                if lost is not None:
                    counts.conflicts += 1
                    return error(lost)
            else:
                turned = refusal(pod, host)
                if turned is not None:
                    self._refuse(process, held, turned)
                    return OK
        counts.bindings += 1
        self._bind(process, pod, node)
        return OK

    def _bind(self, process: Desk, pod: Pod, node: str) -> None:
        bound = msgspec.structs.replace(pod, started_us=self.context.now_us)
        self.stage.pods[pod.key] = bound
        self.versions.bump(node, process.name)
        process.bound(pod.key)
        if self.stage.in_rounds:
            self.stage.nodes.place(bound, node)
        now = self.context.now_ms
        self.context.journal.touch(pod.key)
        self.context.journal.emit(Bind(at_ms=now, subject=pod.key, node=node))
        for other in self.stage.processes:
            other.pod_placed(bound, node)

    def _refuse(self, process: Desk, held: Held, turned: tuple[str, str]) -> None:
        """The node's agent turns a bound pod away: the pod has failed."""
        pod = held.pod
        counts = self.counts[process.name]
        counts.conflicts += 1
        counts.refused += 1
        self.stage.refused[pod.key] = turned
        process.bound(pod.key)
        process.cluster.unplace(pod.key)
        process.event(Event(events.POD_DELETED, old=pod))
        self.context.journal.touch(pod.key)
        self.context.journal.emit(
            Fail(
                at_ms=self.context.now_ms,
                subject=pod.key,
                node=held.node,
                reason=turned[0],
                message=turned[1],
            )
        )

    def remove_victim(self, victim: Pod, node: str, preemptor: Pod) -> None:
        """Ask for a pod's deletion; until then it stands there, on its way out."""
        leaving = msgspec.structs.replace(victim, terminating=True, disrupted=True)
        self.stage.pods[victim.key] = leaving
        for cluster in self.stage.clusters():
            if victim.key in cluster.placed:
                cluster.place(leaving, node)
        started = victim.started_us
        lost = 0 if started is None else max(0, self.context.now_us - started) // 1000
        self.context.journal.touch(victim.key)
        self.context.journal.emit(
            Preempt(
                at_ms=self.context.now_ms,
                subject=victim.key,
                by=preemptor.key,
                reason="PreemptionByScheduler",
                message=f"Preempted by pod {preemptor.uid} on node {node}",
                strategy="DefaultPreemption",
                work_lost_ms=lost,
            )
        )

    def group_members(self, group: Key) -> Iterable[Pod]:
        """Return the known pods of a PodGroup."""
        return self.stage.members.of(group)

    def version(self, process: Desk, node: str) -> int:
        """Return how often others than this process changed the node's pods."""
        return self.versions.foreign(node, process.name)

    def lock(self, process: Desk, node: str) -> None:
        """Keep a node for this process, under pessimistic locking."""
        if self.pessimistic and self.stage.in_rounds:
            self.locks.take(process.name, node)

    def unlock(self, process: Desk, node: str) -> None:
        """Let others have the node again, and wake who waited for it."""
        if self.pessimistic and self.locks.release(process.name, node):
            for other in self.stage.processes:
                if other is not process:
                    other.event(Event(events.NODE_UNLOCKED, new=node))

    def locked_for(self, process: Desk) -> frozenset[str]:
        """Return the nodes that other processes keep."""
        if not self.pessimistic:
            return frozenset()
        return self.locks.against(process.name)

    def note_idle(self, process: Desk, queued: Queued) -> None:
        """Count the time a scheduler waits for locks with pods to place."""
        counts, now = self.counts[process.name], self.context.now_ms
        since = self._idle_since.pop(process.name, None)
        if since is not None:
            counts.idle_ms += now - since
        if LOCK in queued.rejectors:
            counts.blocked += 1
            self._idle_since[process.name] = now

    # --- memory

    def remember(self) -> dict[str, Any]:
        """Return the counters and versions."""
        return {
            "counts": {name: plain_counts(c) for name, c in self.counts.items()},
            "versions": self.versions.remember() if self.stage.in_rounds else {},
            "idleSince": dict(self._idle_since),
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Take them back, for the processes that still are."""
        for name in self.counts:
            counts = memory.get("counts", {}).get(name)
            if counts is not None:
                self.counts[name] = msgspec.convert(counts, Counts)
        self.versions.recall(memory.get("versions", {}))
        idle = memory.get("idleSince", {})
        self._idle_since = {name: idle[name] for name in self.counts if name in idle}
