"""Objects in: which part takes which kind, and what the caches keep of the rest."""

from __future__ import annotations

from typing import Any

from scheduler.engine.kube import state
from scheduler.engine.kube.binding.host import BindingHost
from scheduler.engine.kube.cache import spread_selectors as selecting
from scheduler.engine.kube.cache.pod_group import read_budget
from scheduler.engine.kube.device_handlers import KINDS as DEVICE_KINDS
from scheduler.engine.kube.device_handlers import DeviceHandlers
from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.group_handlers import KINDS as GROUP_KINDS
from scheduler.engine.kube.group_handlers import GroupHandlers
from scheduler.engine.kube.numa.topology import NODE_TOPOLOGY
from scheduler.engine.kube.object_handlers import ObjectHandlers
from scheduler.engine.kube.shared_cluster import SharedCluster
from scheduler.engine.kube.volume_handlers import VolumeHandlers
from scheduler.engine.kube.zone_handlers import ZoneHandlers
from scheduler.engine.stage import Context
from scheduler.model.node import read_node
from scheduler.model.objects import Key, Object
from scheduler.model.pod import read_pod
from scheduler.model.storage.volumes import KINDS as VOLUME_KINDS


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
        pod = read_pod(obj.manifest, obj.status)
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
        elif kind in selecting.KINDS:
            for cluster in self.shared.clusters():
                cluster.selecting.put(obj.key, obj.manifest)
        elif kind == "Namespace":
            for cluster in self.shared.clusters():
                cluster.namespaces[obj.key.name] = dict(obj.labels)
            if not restore:
                self.shared.notify(Event(events.NAMESPACE_CHANGED, new=obj.key.name))

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
