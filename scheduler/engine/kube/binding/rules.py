"""How a chosen node becomes a binding when several schedulers share the nodes."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.scheduling.assumed_pod import AssumedPod
from scheduler.engine.kube.scheduling.host import SchedulerRef
from scheduler.model.node import CPU, MEMORY, PODS
from scheduler.model.pod import Pod

_REASONS = {CPU: "OutOfcpu", MEMORY: "OutOfmemory", PODS: "OutOfpods"}


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


def refusal(pod: Pod, node_info: NodeInfo) -> tuple[str, str] | None:
    """Return why the node's agent rejects the pod, None when it fits.

    Source: docs/semantics/kube-scheduler.md#binding-modes;
    the reason is OutOf<resource>.
    """
    needs = {PODS: 1, **pod.shape.requests.asked}
    for name, asked in needs.items():
        used = len(node_info.pods) if name == PODS else node_info.requested.get(name, 0)
        capacity = node_info.capacity(name)
        if asked > capacity - used:
            reason = _REASONS.get(name, f"OutOf{name}")
            return reason, (
                f"Node didn't have enough resource: {name}, requested: {asked}, "
                f"used: {used}, capacity: {capacity}"
            )
    return None


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
