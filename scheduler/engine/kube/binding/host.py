"""How several schedulers share the nodes: bindings, refusals, locks, what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from scheduler.engine.kube.framework.plugin import (
    NODE_UNLOCKED,
    POD_DELETED,
    Event,
    QueuedPodInfo,
)
from scheduler.engine.kube.framework.status import OK, Status, error
from scheduler.engine.kube.scheduling.host import AssumedPod, SchedulerRef
from scheduler.engine.kube.scheduling.schedule_one import LOCK
from scheduler.engine.kube.state import SharedCluster
from scheduler.model.decisions import Bind, Fail, Preempt
from scheduler.model.node_admission import rejection
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.policy import Simulation


class BindingHost:
    """What every scheduler asks of the run that it is part of.

    A single scheduler has the nodes to itself: nothing is checked or locked.
    """

    def __init__(self, shared: SharedCluster, simulation: Simulation) -> None:
        self.shared = shared
        self.context = shared.context
        self.bind_latency_ms = simulation.bind_latency_ms
        self.compare_and_set = simulation.binding == "compare-and-set"
        self.pessimistic = simulation.locking == "pessimistic"
        self.versions = Versions()
        self.locks = Locks()
        self.counts: dict[str, BindingCounts] = {}
        self._idle_since: dict[str, int] = {}

    def commit(self, scheduler: SchedulerRef, assumed: AssumedPod) -> Status:
        """Write a binding, by the rules of the binding mode."""
        pod, node = assumed.pod, assumed.node
        counts = self.counts[scheduler.name]
        node_info = self.shared.nodes.node_infos.get(node)
        if node_info is None:
            return error(f"node {node} is gone")
        if self.shared.several:
            if self.compare_and_set:
                lost = conflict(
                    scheduler,
                    assumed,
                    self.version(scheduler, node),
                    self.versions.number(node),
                )
                if lost is not None:
                    counts.conflicts += 1
                    return error(lost)
            else:
                turned = rejection(
                    pod, node_info.node, node_info.requested, len(node_info.pods)
                )
                if turned is not None:
                    self._refuse(scheduler, assumed, turned)
                    return OK
        counts.bindings += 1
        self._bind(scheduler, assumed)
        return OK

    def _bind(self, scheduler: SchedulerRef, assumed: AssumedPod) -> None:
        pod, node = assumed.pod, assumed.node
        bound = msgspec.structs.replace(pod, started_us=self.context.now_us)
        self.shared.pods[pod.key] = bound
        self.versions.bump(node, scheduler.name)
        scheduler.bound(pod.key)
        if self.shared.several:
            self.shared.nodes.place(bound, node)
        self.context.journal.touch(pod.key)
        self.context.journal.emit(
            Bind(
                at_ms=self.context.now_ms,
                subject=pod.key,
                node=node,
                message=self._written(assumed),
            )
        )
        if self.shared.topologies.by_node:
            self.shared.topologies.admit(bound, node, self.context.journal.touch)
        for other in self.shared.schedulers:
            other.pod_placed(bound, node)

    def _written(self, assumed: AssumedPod) -> str:
        """Return which version was read and which one the binding made."""
        if not (self.shared.several and self.compare_and_set):
            return ""
        made = self.versions.number(assumed.node)
        return f"node {assumed.node} was read at v{assumed.read} and is at v{made} now"

    def _refuse(
        self, scheduler: SchedulerRef, assumed: AssumedPod, turned: tuple[str, str]
    ) -> None:
        """The node's agent turns a bound pod away: the pod has failed."""
        pod = assumed.pod
        counts = self.counts[scheduler.name]
        counts.conflicts += 1
        counts.refused += 1
        self.shared.refused[pod.key] = turned
        scheduler.bound(pod.key)
        scheduler.cluster.unplace(pod.key)
        self.shared.topologies.release(pod, assumed.node, self.context.journal.touch)
        scheduler.event(Event(POD_DELETED, old=pod))
        self.context.journal.touch(pod.key)
        self.context.journal.emit(
            Fail(
                at_ms=self.context.now_ms,
                subject=pod.key,
                node=assumed.node,
                reason=turned[0],
                message=turned[1],
            )
        )

    def remove_victim(
        self, victim: Pod, node: str, preemptor: Pod, plugin: str
    ) -> None:
        """Ask for a pod's deletion; until then it keeps its place, terminating."""
        leaving = msgspec.structs.replace(victim, terminating=True, disrupted=True)
        self.shared.pods[victim.key] = leaving
        for cluster in self.shared.clusters():
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
                strategy=plugin,
                work_lost_ms=lost,
            )
        )

    def group_members(self, group: Key) -> Iterable[Pod]:
        """Return the known pods of a PodGroup."""
        return self.shared.members.of(group)

    def bind_volumes(self, pod: Key) -> None:
        """Bind the claims of a pod to the volumes that were assumed for it."""
        known = self.shared.volumes
        for key, binding in known.forget(pod).items():
            if key in known.claims and key not in known.bound:
                self.shared.bind_claim(key, binding)

    def bind_devices(self, pod: Pod) -> None:
        """Give a pod's claims the devices that were assumed for it."""
        self.shared.bind_devices(pod)

    def version(self, scheduler: SchedulerRef, node: str) -> int:
        """Return how often others than this scheduler changed the node's pods."""
        return self.versions.foreign(node, scheduler.name)

    def node_version(self, node: str) -> int:
        """Return the node's version, which every change raises by one.

        A single scheduler compares and stores none: it is 1 throughout.
        """
        return self.versions.number(node) if self.shared.several else 1

    def lock(self, scheduler: SchedulerRef, node: str) -> None:
        """Keep a node for this scheduler, under pessimistic locking."""
        if self.pessimistic and self.shared.several:
            self.locks.take(scheduler.name, node)

    def unlock(self, scheduler: SchedulerRef, node: str) -> None:
        """Release the node, and wake the schedulers that wait for it."""
        if self.pessimistic and self.locks.release(scheduler.name, node):
            for other in self.shared.schedulers:
                if other is not scheduler:
                    other.event(Event(NODE_UNLOCKED, new=node))

    def locked_for(self, scheduler: SchedulerRef) -> frozenset[str]:
        """Return the nodes that other schedulers keep."""
        if not self.pessimistic:
            return frozenset()
        return self.locks.against(scheduler.name)

    def note_idle(self, scheduler: SchedulerRef, queued: QueuedPodInfo) -> None:
        """Count the time a scheduler waits for locks with pods to place."""
        counts, now = self.counts[scheduler.name], self.context.now_ms
        since = self._idle_since.pop(scheduler.name, None)
        if since is not None:
            counts.idle_ms += now - since
        if LOCK in queued.rejectors:
            counts.blocked += 1
            self._idle_since[scheduler.name] = now

    # --- state

    def dump_state(self) -> dict[str, Any]:
        """Return the counters and versions."""
        return {
            "counts": {name: plain_counts(c) for name, c in self.counts.items()},
            "versions": self.versions.dump_state() if self.shared.several else {},
            "idleSince": dict(self._idle_since),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take them back, for the schedulers that still are."""
        for name in self.counts:
            counts = state.get("counts", {}).get(name)
            if counts is not None:
                self.counts[name] = msgspec.convert(counts, BindingCounts)
        self.versions.load_state(state.get("versions", {}))
        idle = state.get("idleSince", {})
        self._idle_since = {name: idle[name] for name in self.counts if name in idle}


# ------------------------------------------------------------------------
# How a chosen node becomes a binding when several schedulers share the nodes.


class BindingCounts(msgspec.Struct, rename="camel"):
    """What sharing cost one scheduler, since the start of the run."""

    attempts: int = 0
    bindings: int = 0
    conflicts: int = 0  # the node had changed since it was read
    retries: int = 0  # attempts of pods that had been tried before
    refused: int = 0  # pods that their node had no room for
    blocked: int = 0  # attempts that found only locked nodes
    idle_ms: int = 0  # with pods to place and every fitting node locked


class Versions:
    """How often each node's pods changed, and by which scheduler; read by compare-and-set."""

    def __init__(self) -> None:
        self._by: dict[str, dict[str, int]] = {}

    def bump(self, node: str, scheduler: str) -> None:
        """Note a change of the node by a scheduler ("" for anything else)."""
        counts = self._by.setdefault(node, {})
        counts[scheduler] = counts.get(scheduler, 0) + 1

    def number(self, node: str) -> int:
        """Return the node's version: 1, and one more with every change."""
        return 1 + sum(self._by.get(node, {}).values())

    def foreign(self, node: str, scheduler: str) -> int:
        """Return how often others changed the node: one's own are expected."""
        counts = self._by.get(node, {})
        return sum(n for name, n in counts.items() if name != scheduler)

    def dump_state(self) -> dict[str, dict[str, int]]:
        """Return the counters."""
        return {node: dict(counts) for node, counts in self._by.items()}

    def load_state(self, state: dict[str, dict[str, int]]) -> None:
        """Take the counters back."""
        self._by = {node: dict(counts) for node, counts in state.items()}


class Locks:
    """Which scheduler locks which node, and for how many of its pods."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[str, int]] = {}

    def take(self, scheduler: str, node: str) -> None:
        """Lock a node for a scheduler, once for each pod that the scheduler has there."""
        _, count = self._held.get(node, (scheduler, 0))
        self._held[node] = (scheduler, count + 1)

    def release(self, scheduler: str, node: str) -> bool:
        """Undo one `take`; return whether no lock is left on the node."""
        owner, count = self._held.get(node, ("", 0))
        if owner != scheduler:
            return False
        if count > 1:
            self._held[node] = (scheduler, count - 1)
            return False
        del self._held[node]
        return True

    def owner(self, node: str) -> str:
        """Return the scheduler that locks a node; "" when none does."""
        return self._held.get(node, ("", 0))[0]

    def against(self, scheduler: str) -> frozenset[str]:
        """Return the nodes that other schedulers lock."""
        return frozenset(
            n for n, (owner, _) in self._held.items() if owner != scheduler
        )


def conflict(
    scheduler: SchedulerRef, assumed: AssumedPod, foreign: int, version: int
) -> str | None:
    """Return the sentence of a lost race, None when nobody else was there.

    `foreign` is how often others have changed the node, `version` its present
    version. Source: docs/semantics/kube-scheduler.md#binding-modes.
    """
    if foreign == assumed.seen:
        return None
    return (
        f"conflict: scheduler {scheduler.name} read node {assumed.node} at "
        f"v{assumed.read}, now it is at v{version}; the pod is tried again"
    )


def plain_counts(counts: BindingCounts) -> dict[str, Any]:
    """Return the counters as plain values."""
    plain: dict[str, Any] = msgspec.to_builtins(counts)
    return plain
