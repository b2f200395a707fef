"""Nodes and pods in: what each scheduler of a run is given to see, and when."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.engine.kube import state
from scheduler.engine.kube.binding.host import BindingHost
from scheduler.engine.kube.cache.cluster import KINDS
from scheduler.engine.kube.cache.pod_group import (
    ELASTIC_QUOTA,
    read_budget,
    read_elastic_quota,
    read_group,
)
from scheduler.engine.kube.cache.pod_group import KINDS as GANG_KINDS
from scheduler.engine.kube.device_handlers import KINDS as DEVICE_KINDS
from scheduler.engine.kube.device_handlers import DeviceHandlers
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Event
from scheduler.engine.kube.numa.topology import NODE_TOPOLOGY
from scheduler.engine.kube.state import SharedCluster
from scheduler.engine.kube.volume_handlers import VolumeHandlers, ZoneHandlers
from scheduler.engine.stage import Context
from scheduler.model.decisions import NodeChange
from scheduler.model.node import Node, read_node
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod, read_pod
from scheduler.model.problems import GivenUp
from scheduler.model.releases.rules import SIDECAR_PORTS
from scheduler.model.storage.claims import KINDS as VOLUME_KINDS


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
        name = plugin.NODE_ADDED if before is None else plugin.NODE_CHANGED
        self.notify(Event(name, old=before, new=node))
        self._emit_node_change(Key("Node", "", node.name), _change(before, node))

    def remove_node(self, key: Key) -> None:
        """Forget a node; its pods are the lifetime's to end."""
        gone: Node | None = None
        for cluster in self.shared.clusters():
            gone = cluster.remove_node(key.name)
        if gone is not None:
            self.notify(Event(plugin.NODE_DELETED, old=gone))
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
            placed = self.shared.nodes.placed.get(pod.key)
            if placed is not None:
                touch = self.context.journal.touch
                self.shared.topologies.end(pod, placed[1], touch)
        if self.shared.several:
            found = self.shared.nodes.unplace(key)
            if found is not None:
                self.binding.versions.bump(found[1], "")
        for scheduler in self.shared.schedulers:
            scheduler.pod_gone(pod)
        if pod.shape.device_claims:
            self.shared.free_devices(pod)


def _change(before: Node | None, now: Node) -> str:
    """Return what happened to a node, in a word."""
    if before is None:
        return "added"
    if before.unschedulable != now.unschedulable:
        return "cordoned" if now.unschedulable else "uncordoned"
    if before.taints != now.taints:
        return "tainted" if len(now.taints) > len(before.taints) else "untainted"
    return "changed"


# ------------------------------------------------------------------------
# Objects in: which part takes which kind, and what the caches keep of the rest.


