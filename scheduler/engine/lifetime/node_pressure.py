"""Node pressure: a node that runs low evicts its pods one by one, as a kubelet does.

Source: docs/semantics/capacity.md#node-pressure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from scheduler.engine.lifetime.runs import Due
from scheduler.model import amounts
from scheduler.model.annotations import TAKEN, USES, read_amounts
from scheduler.model.decisions import Evict, NodeChange
from scheduler.model.event_words import Befallen
from scheduler.model.objects import Key, Object
from scheduler.model.pod import shape_of
from scheduler.model.reasons import EVICTED_BY_KUBELET
from scheduler.model.sentence import Sentence

if TYPE_CHECKING:
    from scheduler.engine.lifetime.node_loss import NodeLoss

#: A kubelet looks so often, and evicts one pod each time.
_LOOK_MS = 10_000
#: A condition stays for so long after the node ran low for the last time.
_TRANSITION_MS = 300_000
#: Pods of this priority and more are critical, and stay.
_CRITICAL = 2_000_000_000


class Signal(NamedTuple):
    """What a node may run low on."""

    resource: str  # of requests, and of the annotations
    named: str  # in a kubelet's sentences
    condition: str
    reason: str  # of the condition
    taint: str
    least: int = 0  # what is to be free, in units
    percent: int = 0  # or in percent of what there is


#: In the order in which a kubelet relieves them; the thresholds are its defaults.
SIGNALS = (
    Signal(
        resource="memory",
        named="memory",
        condition="MemoryPressure",
        reason="KubeletHasInsufficientMemory",
        taint="node.kubernetes.io/memory-pressure",
        least=100 << 20,
    ),
    Signal(
        resource="ephemeral-storage",
        named="ephemeral-storage",
        condition="DiskPressure",
        reason="KubeletHasDiskPressure",
        taint="node.kubernetes.io/disk-pressure",
        percent=10,
    ),
    Signal(
        resource="pid",
        named="pids",
        condition="PIDPressure",
        reason="KubeletHasInsufficientPID",
        taint="node.kubernetes.io/pid-pressure",
        percent=10,
    ),
)


@dataclass(slots=True, kw_only=True)
class Pressed:
    """Where one node stands."""

    at_ms: int = 0  # when it is looked at next
    evicts_ms: int = 0  # no earlier does it evict again
    #: resource -> until when (ms) the node was low on it; None: it is
    low: dict[str, int | None] = field(default_factory=dict)


class Usage(NamedTuple):
    """What one pod uses of a resource, and what it asked for."""

    pod: Object
    used: int
    requested: int
    priority: int

    def rank(self, signal: Signal) -> tuple[Any, ...]:
        """Return the order in which a kubelet evicts: the least goes first."""
        name = self.pod.key
        if signal.resource == "pid":
            return self.priority, -self.used, name
        over = self.used - self.requested
        return over <= 0, self.priority, -over, name


class NodePressure:
    """Looks at nodes of which more is taken than requests say.

    Those are nodes with the annotation `quotalab.dev/taken`, and nodes of pods with
    `quotalab.dev/uses`. All others have what is requested of them, and never run low.
    """

    def __init__(self, lifetime: NodeLoss) -> None:
        self.lifetime = lifetime
        self.context = lifetime.context
        self.states: dict[Key, Pressed] = {}
        #: Nodes that had a pod which says what it uses; None: not looked for yet.
        self._using: set[Key] | None = None

    def check(self, node: Key) -> None:
        """Check a node: evict one pod if it is low, and write or lift its conditions."""
        obj = self.lifetime.host.objects.get(node)
        if obj is None:
            return
        if node not in self.states and not self._is_told(obj):
            return
        pods = self._pods(node.name)
        state = self.states.setdefault(node, Pressed())
        low = [one for one in SIGNALS if self._is_low(obj, pods, one)]
        now = self.context.now_ms
        for one in SIGNALS:
            if one in low:
                if one.resource not in state.low:
                    self._report(obj, pods, one)
                state.low[one.resource] = None
            elif one.resource in state.low:
                until = state.low[one.resource]
                if until is None:
                    state.low[one.resource] = now
                elif until + _TRANSITION_MS <= now:
                    self._lift(node, state, one)
        self._write(obj, state.low)
        if low and state.evicts_ms <= now and self._evict(obj, pods, low[0]):
            state.evicts_ms = now + _LOOK_MS
        self._look_again(node, state)

    def check_with(self, node: Key, pod: Key) -> None:
        """Check a node that got a pod, where one of the two can make it low."""
        objects = self.lifetime.host.objects
        if node not in objects:
            return
        if self._uses(objects[pod]):
            self._nodes_using().add(node)
        self.check(node)

    def fire(self, node: Key) -> None:
        """Look at a node whose instant has come."""
        self.states[node].at_ms = 0
        self.check(node)

    def stands(self, node: Key, at: int) -> bool:
        """Return whether a timer still means something."""
        return node in self.states and self.states[node].at_ms == at

    def forget(self, node: Key) -> None:
        """Forget a node that is gone."""
        self.states.pop(node, None)

    def kept(self, node: Key) -> list[Any] | None:
        """Return plain values from which `restore` goes on."""
        if (state := self.states.get(node)) is None:
            return None
        return [state.at_ms, state.evicts_ms, dict(state.low)]

    def restore(self, node: Key, kept: list[Any]) -> None:
        """Take back what `kept` returned."""
        at, evicts, low = kept
        self.states[node] = Pressed(at_ms=at, evicts_ms=evicts, low=dict(low))
        if at:
            self.lifetime.timers.add(at, Due.PRESSURE, node)

    # -- what there is, and what is used -----------------------------------

    def _pods(self, node: str) -> list[Object]:
        placed = self.lifetime.placed.items()
        objects = self.lifetime.host.objects
        return [objects[pod] for pod, at in placed if at == node and pod in objects]

    def _is_told(self, node: Object) -> bool:
        return TAKEN in node.annotations or node.key in self._nodes_using()

    def _nodes_using(self) -> set[Key]:
        """Return the nodes that had a pod which says what it uses.

        All pods are gone through once in the life of a world that is loaded.
        """
        if self._using is None:
            objects, placed = self.lifetime.host.objects, self.lifetime.placed.items()
            self._using = {
                Key("Node", "", at)
                for pod, at in placed
                if pod in objects and self._uses(objects[pod])
            }
        return self._using

    def _uses(self, pod: Object) -> str:
        """Return what a pod, or what owns it, says that it uses."""
        lifetime = self.lifetime
        owner = lifetime.host.objects.get(lifetime.owners.get(pod.key, pod.key), pod)
        return pod.annotations.get(USES) or owner.annotations.get(USES, "")

    def _usages(self, pods: Iterable[Object], signal: Signal) -> list[Usage]:
        return [self._usage(pod, signal.resource) for pod in pods]

    def _usage(self, pod: Object, resource: str) -> Usage:
        requested = shape_of(pod.spec, pod.status).requests.exact.get(resource, 0)
        used = read_amounts(self._uses(pod)).get(resource, requested)
        return Usage(pod, used, requested, int(pod.spec.get("priority") or 0))

    def _is_low(self, node: Object, pods: Iterable[Object], signal: Signal) -> bool:
        there = _capacity(node, signal)
        return there > 0 and self._free(node, pods, signal) < _threshold(there, signal)

    def _free(self, node: Object, pods: Iterable[Object], signal: Signal) -> int:
        taken = read_amounts(node.annotations.get(TAKEN, "")).get(signal.resource, 0)
        used = sum(one.used for one in self._usages(pods, signal))
        return max(0, _capacity(node, signal) - taken - used)

    # -- what follows ------------------------------------------------------

    def _evict(self, node: Object, pods: list[Object], signal: Signal) -> bool:
        """Evict the pod that a kubelet would; False where none may go."""
        usages = self._usages(pods, signal)
        found = min(
            (one for one in usages if one.priority < _CRITICAL),
            key=lambda one: one.rank(signal),
            default=None,
        )
        if found is None:
            return False
        key = found.pod.key
        why = self._why(node, pods, signal, found)
        now = self.context.now_ms
        self.context.journal.emit(
            Evict(at_ms=now, subject=key, reason=EVICTED_BY_KUBELET, message=why)
        )
        self.lifetime.fail_pod(key, reason=EVICTED_BY_KUBELET, message=why)
        return True

    def _why(self, node: Object, pods: list[Object], signal: Signal, one: Usage) -> str:
        words = Befallen.LOW_USING if one.used > one.requested else Befallen.LOW
        containers = one.pod.spec.get("containers") or [{}]
        return words.said(
            resource=signal.named,
            threshold=_text(signal, _threshold(_capacity(node, signal), signal)),
            available=_text(signal, self._free(node, pods, signal)),
            container=str(containers[0].get("name", "")),
            used=_text(signal, one.used),
            request=_text(signal, one.requested),
        ).text

    def _report(self, node: Object, pods: list[Object], signal: Signal) -> None:
        said = Befallen.PRESSED.said(
            resource=signal.named,
            threshold=_text(signal, _threshold(_capacity(node, signal), signal)),
            available=_text(signal, self._free(node, pods, signal)),
        )
        self._emit(node.key, "pressed", said)

    def _emit(self, node: Key, change: str, said: Sentence) -> None:
        now = self.context.now_ms
        self.context.journal.emit(
            NodeChange(
                at_ms=now, subject=node, change=change, message=said.text, said=said
            )
        )

    def _write(self, node: Object, low: Collection[str]) -> None:
        """Write the conditions and taints of a node where they are others."""
        after = _changed(node, low)
        if after is not None:
            self.lifetime.host.put(after)

    def _lift(self, node: Key, state: Pressed, signal: Signal) -> None:
        del state.low[signal.resource]
        said = Befallen.RELIEVED.said(resource=signal.named)
        self._emit(node, "relieved", said)

    def _look_again(self, node: Key, state: Pressed) -> None:
        """Set the next look: at the next eviction, or when a condition is over.

        One that is low and may evict nobody is looked at when a pod leaves it.
        """
        later = [
            state.evicts_ms if until is None else until + _TRANSITION_MS
            for until in state.low.values()
        ]
        now = self.context.now_ms
        state.at_ms = min((at for at in later if at > now), default=0)
        if state.at_ms:
            self.lifetime.timers.add(state.at_ms, Due.PRESSURE, node)
        elif not state.low:
            self.forget(node)
        self.context.journal.touch(node)


def _capacity(node: Object, signal: Signal) -> int:
    """Return what there is of a resource; 0 where the node does not say.

    A kubelet takes what is to be free from what pods may have: there is so much more.
    """
    found = [
        amounts.canonical(signal.resource, given[signal.resource])
        for given in (node.status.get("capacity") or {}, _allocatable(node))
        if signal.resource in given
    ]
    if not found:
        return 0
    *_, allocatable = found
    if signal.percent:
        return max(found[0], allocatable * 100 // (100 - signal.percent))
    return max(found[0], allocatable + signal.least)


def _allocatable(node: Object) -> dict[str, Any]:
    given: dict[str, Any] = node.status.get("allocatable") or {}
    return given


def _threshold(there: int, signal: Signal) -> int:
    return there * signal.percent // 100 if signal.percent else signal.least


def _text(signal: Signal, amount: int) -> str:
    return amounts.request_text(signal.resource, amount)


def _changed(node: Object, low: Collection[str]) -> Object | None:
    """Return the node with the conditions and taints of what it is low on; None as it is."""
    names = {one.condition for one in SIGNALS}
    keys = {one.taint for one in SIGNALS}
    now = [one for one in SIGNALS if one.resource in low]
    conditions = [
        one for one in node.status.get("conditions") or () if one["type"] not in names
    ]
    conditions += [
        {"type": one.condition, "status": "True", "reason": one.reason} for one in now
    ]
    taints = [one for one in node.spec.get("taints") or () if one["key"] not in keys]
    taints += [{"key": one.taint, "effect": "NoSchedule"} for one in now]
    if taints == list(node.spec.get("taints") or ()):
        return None
    spec = {name: value for name, value in node.spec.items() if name != "taints"}
    if taints:
        spec["taints"] = taints
    manifest = {**node.manifest, "metadata": dict(node.metadata), "spec": spec}
    return Object(key=node.key, manifest=manifest, status={"conditions": conditions})
