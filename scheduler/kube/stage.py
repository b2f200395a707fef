"""kube-scheduler as a stage: nodes and pods in, places out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from scheduler.kube import state
from scheduler.kube.binding.host import BindingHost
from scheduler.kube.binding.rules import BindingCounts
from scheduler.kube.cache import spread_selectors as selecting
from scheduler.kube.cache.cluster import ClusterCache
from scheduler.kube.cache.invariants import sum_violations
from scheduler.kube.cache.pod_group import read_budget
from scheduler.kube.configuration.configuration import (
    Configuration,
    read_configurations,
)
from scheduler.kube.device_handlers import KINDS as DEVICE_KINDS
from scheduler.kube.device_handlers import DeviceHandlers
from scheduler.kube.extender.extenders import Extenders
from scheduler.kube.extender.ports import Port
from scheduler.kube.extender.static import latency_of, port_for
from scheduler.kube.framework import events
from scheduler.kube.framework.events import Event
from scheduler.kube.group_handlers import KINDS as GROUP_KINDS
from scheduler.kube.group_handlers import GroupHandlers
from scheduler.kube.object_handlers import ObjectHandlers
from scheduler.kube.scheduling.plugin_table import PluginTable, table
from scheduler.kube.scheduling.scheduler import Scheduler
from scheduler.kube.shared_cluster import SharedCluster
from scheduler.kube.turns import Turns
from scheduler.kube.volume_handlers import VolumeHandlers
from scheduler.records.node import read_node
from scheduler.records.objects import Key, Object
from scheduler.records.pod import Pod, read_pod
from scheduler.records.policy import Policy
from scheduler.records.storage.volumes import KINDS as VOLUME_KINDS
from scheduler.stage import Context


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
        self.handlers = ObjectHandlers(context, self.shared, self.binding)
        self.volumes = VolumeHandlers(self.shared)
        self.devices = DeviceHandlers(self.shared)
        self.groups = GroupHandlers(self.shared)
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
        self.turns.stalled = self.turns.stalled and restore
        if kind == "Node":
            self.objects[obj.key] = obj
            self.handlers.put_node(read_node(obj.manifest, obj.status), restore=restore)
        elif kind == "Pod":
            self.objects[obj.key] = obj
            pod = read_pod(obj.manifest, obj.status)
            if restore:
                self.handlers.restore_pod(obj, pod)
            else:
                self._put_pod(pod)
        elif kind in GROUP_KINDS:
            self.groups.put(obj, restore=restore)
        elif kind == "PodDisruptionBudget":
            budget = read_budget(obj.manifest, {}, obj.key.namespace)
            for cluster in self.clusters():
                cluster.budgets[obj.key] = budget
        elif kind in VOLUME_KINDS:
            self.volumes.put(obj, restore=restore)
        elif kind in DEVICE_KINDS:
            self.devices.put(obj, restore=restore)
        elif kind in selecting.KINDS:
            for cluster in self.clusters():
                cluster.selecting.put(obj.key, obj.manifest)
        elif kind == "Namespace":
            for cluster in self.clusters():
                cluster.namespaces[obj.key.name] = dict(obj.labels)
            if not restore:
                self.handlers.notify(Event(events.NAMESPACE_CHANGED, new=obj.key.name))

    def _put_pod(self, pod: Pod) -> None:
        known = pod.key in self.pods
        self.handlers.put_pod(pod)
        found = pod.wanted_node and not known and not pod.finished
        if pod.shape.device_claims and found:
            self.devices.found_placed(pod, pod.wanted_node)

    def remove(self, key: Key) -> None:
        """Forget an object; a node's pods are the lifetime's to end."""
        self.objects.pop(key, None)
        self.turns.stalled = False
        if key.kind == "Node":
            self.handlers.remove_node(key)
        elif key.kind == "Pod":
            self.handlers.pod_gone(key)
        elif key.kind in VOLUME_KINDS:
            self.volumes.remove(key)
        elif key.kind in DEVICE_KINDS:
            self.devices.remove(key)
        elif key.kind in GROUP_KINDS:
            self.groups.remove(key)
        for cluster in self.clusters():
            cluster.budgets.pop(key, None)
            cluster.selecting.remove(key)
            if key.kind == "Namespace":
                cluster.namespaces.pop(key.name, None)

    def schedule(self) -> None:
        """Try pods until no queue has one to try now. Cost: see `Turns.schedule`."""
        self.volumes.settle()
        self.turns.schedule()
        self.volumes.settle()  # volumes that a pod let go of

    def due(self) -> int | None:
        """Return the next instant with something to do; now while pods wait."""
        return self.turns.due()

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
        elif obj.key.kind in VOLUME_KINDS:
            self.volumes.write(obj)
        elif obj.key.kind in DEVICE_KINDS:
            self.devices.write(obj)

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

    def owned(self) -> Iterable[Key]:
        """Return the pods that it places or placed."""
        return list(self.pods)
