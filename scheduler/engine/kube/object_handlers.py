"""Nodes and pods in: what each scheduler of a run is given to see, and when."""

from __future__ import annotations

import msgspec

from scheduler.engine.kube import state
from scheduler.engine.kube.binding.host import BindingHost
from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.shared_cluster import SharedCluster
from scheduler.engine.stage import Context
from scheduler.model.decisions import NodeChange
from scheduler.model.node import Node
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.problems import GivenUp


class ObjectHandlers:
    """Takes nodes and pods, and lets every scheduler of the run see them."""

    def __init__(
        self, context: Context, shared: SharedCluster, binding: BindingHost
    ) -> None:
        self.context = context
        self.shared = shared
        self.binding = binding

    def notify(self, event: Event) -> None:
        """Let an event requeue the pods that it may help."""
        self.shared.notify(event)

    def put_node(self, node: Node, *, restore: bool) -> None:
        """Take a node that is new, changed or stored."""
        before: Node | None = None
        for cluster in self.shared.clusters():
            before = cluster.put_node(node)
        if restore or before == node:
            return
        name = events.NODE_ADDED if before is None else events.NODE_CHANGED
        self.notify(Event(name, old=before, new=node))
        self._emit_node_change(Key("Node", "", node.name), _change(before, node))

    def remove_node(self, key: Key) -> None:
        """Forget a node; its pods are the lifetime's to end."""
        gone: Node | None = None
        for cluster in self.shared.clusters():
            gone = cluster.remove_node(key.name)
        if gone is not None:
            self.notify(Event(events.NODE_DELETED, old=gone))
            self._emit_node_change(key, "removed")

    def _emit_node_change(self, key: Key, change: str) -> None:
        now = self.context.now_ms
        self.context.journal.emit(NodeChange(at_ms=now, subject=key, change=change))

    def restore_pod(self, obj: Object, pod: Pod) -> None:
        """Take a pod from storage, with what is stored of its scheduling."""
        if not state.restore_pod(self.shared, obj, pod) and not pod.finished:
            self.put_pod(pod)

    def put_pod(self, pod: Pod) -> None:
        """Take a pod that is new or changed."""
        known = self.shared.pods.get(pod.key)
        if pod.finished:
            self.pod_gone(pod.key)
            return
        if known is not None and known.uid != pod.uid:
            self.pod_gone(pod.key)
            known = None
        if known is None:
            for scheduler in self.shared.schedulers:
                scheduler.end_deleted(pod.key)
        self.shared.pods[pod.key] = pod
        self.shared.members.put(pod)
        if pod.shape.claims:
            self.shared.volumes.pod_added(pod)
        self.shared.devices.pod_added(pod)
        self.context.journal.touch(pod.key)
        placed = self.shared.nodes.placed.get(pod.key)
        if any(pod.key in scheduler.assumed for scheduler in self.shared.schedulers):
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
        before = self.shared.nodes.placed.get(pod.key)
        started = pod.started_us
        if started is None:
            started = before[0].started_us if before else self.context.now_us
        seen = msgspec.structs.replace(
            pod,
            started_us=started,
            # A victim stays one, whatever its document says meanwhile.
            disrupted=pod.disrupted or (before is not None and before[0].disrupted),
        )
        self.shared.pods[pod.key] = seen
        if before is None:
            self.binding.versions.bump(node, "")
        if self.shared.several:
            self.shared.nodes.place(seen, node)
        for scheduler in self.shared.schedulers:
            scheduler.bound(pod.key)
            if known is None:
                scheduler.found_bound(seen, node)
            else:
                scheduler.pod_placed(seen, node)

    def _put_pending(self, pod: Pod, known: Pod | None) -> None:
        scheduler = self.shared.responsible(pod)
        if scheduler is None:
            holes = {"name": repr(pod.scheduler_name), "pod": pod.key.path}
            self.context.journal.complain(
                GivenUp.NO_SCHEDULER.said(**holes),
                several=lambda count: GivenUp.NO_SCHEDULER_MANY.said(
                    **holes, count=count
                ),
                sort=f"{GivenUp.NO_SCHEDULER}{pod.scheduler_name}",
            )
        elif known is not None and pod.key in scheduler.queue.entries:
            scheduler.queue.update(pod)
        else:
            scheduler.pod_added(pod)

    def pod_gone(self, key: Key) -> None:
        """Forget a pod that ended or was deleted."""
        pod = self.shared.pods.pop(key, None)
        if pod is None:
            return
        self.shared.members.remove(pod)
        self.shared.volumes.pod_gone(pod)
        self.shared.refused.pop(key, None)
        if self.shared.topologies.by_node:
            self._free_zones(pod)
        if self.shared.several:
            found = self.shared.nodes.unplace(key)
            if found is not None:
                self.binding.versions.bump(found[1], "")
        for scheduler in self.shared.schedulers:
            scheduler.pod_gone(pod)
        if pod.shape.device_claims:
            self.shared.free_devices(pod)

    def _free_zones(self, pod: Pod) -> None:
        placed = self.shared.nodes.placed.get(pod.key)
        if placed is not None:
            touch = self.context.journal.touch
            self.shared.topologies.end(pod, placed[1], touch)


def _change(before: Node | None, now: Node) -> str:
    """Return what happened to a node, in a word."""
    if before is None:
        return "added"
    if before.unschedulable != now.unschedulable:
        return "cordoned" if now.unschedulable else "uncordoned"
    if before.taints != now.taints:
        return "tainted" if len(now.taints) > len(before.taints) else "untainted"
    return "changed"
