"""kube-scheduler as a stage: nodes and pods in, places out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from scheduler.engine.kube import state
from scheduler.engine.kube.binding.host import BindingCounts, BindingHost
from scheduler.engine.kube.cache.cluster import ClusterCache, sum_violations
from scheduler.engine.kube.extender.extenders import Extenders
from scheduler.engine.kube.extender.ports import Port, latency_of, port_for
from scheduler.engine.kube.framework.plugin import QueuedPodInfo
from scheduler.engine.kube.object_handlers import KindHandlers
from scheduler.engine.kube.scheduling.host import AssumedPod
from scheduler.engine.kube.scheduling.scheduler import PluginTable, Scheduler, table
from scheduler.engine.kube.state import SharedCluster
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.kube.configuration import Configuration, read_configurations
from scheduler.model.node import PODS
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.policy import Policy
from scheduler.model.problems import GivenUp
from scheduler.model.proposals import Asking


class KubeStage:
    """One or several kube-schedulers over one set of nodes.

    A single scheduler works on the nodes as they are. Several each have a view
    of their own, work in turns, and meet when their bindings are written.
    """

    name = state.NAME

    def __init__(
        self,
        context: Context,
        policy: Policy,
        port: Port | None = None,
        asking: Asking | None = None,
    ) -> None:
        self.context = context
        self.asking = asking  # a proposal decides
        configurations = read_configurations(
            policy.spec.kube_scheduler, policy.spec.decides_as()
        )
        self.shared = SharedCluster(context, several=len(configurations) > 1)
        self.binding = BindingHost(self.shared, policy.spec.simulation)
        self.port: Port = port or port_for(policy.spec.simulation.extenders)
        self._latency_ms = latency_of(policy.spec.simulation)
        self.handlers = KindHandlers(context, self.shared, self.binding)
        for configuration in configurations:
            self.shared.add(self._scheduler(configuration))
        self.counts = self.binding.counts
        self.counts.update((s.name, BindingCounts()) for s in self.schedulers)
        self.turns = Turns(context, self.schedulers, self.binding)

    def _scheduler(self, configuration: Configuration) -> Scheduler:
        return Scheduler(
            self.context,
            self.binding,
            configuration.profiles,
            timing=configuration.timing,
            extenders=lambda _: Extenders(
                configuration.extenders,
                self.port,
                self.handlers.document,
                self._latency_ms,
            ),
            proposal=self.asking,
        )

    @property
    def schedulers(self) -> list[Scheduler]:
        """Return the schedulers, in the order of their configurations."""
        return self.shared.schedulers

    @property
    def several(self) -> bool:
        """Return whether more than one scheduler places pods."""
        return self.shared.several

    @property
    def nodes(self) -> ClusterCache:
        """Return the nodes as they are, whatever a scheduler believes."""
        return self.shared.nodes

    @property
    def pods(self) -> dict[Key, Pod]:
        """Return the pods that are known and not finished."""
        return self.shared.pods

    def clusters(self) -> list[ClusterCache]:
        """Return every cache, and the nodes as they are."""
        return self.shared.clusters()

    def responsible(self, pod: Pod) -> Scheduler | None:
        """Return the scheduler that the pod names."""
        return self.shared.responsible(pod)

    # --- objects

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take a new, changed or (restore) stored object; other kinds do not matter."""
        self.turns.stalled = self.turns.stalled and restore
        self.handlers.put(obj, restore=restore)

    def remove(self, key: Key) -> None:
        """Forget an object; a node's pods are the lifetime's to end."""
        self.turns.stalled = False
        self.handlers.remove(key)

    def schedule(self) -> None:
        """Try pods until no queue has one to try now. Cost: see `Turns.schedule`."""
        self.handlers.volumes.settle()
        self.turns.schedule()
        self.handlers.volumes.settle()  # volumes that a pod let go of

    def due(self) -> int | None:
        """Return the next instant with something to do; now while pods wait."""
        return self.turns.due()

    def awaited(self) -> str:
        """Return in words what `due` names."""
        return self.turns.awaited()

    def use(self, port: Port) -> None:
        """Ask extenders through this port from now on."""
        self.port = port
        for scheduler in self.schedulers:
            scheduler.extenders.port = port

    # --- for people

    def used_on(self, name: str) -> tuple[dict[str, int], int]:
        """Return what the pods on a node hold, and how many they are.

        Pods that a scheduler has assumed on the node count, whichever it is.
        """
        node_info = self.nodes.node_infos.get(name)
        if node_info is None:
            return {}, 0
        used, pods = Counter(node_info.requested), len(node_info.pods)
        if self.several:
            held, more = self.held_on(name)
            used.update(held)
            pods += more
        return {n: v for n, v in sorted(used.items()) if v}, pods

    def held_on(self, name: str) -> tuple[dict[str, int], int]:
        """Return what pods hold that are assumed on a node and not bound, and their number.

        O(pods of the node) where a scheduler has assumed pods, else O(schedulers).
        """
        held: Counter[str] = Counter()
        pods = 0
        for scheduler in self.schedulers:
            node_info = scheduler.cluster.node_infos.get(name)
            if not scheduler.assumed or node_info is None:
                continue
            for key, pod in node_info.pods.items():
                if key in scheduler.assumed:
                    held.update(pod.shape.requests.exact)
                    pods += 1
        return {n: v for n, v in sorted(held.items()) if v and n != PODS}, pods

    def assumed(self, key: Key) -> AssumedPod | None:
        """Return a pod that has a node and is not bound, with what it waits for."""
        for scheduler in self.schedulers:
            if key in scheduler.assumed:
                return scheduler.assumed[key]
        return None

    def locked_by(self, name: str) -> str:
        """Return the scheduler that keeps a node for itself; "" when none does."""
        return self.binding.locks.owner(name)

    def table(self, key: Key) -> PluginTable | None:
        """Return the plug-in x node table of a pod; None when nobody places it.

        A pod that has a node is looked at as if it had none.
        """
        pod = self.pods.get(key)
        scheduler = self.responsible(pod) if pod is not None else None
        if pod is None or scheduler is None:
            return None
        found = scheduler.cluster.unplace(key)
        try:
            return table(scheduler, msgspec.structs.replace(pod, wanted_node=""))
        finally:
            if found is not None:
                scheduler.cluster.place(*found)

    def violations(self) -> Iterator[str]:
        """Yield a sentence for each sum that is not what the pods add up to."""
        for cluster in self.clusters():
            yield from sum_violations(cluster)

    # --- state

    def write(self, obj: Object) -> None:
        """Write a pod's conditions, nomination and place in the queue; or a binding."""
        self.handlers.write(obj)

    def dump_state(self) -> dict[str, Any]:
        """Return what is kept beside the objects."""
        kept = {
            "volumes": self.shared.volumes.dump_state(),
            "devices": self.shared.devices.dump_state(),
        }
        return {
            **{name: found for name, found in kept.items() if found},
            "processes": {p.name: p.dump_state() for p in self.schedulers},
            "sharing": self.binding.dump_state(),
            **self.turns.dump_state(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned; what no longer exists is dropped."""
        for scheduler in self.schedulers:
            scheduler.load_state(state.get("processes", {}).get(scheduler.name, {}))
        self.binding.load_state(state.get("sharing", {}))
        self.shared.volumes.load_state(state.get("volumes", {}))
        self.shared.devices.load_state(state.get("devices", {}))
        self.turns.load_state(state)


# ------------------------------------------------------------------------
# The schedulers of a run in turns, at one instant, until no queue has a pod to try.


#: Attempts of pods already tried at this instant, without a binding among them.
MAX_ATTEMPTS = 1_000
#: The same while such a loop goes on: it is known to lead nowhere.
MAX_MORE_ATTEMPTS = 50
_PAUSE_MS = 1_000


class Turns:
    """Lets each scheduler try one pod, then all bindings of the turn be written."""

    def __init__(
        self, context: Context, schedulers: list[Scheduler], binding: BindingHost
    ) -> None:
        self.context = context
        self.schedulers = schedulers
        self.binding = binding
        self.stalled = False  # since the last change from outside, or binding
        self._stalled_until = 0
        self._turns = 0

    def schedule(self) -> None:
        """Try pods until no queue has one to try now.

        A pod that is tried again and again at one instant while nothing gets
        bound stops the loop after MAX_ATTEMPTS; it goes on a second later, for
        MAX_MORE_ATTEMPTS while nothing has changed since.
        Source: docs/semantics/kube-scheduler.md#backoff.
        """
        if self._idle():
            return
        for scheduler in self.schedulers:
            scheduler.timers()
        if self.context.now_ms < self._stalled_until and not self._bind_due():
            return
        vain, bindings = 0, self._bindings()
        while True:
            most = MAX_MORE_ATTEMPTS if self.stalled else MAX_ATTEMPTS
            again, tried = self._turn(most - vain)
            if not tried and not self._settle():
                return
            vain += again
            if self._bindings() > bindings:
                vain, bindings = 0, self._bindings()
                self.stalled = False
                most = MAX_ATTEMPTS
            if vain >= most:
                if self._bind_due():
                    vain, bindings = 0, self._bindings()
                    continue
                self._stall()
                return

    def _bind_due(self) -> bool:
        """Write the bindings that are due; return whether one was written.

        Binding cycles run beside the loop: one that tries pods in vain, or pauses,
        holds none of them up.
        """
        before = self._bindings()
        for scheduler in self.schedulers:
            while scheduler.signals or scheduler.may_bind():
                scheduler.run_binding_cycles()
        if self._bindings() == before:
            return False
        self.stalled, self._stalled_until = False, 0
        return True

    def _idle(self) -> bool:
        """Return whether nobody has a pod in any place: then nothing can be due."""
        return all(scheduler.idle for scheduler in self.schedulers)

    def _bindings(self) -> int:
        return sum(counts.bindings for counts in self.binding.counts.values())

    def _stall(self) -> None:
        self._stalled_until = self.context.now_ms + _PAUSE_MS
        if self.stalled:
            return
        self.stalled = True
        self.context.journal.complain(
            GivenUp.STALLED.said(count=MAX_ATTEMPTS, at=self.context.now_ms)
        )

    def _turn(self, most: int) -> tuple[int, int]:
        """Let each scheduler try one pod, then write the bindings of the turn.

        A single one takes its turns in a row, as it binds when none is left to try: at
        most until `most` were tried again. Returns how many were tried, of them how many
        again at this instant first.
        """
        if len(self.schedulers) == 1:
            return self._turns_in_a_row(self.schedulers[0], most)
        again = tried = 0
        for scheduler in self._in_order():
            queued = self._try_one(scheduler)
            if queued is not None:
                tried += 1
                again += queued.tried_before_ms == self.context.now_ms
        self._settle()
        self._turns += tried > 0
        return again, tried

    def _turns_in_a_row(self, scheduler: Scheduler, most: int) -> tuple[int, int]:
        again = tried = 0
        while again < most:
            queued = self._try_one(scheduler)
            if queued is None:
                break
            tried += 1
            again += queued.tried_before_ms == self.context.now_ms
        self._turns += tried
        return again, tried

    def _try_one(self, scheduler: Scheduler) -> QueuedPodInfo | None:
        queued = scheduler.schedule_one()
        if queued is not None:
            counts = self.binding.counts[scheduler.name]
            counts.attempts += 1
            counts.retries += queued.attempts > 1
            self.binding.note_idle(scheduler, queued)
        return queued

    def _settle(self) -> bool:
        """Let the binding cycles go on; return whether there are pods to try now."""
        for scheduler in self._in_order():
            scheduler.run_binding_cycles()
        return any(scheduler.ready() for scheduler in self.schedulers)

    def _in_order(self) -> list[Scheduler]:
        """Return the schedulers with a drawn one first: nobody always wins."""
        if len(self.schedulers) == 1:
            return self.schedulers
        first = streams.choose(
            self.context.seed,
            "kube/turn",
            "first",
            self._turns,
            among=len(self.schedulers),
        )
        return self.schedulers[first:] + self.schedulers[:first]

    def due(self) -> int | None:
        """Return the next instant with something to do; now while pods wait."""
        if self._idle():
            return None
        times = [
            at for scheduler in self.schedulers if (at := scheduler.due()) is not None
        ]
        if any(scheduler.ready() for scheduler in self.schedulers):
            times.append(max(self.context.now_ms, self._stalled_until))
        return min(times, default=None)

    def awaited(self) -> str:
        """Return in words what `due` names."""
        ready = sum(scheduler.ready() for scheduler in self.schedulers)
        if ready:
            return f"pods to try or to bind in {ready} of {len(self.schedulers)} queues"
        return "the end of a backoff, of a wait at Permit, or of a binding"

    def dump_state(self) -> dict[str, Any]:
        """Return what a later turn depends on."""
        found = {"rounds": self._turns, "stalledUntil": self._stalled_until}
        return {**found, "stalled": True} if self.stalled else found

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self._turns = state.get("rounds", 0)
        self._stalled_until = state.get("stalledUntil", 0)
        self.stalled = state.get("stalled", False)