class KindHandlers:
    """Passes each object to the handlers of its kind; other kinds do not matter."""

    def __init__(
        self, context: Context, shared: SharedCluster, binding: BindingHost
    ) -> None:
        self.shared = shared
        self.objects: dict[Key, Object] = {}  # nodes and pods, as extenders see them
        self.nodes_and_pods = ObjectHandlers(context, shared, binding)
        self.volumes = VolumeHandlers(shared)
        self.devices = DeviceHandlers(shared)
        self.groups = GroupHandlers(shared)
        self.zones = ZoneHandlers(shared)

    def document(self, key: Key) -> dict[str, Any]:
        """Return a node or pod as the API serves it."""
        obj = self.objects[key]
        return {**obj.manifest, "status": obj.status}

    def put(self, obj: Object, *, restore: bool) -> None:
        """Take an object that is new, changed or stored."""
        kind = obj.key.kind
        if kind == "Node":
            self.objects[obj.key] = obj
            self.nodes_and_pods.put_node(
                read_node(obj.manifest, obj.status), restore=restore
            )
        elif kind == "Pod":
            self.objects[obj.key] = obj
            self._put_pod(obj, restore=restore)
        elif kind in GROUP_KINDS:
            self.groups.put(obj, restore=restore)
        elif kind in VOLUME_KINDS:
            self.volumes.put(obj, restore=restore)
        elif kind in DEVICE_KINDS:
            self.devices.put(obj, restore=restore)
        elif kind == NODE_TOPOLOGY:
            self.zones.put(obj, restore=restore)
        else:
            self._put_cached(obj, restore=restore)

    def _put_pod(self, obj: Object, *, restore: bool) -> None:
        decides_as = self.shared.context.decides_as
        pod = read_pod(
            obj.manifest, obj.status, sidecar_ports=SIDECAR_PORTS.holds(decides_as)
        )
        if restore:
            self.nodes_and_pods.restore_pod(obj, pod)
            return
        known = pod.key in self.shared.pods
        self.nodes_and_pods.put_pod(pod)
        found = pod.wanted_node and not known and not pod.finished
        if pod.shape.device_claims and found:
            self.devices.found_placed(pod, pod.wanted_node)

    def _put_cached(self, obj: Object, *, restore: bool) -> None:
        """Take what is looked up while a pod is scheduled: it wakes hardly anybody."""
        kind = obj.key.kind
        if kind == "PodDisruptionBudget":
            budget = read_budget(obj.manifest, {}, obj.key.namespace)
            for cluster in self.shared.clusters():
                cluster.budgets[obj.key] = budget
        elif kind in KINDS:
            for cluster in self.shared.clusters():
                cluster.selecting.put(obj.key, obj.manifest)
        elif kind == "Namespace":
            for cluster in self.shared.clusters():
                cluster.namespaces[obj.key.name] = dict(obj.labels)
            if not restore:
                self.shared.notify(Event(plugin.NAMESPACE_CHANGED, new=obj.key.name))

    def remove(self, key: Key) -> None:
        """Forget an object; a node's pods are the lifetime's to end."""
        self.objects.pop(key, None)
        if key.kind == "Node":
            self.nodes_and_pods.remove_node(key)
        elif key.kind == "Pod":
            self.nodes_and_pods.pod_gone(key)
        elif key.kind in VOLUME_KINDS:
            self.volumes.remove(key)
        elif key.kind in DEVICE_KINDS:
            self.devices.remove(key)
        elif key.kind in GROUP_KINDS:
            self.groups.remove(key)
        elif key.kind == NODE_TOPOLOGY:
            self.zones.remove(key)
        for cluster in self.shared.clusters():
            cluster.budgets.pop(key, None)
            cluster.selecting.remove(key)
            if key.kind == "Namespace":
                cluster.namespaces.pop(key.name, None)

    def write(self, obj: Object) -> None:
        """Write into a pod, volume or claim what was decided about it."""
        if obj.key.kind == "Pod":
            state.write_pod(self.shared, obj)
        elif obj.key.kind in VOLUME_KINDS:
            self.volumes.write(obj)
        elif obj.key.kind in DEVICE_KINDS:
            self.devices.write(obj)
        elif obj.key.kind == NODE_TOPOLOGY:
            self.zones.write(obj)


# ------------------------------------------------------------------------
# Groups of pods and quotas of namespaces, in and out, to every scheduler.


_POD_GROUP = "PodGroup"
GROUP_KINDS = (_POD_GROUP, ELASTIC_QUOTA, *GANG_KINDS)


class GroupHandlers:
    """Takes PodGroups of either API, Workloads of gangs and ElasticQuotas."""

    def __init__(self, shared: SharedCluster) -> None:
        self.shared = shared

    def put(self, obj: Object, *, restore: bool) -> None:
        """Take an object that is new, changed or stored; wake the pods that wait for it."""
        if obj.key.kind == _POD_GROUP:
            event = self._put_group(obj)
        elif obj.key.kind == ELASTIC_QUOTA:
            quota = read_elastic_quota(obj.manifest, obj.key)
            for cluster in self.shared.clusters():
                cluster.quotas[quota.namespace] = quota
            event = Event(plugin.QUOTA_CHANGED, new=quota)
        else:
            added = self.shared.gangs.put(obj.key, obj.spec)
            name = plugin.GANG_ADDED if added else plugin.GANG_CHANGED
            event = Event(name, new=obj.key)
        if not restore:
            self.shared.notify(event)

    def _put_group(self, obj: Object) -> Event:
        group = read_group(obj.manifest, obj.key.namespace)
        known = obj.key in self.shared.schedulers[0].cluster.groups
        for cluster in self.shared.clusters():
            cluster.groups[obj.key] = group
        name = plugin.GROUP_CHANGED if known else plugin.GROUP_ADDED
        return Event(name, new=group)

    def remove(self, key: Key) -> None:
        """Forget an object."""
        self.shared.gangs.remove(key)
        for cluster in self.shared.clusters():
            cluster.groups.pop(key, None)
            if key.kind == ELASTIC_QUOTA:
                cluster.quotas.pop(key.namespace, None)
        if key.kind == ELASTIC_QUOTA:
            self.shared.notify(Event(plugin.QUOTA_CHANGED, old=key))
