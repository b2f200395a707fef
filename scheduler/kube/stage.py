"""kube-scheduler as a stage: nodes and pods in, places out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from scheduler import streams
from scheduler.decisions import NodeChange
from scheduler.kube import state as memory
from scheduler.kube.binding.host import Sharing
from scheduler.kube.binding.rules import Counts
from scheduler.kube.cache import spread_selectors as selecting
from scheduler.kube.cache.cluster import Cluster
from scheduler.kube.cache.invariants import broken_sums
from scheduler.kube.cache.pod_group import read_budget, read_group
from scheduler.kube.cache.pod_group_index import Members
from scheduler.kube.configuration.configuration import (
    Configuration,
    read_configurations,
)
from scheduler.kube.extender.extenders import Extenders, Port
from scheduler.kube.extender.static import port_for
from scheduler.kube.framework import events
from scheduler.kube.framework.events import Event
from scheduler.kube.scheduling.plugin_table import Table, table
from scheduler.kube.scheduling.scheduler import Process
from scheduler.records.node import Node, read_node
from scheduler.records.objects import Key, Object
from scheduler.records.pod import Pod, read_pod
from scheduler.records.policy import Policy
from scheduler.stage import Context

#: Attempts of pods already tried at this instant, without a binding among them.
MOST_ATTEMPTS = 1_000
_PAUSE_MS = 1_000


class KubeStage:
    """One or several kube-schedulers over one set of nodes.

    A single process works on the nodes as they are. Several each have a view
    of their own, work in turns, and meet when their bindings are written.
    """

    name = memory.NAME

    def __init__(
        self, context: Context, policy: Policy, port: Port | None = None
    ) -> None:
        self.context = context
        self.sharing = Sharing(self, policy.spec.simulation)
        self.port: Port = port or port_for(policy.spec.simulation.extenders)
        self.objects: dict[Key, Object] = {}
        self.pods: dict[Key, Pod] = {}
        self.members = Members()
        self.refused: dict[Key, tuple[str, str]] = {}
        configurations = read_configurations(policy.spec.kube_scheduler)
        self.in_rounds = len(configurations) > 1
        self.processes = [self._process(c) for c in configurations]
        self.nodes = Cluster() if self.in_rounds else self.processes[0].cluster
        self.counts = self.sharing.counts
        self.counts.update((process.name, Counts()) for process in self.processes)
        self._rounds = 0
        self._stalled_until = 0

    def _process(self, configuration: Configuration) -> Process:
        return Process(
            self.context,
            self.sharing,
            configuration.profiles,
            timing=configuration.timing,
            extenders=lambda _: Extenders(
                configuration.extenders, self.port, self._document
            ),
        )

    def _document(self, key: Key) -> dict[str, Any]:
        obj = self.objects[key]
        return {**obj.manifest, "status": obj.status}

    def clusters(self) -> list[Cluster]:
        """Return every view, and the nodes as they are."""
        views = [process.cluster for process in self.processes]
        return [self.nodes, *views] if self.in_rounds else views

    def responsible(self, pod: Pod) -> Process | None:
        """Return the process that the pod names."""
        for process in self.processes:
            if process.responsible(pod):
                return process
        return None

    # --- objects

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take a new, changed or (restore) stored object; other kinds do not matter."""
        kind = obj.key.kind
        if kind == "Node":
            self.objects[obj.key] = obj
            self._put_node(read_node(obj.manifest, obj.status), restore=restore)
        elif kind == "Pod":
            self.objects[obj.key] = obj
            pod = read_pod(obj.manifest, obj.status)
            if restore:
                memory.restore_pod(self, obj, pod)
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
                self._tell(Event(events.NAMESPACE_CHANGED, new=obj.key.name))

    def _put_group(self, obj: Object, *, restore: bool) -> None:
        group = read_group(obj.manifest, obj.key.namespace)
        known = obj.key in self.processes[0].cluster.groups
        for cluster in self.clusters():
            cluster.groups[obj.key] = group
        if not restore:
            name = events.GROUP_CHANGED if known else events.GROUP_ADDED
            self._tell(Event(name, new=group))

    def remove(self, key: Key) -> None:
        """Forget an object; a node's pods are the lifetime's to end."""
        self.objects.pop(key, None)
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

    def _tell(self, event: Event) -> None:
        for process in self.processes:
            process.event(event)

    # --- nodes

    def _put_node(self, node: Node, *, restore: bool) -> None:
        before: Node | None = None
        for cluster in self.clusters():
            before = cluster.put_node(node)
        if restore or before == node:
            return
        name = events.NODE_ADDED if before is None else events.NODE_CHANGED
        self._tell(Event(name, old=before, new=node))
        self._say_node(Key("Node", "", node.name), _change(before, node))

    def _remove_node(self, key: Key) -> None:
        gone: Node | None = None
        for cluster in self.clusters():
            gone = cluster.remove_node(key.name)
        if gone is not None:
            self._tell(Event(events.NODE_DELETED, old=gone))
            self._say_node(key, "removed")

    def _say_node(self, key: Key, change: str) -> None:
        now = self.context.now_ms
        self.context.journal.emit(NodeChange(at_ms=now, subject=key, change=change))

    # --- pods

    def put_pod(self, pod: Pod) -> None:
        """Take a pod that is new or changed."""
        known = self.pods.get(pod.key)
        if pod.finished:
            self._pod_gone(pod.key)
            return
        if known is not None and known.uid != pod.uid:
            self._pod_gone(pod.key)
            known = None
        self.pods[pod.key] = pod
        self.members.put(pod)
        self.context.journal.touch(pod.key)
        placed = self.nodes.placed.get(pod.key)
        if any(pod.key in process.held for process in self.processes):
            if not pod.wanted_node:
                return
            placed = None
        node = pod.wanted_node or (placed[1] if placed else "")
        if node:
            self._put_placed(pod, node)
        else:
            self._put_pending(pod, known)

    def _put_placed(self, pod: Pod, node: str) -> None:
        """Take a pod that has its node: given so, or bound and edited since."""
        before = self.nodes.placed.get(pod.key)
        started = pod.started_us
        if started is None:
            started = before[0].started_us if before else self.context.now_us
        seen = msgspec.structs.replace(pod, started_us=started)
        self.pods[pod.key] = seen
        if before is None:
            self.sharing.versions.bump(node, "")
        if self.in_rounds:
            self.nodes.place(seen, node)
        for process in self.processes:
            process.bound(pod.key)
            process.pod_placed(seen, node)

    def _put_pending(self, pod: Pod, known: Pod | None) -> None:
        process = self.responsible(pod)
        if process is None:
            self.context.journal.complain(
                f"no scheduler is named {pod.scheduler_name!r}: "
                f"pod {pod.key.path} waits for it"
            )
        elif known is not None and pod.key in process.queue.entries:
            process.queue.update(pod)
        else:
            process.pod_added(pod)

    def _pod_gone(self, key: Key) -> None:
        pod = self.pods.pop(key, None)
        if pod is None:
            return
        self.members.remove(pod)
        self.refused.pop(key, None)
        if self.in_rounds:
            found = self.nodes.unplace(key)
            if found is not None:
                self.sharing.versions.bump(found[1], "")
        for process in self.processes:
            process.pod_gone(pod)

    # --- deciding

    def schedule(self) -> None:
        """Try pods until no queue has one to try now.

        A pod that is tried again and again at one instant while nothing gets
        bound stops the loop after MOST_ATTEMPTS; it goes on a second later.
        """
        for process in self.processes:
            process.timers()
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
            if vain >= MOST_ATTEMPTS:
                self._stall()
                return

    def _bindings(self) -> int:
        return sum(counts.bindings for counts in self.counts.values())

    def _stall(self) -> None:
        self._stalled_until = self.context.now_ms + _PAUSE_MS
        self.context.journal.complain(
            f"kube-scheduler tried {MOST_ATTEMPTS} times at {self.context.now_ms} ms "
            "without binding a pod; it goes on a second later"
        )

    def _turn(self) -> tuple[int, int]:
        """Let each scheduler try one pod, then write the bindings of the turn.

        Returns how many were tried, of them how many again at this instant first.
        """
        again = tried = 0
        for process in self._in_order():
            counts = self.counts[process.name]
            queued = process.schedule_one()
            if queued is None:
                continue
            tried += 1
            counts.attempts += 1
            counts.retries += queued.attempts > 1
            self.sharing.note_idle(process, queued)
            again += queued.tried_before_ms == self.context.now_ms
        if self.in_rounds:
            self._settle()
        self._rounds += tried > 0
        return again, tried

    def _settle(self) -> bool:
        """Let the binding cycles go on; tell whether there are pods to try now."""
        for process in self._in_order():
            process.settle()
        return any(p.queue.ready() or p.signals for p in self.processes)

    def _in_order(self) -> list[Process]:
        """Return the schedulers with a drawn one first: nobody always wins."""
        if not self.in_rounds:
            return self.processes
        first = streams.choose(
            self.context.seed,
            "kube/turn",
            "first",
            self._rounds,
            among=len(self.processes),
        )
        return self.processes[first:] + self.processes[:first]

    def due(self) -> int | None:
        """Return the next instant with something to do; now while pods wait."""
        times = [at for process in self.processes if (at := process.due()) is not None]
        if any(p.queue.ready() or p.signals for p in self.processes):
            times.append(max(self.context.now_ms, self._stalled_until))
        return min(times, default=None)

    def use(self, port: Port) -> None:
        """Ask extenders through this port from now on."""
        self.port = port
        for process in self.processes:
            process.extenders.port = port

    # --- for people

    def used_on(self, name: str) -> tuple[dict[str, int], int]:
        """Return what the pods on a node hold, and how many they are."""
        host = self.nodes.hosts.get(name)
        if host is None:
            return {}, 0
        return {n: v for n, v in sorted(host.requested.items()) if v}, len(host.pods)

    def table(self, key: Key) -> Table | None:
        """Return the plug-in x node table of a pod; None when nobody places it.

        A pod that has a node is looked at as if it had none.
        """
        pod = self.pods.get(key)
        process = self.responsible(pod) if pod is not None else None
        if pod is None or process is None:
            return None
        found = process.cluster.unplace(key)
        try:
            return table(process, msgspec.structs.replace(pod, wanted_node=""))
        finally:
            if found is not None:
                process.cluster.place(*found)

    def broken_laws(self) -> Iterator[str]:
        """Yield a sentence for each sum that is not what the pods add up to."""
        for cluster in self.clusters():
            yield from broken_sums(cluster)

    # --- memory

    def write(self, obj: Object) -> None:
        """Write a pod's conditions, nomination and place in the queue."""
        if obj.key.kind == "Pod":
            memory.write_pod(self, obj)

    def remember(self) -> dict[str, Any]:
        """Return what is kept beside the objects."""
        return {
            "processes": {p.name: p.remember() for p in self.processes},
            "sharing": self.sharing.remember(),
            "rounds": self._rounds,
            "stalledUntil": self._stalled_until,
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Take back what `remember` returned; what no longer exists is dropped."""
        for process in self.processes:
            process.recall(memory.get("processes", {}).get(process.name, {}))
        self.sharing.recall(memory.get("sharing", {}))
        self._rounds = memory.get("rounds", 0)
        self._stalled_until = memory.get("stalledUntil", 0)

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
