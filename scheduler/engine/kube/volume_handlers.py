"""Claims, volumes, classes and CSI nodes in and out; what is bound without a pod."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Event
from scheduler.engine.kube.numa.topology import Topology, read_topology, zone_number
from scheduler.engine.kube.state import SharedCluster
from scheduler.engine.kube.volumes.known import Binding, Volumes, immediate_bindings
from scheduler.model import amounts
from scheduler.model.objects import Key, Object
from scheduler.model.storage.claims import (
    CLAIM,
    CSI_NODE,
    STORAGE_CLASS,
    VOLUME,
    read_claim,
    read_csi_node,
    read_storage_class,
    read_volume,
)

_STATE = "kube"  # where a claim keeps its binding


class VolumeHandlers:
    """Takes volume objects for every scheduler of a run, and writes them."""

    def __init__(self, shared: SharedCluster) -> None:
        self.shared = shared

    @property
    def known(self) -> Volumes:
        """Return what is known of volumes."""
        return self.shared.volumes

    def put(self, obj: Object, *, restore: bool) -> None:
        """Take an object that is new, changed or stored; wake the pods that wait for it."""
        event = _TAKES[obj.key.kind](self.known, obj)
        if not restore:
            self.shared.notify(event)

    def remove(self, key: Key) -> None:
        """Forget an object."""
        if key.kind == CLAIM:
            binding = self.known.bound.get(key)
            self.known.remove_claim(key)
            if binding is not None:
                self.shared.context.journal.touch(Key(VOLUME, "", binding.volume))
        elif key.kind == VOLUME:
            self.known.remove_volume(key.name)
        elif key.kind == STORAGE_CLASS:
            self.known.classes.pop(key.name, None)
        elif key.kind == CSI_NODE:
            self.known.csi_nodes.pop(key.name, None)

    def settle(self) -> None:
        """Bind what need not wait for a pod; nothing where nothing changed."""
        if self.known.stale:
            self.known.stale = False
            for key, binding in immediate_bindings(self.known):
                self.shared.bind_claim(key, binding)

    def write(self, obj: Object) -> None:
        """Write into a claim or volume what it is bound to."""
        if obj.key.kind == CLAIM and obj.key in self.known.claims:
            _write_claim(obj, self.known.bound.get(obj.key))
        elif obj.key.kind == VOLUME and obj.key.name in self.known.volumes:
            self._write_volume(obj)

    def _write_volume(self, obj: Object) -> None:
        volume = self.known.volumes[obj.key.name]
        holder = self.known.holders.get(obj.key.name)
        if holder in self.known.bound:
            reference = {"kind": CLAIM, "namespace": holder.namespace}
            reference |= {"name": holder.name, "uid": volume.claim_uid}
            obj.manifest["spec"] = {**obj.spec, "claimRef": reference}
            obj.status["phase"] = "Bound"
        elif volume.claim_uid:
            obj.status["phase"] = "Released"
        else:
            obj.status.setdefault("phase", "Available")


def _write_claim(obj: Object, binding: Binding | None) -> None:
    if binding is None:
        obj.state.pop(_STATE, None)
        obj.status.setdefault("phase", "Pending")
        return
    obj.state[_STATE] = {"binding": msgspec.to_builtins(binding)}
    obj.manifest["spec"] = {**obj.spec, "volumeName": binding.volume}
    obj.status["phase"] = "Bound"


def _claim(known: Volumes, obj: Object) -> Event:
    kept: Any = (obj.state.get(_STATE) or {}).get("binding")
    claim = read_claim(obj.manifest, obj.status, obj.key)
    before = known.put_claim(
        claim, None if kept is None else msgspec.convert(kept, Binding)
    )
    name = plugin.CLAIM_ADDED if before is None else plugin.CLAIM_CHANGED
    return Event(name, old=before, new=claim)


def _volume(known: Volumes, obj: Object) -> Event:
    volume = read_volume(obj.manifest, obj.status)
    before = known.put_volume(volume)
    name = plugin.VOLUME_ADDED if before is None else plugin.VOLUME_CHANGED
    return Event(name, old=before, new=volume)


def _class(known: Volumes, obj: Object) -> Event:
    storage_class = read_storage_class(obj.manifest)
    before = known.put_class(storage_class)
    name = plugin.CLASS_ADDED if before is None else plugin.CLASS_CHANGED
    return Event(name, old=before, new=storage_class)


def _csi_node(known: Volumes, obj: Object) -> Event:
    before = known.csi_nodes.get(obj.key.name)
    known.csi_nodes[obj.key.name] = drivers = read_csi_node(obj.manifest)
    name = plugin.CSI_NODE_ADDED if before is None else plugin.CSI_NODE_CHANGED
    return Event(name, old=before, new=drivers)


_TAKES = {CLAIM: _claim, VOLUME: _volume, STORAGE_CLASS: _class, CSI_NODE: _csi_node}


# ------------------------------------------------------------------------
# NodeResourceTopologies in and out: the sandbox is the agent that reports them.


class ZoneHandlers:
    """Takes the zones of nodes for every scheduler of a run, and writes them."""

    def __init__(self, shared: SharedCluster) -> None:
        self.shared = shared

    def put(self, obj: Object, *, restore: bool) -> None:
        """Take an object that is new, changed or stored; wake the pods that wait for it.

        In one that is new or changed all pods that run are counted already.
        """
        topology = read_topology(obj.manifest)
        self.shared.topologies.by_node[obj.key.name] = topology
        if restore:
            topology.holds = _read_holds(obj)
            return
        self.shared.context.journal.touch(obj.key)
        self.shared.notify(Event(plugin.TOPOLOGY_CHANGED, new=obj.key))

    def remove(self, key: Key) -> None:
        """Forget an object: its node takes pods as one without zones does."""
        self.shared.topologies.by_node.pop(key.name, None)
        self.shared.notify(Event(plugin.TOPOLOGY_CHANGED, old=key))

    def write(self, obj: Object) -> None:
        """Write into an object what is available, and which pods hold what."""
        topology = self.shared.topologies.by_node.get(obj.key.name)
        if topology is None:
            return
        if zones := obj.manifest.get("zones"):
            obj.manifest["zones"] = [_shown_zones(zone, topology) for zone in zones]
        obj.state[_STATE] = {
            "holds": [
                [
                    list(pod),
                    {str(number): dict(taken) for number, taken in held.items()},
                ]
                for pod, held in sorted(topology.holds.items())
            ]
        }


def _read_holds(obj: Object) -> dict[Key, dict[int, dict[str, int]]]:
    kept: Any = (obj.state.get(_STATE) or {}).get("holds") or ()
    return {
        Key(*pod): {int(number): dict(taken) for number, taken in held.items()}
        for pod, held in kept
    }


def _shown_zones(zone: dict[str, Any], topology: Topology) -> dict[str, Any]:
    """Return a zone with what is available now; amounts that did not change stay."""
    number = zone_number(zone)
    free = next((z.available for z in topology.zones if z.number == number), None)
    if free is None:
        return zone
    shown = []
    for item in zone.get("resources") or ():
        name = str(item["name"])
        given = item.get("available")
        if given is None or amounts.canonical(name, given) != free[name]:
            item = {**item, "available": amounts.text_of(name, free[name])}
        shown.append(item)
    return {**zone, "resources": shown}
