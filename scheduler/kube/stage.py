"""kube-scheduler as a stage: nodes and pods in, places out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from scheduler import streams
from scheduler.decisions import NodeChange
from scheduler.kube import state
from scheduler.kube.binding.host import BindingHost
from scheduler.kube.binding.rules import BindingCounts
from scheduler.kube.cache import spread_selectors as selecting
from scheduler.kube.cache.cluster import ClusterCache
from scheduler.kube.cache.invariants import sum_violations
from scheduler.kube.cache.pod_group import read_budget, read_group
from scheduler.kube.configuration.configuration import (
    Configuration,
    read_configurations,
)
from scheduler.kube.extender.extenders import Extenders
from scheduler.kube.extender.ports import Port
from scheduler.kube.extender.static import latency_of, port_for
from scheduler.kube.framework import events
from scheduler.kube.framework.events import Event
from scheduler.kube.scheduling.plugin_table import PluginTable, table
from scheduler.kube.scheduling.scheduler import Scheduler
from scheduler.kube.shared_cluster import SharedCluster
from scheduler.records.node import Node, read_node
from scheduler.records.objects import Key, Object
from scheduler.records.pod import Pod, read_pod
from scheduler.records.policy import Policy
from scheduler.stage import Context

#: Attempts of pods already tried at this instant, without a binding among them.
MAX_ATTEMPTS = 1_000
#: The same while such a loop goes on: it is known to lead nowhere.
MAX_MORE_ATTEMPTS = 50
_PAUSE_MS = 1_000


class KubeStage:
    """One or several kube-schedulers over one set of nodes.

    A single scheduler works on the nodes as they are. Several each have a view
    of their own, work in turns, and meet when their bindings are written.
    """

    name = state.NAME

    def __init__(
        self, context: Context, policy: Policy, port: Port | None = None
    ) -> None:
        self.context = context
        configurations = read_configurations(policy.spec.kube_scheduler)
        self.shared = SharedCluster(context, several=len(configurations) > 1)
        self.binding = BindingHost(self.shared, policy.spec.simulation)
        self.port: Port = port or port_for(policy.spec.simulation.extenders)
        self._latency_ms = latency_of(policy.spec.simulation)
        self.objects: dict[Key, Object] = {}
        for configuration in configurations:
            self.shared.add(self._scheduler(configuration))
        self.counts = self.binding.counts
        self.counts.update((s.name, BindingCounts()) for s in self.schedulers)
        self._rounds = 0
        self._stalled_until = 0
        self._stalled = False  # since the last change from outside, or binding

    def _scheduler(self, configuration: Configuration) -> Scheduler:
        return Scheduler(
            self.context,
            self.binding,
            configuration.profiles,
            timing=configuration.timing,
            extenders=lambda _: Extenders(
                configuration.extenders,
                self.port,
                self._document,
                self._latency_ms,
            ),
        )

    def _document(self, key: Key) -> dict[str, Any]:
        obj = self.objects[key]
        return {**obj.manifest, "status": obj.status}

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
        kind = obj.key.kind
        self._stalled = self._stalled and restore
        if kind == "Node":
            self.objects[obj.key] = obj
            self._put_node(read_node(obj.manifest, obj.status), restore=restore)
        elif kind == "Pod":
            self.objects[obj.key] = obj
            pod = read_pod(obj.manifest, obj.status)
            if restore:
                self._restore_pod(obj, pod)
            else:
                self.put_pod(pod)
        elif kind == "PodGroup":
            self._put_group(obj, restore=restore)
        elif kind == "PodDisruptionBudget":
            budget = read_budget(obj.manifest, {}, obj.key.namespace)
            for cluster in self.clusters():
                cluster.budgets[obj.key] = budget
        elif kind in selecting.KINDS:
            for cluster in self.clusters():
                cluster.selecting.put(obj.key, obj.manifest)
        elif kind == "Namespace":
            for cluster in self.clusters():
                cluster.namespaces[obj.key.name] = dict(obj.labels)
            if not restore:
                self._notify(Event(events.NAMESPACE_CHANGED, new=obj.key.name))

    def _put_group(self, obj: Object, *, restore: bool) -> None:
        group = read_group(obj.manifest, obj.key.namespace)
        known = obj.key in self.schedulers[0].cluster.groups
        for cluster in self.clusters():
            cluster.groups[obj.key] = group
        if not restore:
            name = events.GROUP_CHANGED if known else events.GROUP_ADDED
            self._notify(Event(name, new=group))

    def remove(self, key: Key) -> None:
        """Forget an object; a node's pods are the lifetime's to end."""
        self.objects.pop(key, None)
        self._stalled = False
        if key.kind == "Node":
            self._remove_node(key)
        elif key.kind == "Pod":
            self._pod_gone(key)
        for cluster in self.clusters():
            cluster.groups.pop(key, None)
            cluster.budgets.pop(key, None)
            cluster.selecting.remove(key)
            if key.kind == "Namespace":
                cluster.namespaces.pop(key.name, None)

    def _notify(self, event: Event) -> None:
        for scheduler in self.schedulers:
            scheduler.event(event)

    # --- nodes

    def _put_node(self, node: Node, *, restore: bool) -> None:
        before: Node | None = None
        for cluster in self.clusters():
            before = cluster.put_node(node)
        if restore or before == node:
            return
        name = events.NODE_ADDED if before is None else events.NODE_CHANGED
        self._notify(Event(name, old=before, new=node))
        self._emit_node_change(Key("Node", "", node.name), _change(before, node))

    def _remove_node(self, key: Key) -> None:
        gone: Node | None = None
        for cluster in self.clusters():
            gone = cluster.remove_node(key.name)
        if gone is not None:
            self._notify(Event(events.NODE_DELETED, old=gone))
            self._emit_node_change(key, "removed")

    def _emit_node_change(self, key: Key, change: str) -> None:
        now = self.context.now_ms
        self.context.journal.emit(NodeChange(at_ms=now, subject=key, change=change))

    # --- pods

    def _restore_pod(self, obj: Object, pod: Pod) -> None:
        if not state.restore_pod(self.shared, obj, pod) and not pod.finished:
            self.put_pod(pod)

    def put_pod(self, pod: Pod) -> None:
        """Take a pod that is new or changed."""
        known = self.pods.get(pod.key)
        if pod.finished:
            self._pod_gone(pod.key)
            return
        if known is not None and known.uid != pod.uid:
            self._pod_gone(pod.key)
            known = None
        if known is None:
            for scheduler in self.schedulers:
                scheduler.end_deleted(pod.key)
        self.pods[pod.key] = pod
        self.shared.members.put(pod)
        self.context.journal.touch(pod.key)
        placed = self.nodes.placed.get(pod.key)
        if any(pod.key in scheduler.assumed for scheduler in self.schedulers):
            if not pod.wanted_node:
                return
            placed = None
        node = pod.wanted_node or (placed[1] if placed else "")
        if node:
            self._put_placed(pod, node, known)
        else:
            self._put_pending(pod, known)

    def _put_placed(self, pod: Pod, node: str, known: Pod | None) -> None:
        """Take a pod that has its node: given so, or bound and edited since."""
        before = self.nodes.placed.get(pod.key)
        started = pod.started_us
        if started is None:
            started = before[0].started_us if before else self.context.now_us
        seen = msgspec.structs.replace(
            pod,
            started_us=started,
            # A victim stays one, whatever its document says meanwhile.
            disrupted=pod.disrupted or (before is not None and before[0].disrupted),
        )
        self.pods[pod.key] = seen
        if before is None:
            self.binding.versions.bump(node, "")
        if self.several:
            self.nodes.place(seen, node)
        for scheduler in self.schedulers:
            scheduler.bound(pod.key)
            if known is None:
                scheduler.found_bound(seen, node)
            else:
                scheduler.pod_placed(seen, node)

    def _put_pending(self, pod: Pod, known: Pod | None) -> None:
        scheduler = self.responsible(pod)
        if scheduler is None:
            self.context.journal.complain(
                f"no scheduler is named {pod.scheduler_name!r}: "
                f"pod {pod.key.path} waits for it"
            )
        elif known is not None and pod.key in scheduler.queue.entries:
            scheduler.queue.update(pod)
        else:
            scheduler.pod_added(pod)

    def _pod_gone(self, key: Key) -> None:
        pod = self.pods.pop(key, None)
        if pod is None:
            return
        self.shared.members.remove(pod)
        self.shared.refused.pop(key, None)
        if self.several:
            found = self.nodes.unplace(key)
            if found is not None:
                self.binding.versions.bump(found[1], "")
        for scheduler in self.schedulers:
            scheduler.pod_gone(pod)

    # --- deciding

    def schedule(self) -> None:
        """Try pods until no queue has one to try now.

        A pod that is tried again and again at one instant while nothing gets
        bound stops the loop after MAX_ATTEMPTS; it goes on a second later, for
        MAX_MORE_ATTEMPTS while nothing has changed since.
        Source: docs/semantics/kube-scheduler.md#backoff.
        """
        for scheduler in self.schedulers:
            scheduler.timers()
        if self.context.now_ms < self._stalled_until:
            return
        vain, bindings = 0, self._bindings()
        while True:
            again, tried = self._turn()
            if not tried and not self._settle():
                return
            vain += again
            if self._bindings() > bindings:
                vain, bindings = 0, self._bindings()
                self._stalled = False
            if vain >= (MAX_MORE_ATTEMPTS if self._stalled else MAX_ATTEMPTS):
                self._stall()
                return

    def _bindings(self) -> int:
        return sum(counts.bindings for counts in self.counts.values())

    def _stall(self) -> None:
        self._stalled_until = self.context.now_ms + _PAUSE_MS
        if self._stalled:
            return
        self._stalled = True
        self.context.journal.complain(
            f"kube-scheduler tried {MAX_ATTEMPTS} times at {self.context.now_ms} ms "
            "without binding a pod; it goes on a second later"
        )

    def _turn(self) -> tuple[int, int]:
        """Let each scheduler try one pod, then write the bindings of the turn.

        Returns how many were tried, of them how many again at this instant first.
        """
        again = tried = 0
        for scheduler in self._in_order():
            counts = self.counts[scheduler.name]
            queued = scheduler.schedule_one()
            if queued is None:
                continue
            tried += 1
            counts.attempts += 1
            counts.retries += queued.attempts > 1
            self.binding.note_idle(scheduler, queued)
            again += queued.tried_before_ms == self.context.now_ms
        if self.several:
            self._settle()
        self._rounds += tried > 0
        return again, tried

    def _settle(self) -> bool:
        """Let the binding cycles go on; return whether there are pods to try now."""
        for scheduler in self._in_order():
            scheduler.run_binding_cycles()
        return any(scheduler.ready() for scheduler in self.schedulers)

    def _in_order(self) -> list[Scheduler]:
        """Return the schedulers with a drawn one first: nobody always wins."""
        if not self.several:
            return self.schedulers
        first = streams.choose(
            self.context.seed,
            "kube/turn",
            "first",
            self._rounds,
            among=len(self.schedulers),
        )
        return self.schedulers[first:] + self.schedulers[:first]

    def due(self) -> int | None:
        """Return the next instant with something to do; now while pods wait."""
        times = [
            at for scheduler in self.schedulers if (at := scheduler.due()) is not None
        ]
        if any(scheduler.ready() for scheduler in self.schedulers):
            times.append(max(self.context.now_ms, self._stalled_until))
        return min(times, default=None)

    def use(self, port: Port) -> None:
        """Ask extenders through this port from now on."""
        self.port = port
        for scheduler in self.schedulers:
            scheduler.extenders.port = port

    # --- for people

    def used_on(self, name: str) -> tuple[dict[str, int], int]:
        """Return what the pods on a node hold, and how many they are."""
        node_info = self.nodes.node_infos.get(name)
        if node_info is None:
            return {}, 0
        return {n: v for n, v in sorted(node_info.requested.items()) if v}, len(
            node_info.pods
        )

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
        """Write a pod's conditions, nomination and place in the queue."""
        if obj.key.kind == "Pod":
            state.write_pod(self.shared, obj)

    def dump_state(self) -> dict[str, Any]:
        """Return what is kept beside the objects."""
        found = {
            "processes": {p.name: p.dump_state() for p in self.schedulers},
            "sharing": self.binding.dump_state(),
            "rounds": self._rounds,
            "stalledUntil": self._stalled_until,
        }
        return {**found, "stalled": True} if self._stalled else found

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned; what no longer exists is dropped."""
        for scheduler in self.schedulers:
            scheduler.load_state(state.get("processes", {}).get(scheduler.name, {}))
        self.binding.load_state(state.get("sharing", {}))
        self._rounds = state.get("rounds", 0)
        self._stalled_until = state.get("stalledUntil", 0)
        self._stalled = state.get("stalled", False)

    def owned(self) -> Iterable[Key]:
        """Return the pods that it places or placed."""
        return list(self.pods)


def _change(before: Node | None, now: Node) -> str:
    """Return what happened to a node, in a word."""
    if before is None:
        return "added"
    if before.unschedulable != now.unschedulable:
        return "cordoned" if now.unschedulable else "uncordoned"
    if before.taints != now.taints:
        return "tainted" if len(now.taints) > len(before.taints) else "untainted"
    return "changed"
