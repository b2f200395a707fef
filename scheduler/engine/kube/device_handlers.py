"""Claims, templates, classes and slices of devices in and out; devices of found pods."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.engine.kube.devices.allocator import Devices, allocate
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Event
from scheduler.engine.kube.state import SharedCluster
from scheduler.model.devices.claims import (
    CLAIM,
    DEVICE_CLASS,
    SLICE,
    TEMPLATE,
    Allocation,
    read_device_claim,
    read_device_class,
    read_slice,
)
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod

KINDS = (CLAIM, TEMPLATE, DEVICE_CLASS, SLICE)
_STATE = "kube"  # where a claim keeps its allocation


class DeviceHandlers:
    """Takes device objects for every scheduler of a run, and writes claims."""

    def __init__(self, shared: SharedCluster) -> None:
        self.shared = shared

    @property
    def known(self) -> Devices:
        """Return the state of devices."""
        return self.shared.devices

    def put(self, obj: Object, *, restore: bool) -> None:
        """Take an object that is new, changed or stored; wake the pods that wait for it."""
        name = _DEVICE_KINDS[obj.key.kind](self.known, obj)
        if obj.key.kind == TEMPLATE:
            for pod in list(self.shared.pods.values()):
                if pod.shape.device_claims and self.known.pod_added(pod):
                    name = plugin.DEVICE_CLAIM_ADDED
        if name and not restore:
            self.shared.notify(Event(name, new=obj.key))

    def remove(self, key: Key) -> None:
        """Forget an object."""
        if key.kind == CLAIM:
            self.known.remove_claim(key)
            self.shared.notify(Event(plugin.DEVICE_CLAIM_CHANGED, new=key))
        elif key.kind == TEMPLATE:
            self.known.templates.pop(key._replace(kind=CLAIM), None)
        elif key.kind == DEVICE_CLASS:
            self.known.classes.pop(key.name, None)
        elif key.kind == SLICE:
            self.known.remove_slice(key.name)

    def found_placed(self, pod: Pod, node: str) -> None:
        """Take a pod that has a node when it is first seen: it has its devices there."""
        known, node_info = self.known, self.shared.nodes.node_infos.get(node)
        claims = [known.claims.get(key) for key in known.claim_keys(pod)]
        wanted = [c for c in claims if c is not None and c.key not in known.allocated]
        if node_info is not None and all(
            request.class_name in known.classes
            for claim in wanted
            for request in claim.requests
        ):
            given = allocate(known, wanted, node_info.node, known.taken())
            known.assume(pod.key, given or {})
        self.shared.bind_devices(pod)

    def write(self, obj: Object) -> None:
        """Write into a claim which devices it has, and which pods use them."""
        if obj.key.kind != CLAIM or obj.key not in self.known.claims:
            return
        allocation = self.known.allocated.get(obj.key)
        obj.state.pop(_STATE, None)
        obj.status.pop("allocation", None)
        obj.status.pop("reservedFor", None)
        if allocation is None:
            return
        obj.state[_STATE] = {"allocation": msgspec.to_builtins(allocation)}
        obj.status["allocation"] = _shown(allocation)
        users = sorted(self.known.users.get(obj.key, ()))
        if users:
            obj.status["reservedFor"] = [
                {"resource": "pods", "name": key.name} for key in users
            ]


def _shown(allocation: Allocation) -> dict[str, Any]:
    """Return an allocation as the status of a claim shows it."""
    names = ("request", "driver", "pool", "device")
    results = [dict(zip(names, one, strict=True)) for one in allocation.devices]
    found: dict[str, Any] = {"devices": {"results": results}}
    if allocation.node:
        field = {"key": "metadata.name", "operator": "In", "values": [allocation.node]}
        found["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return found


def _resource_claim(known: Devices, obj: Object) -> str:
    kept: Any = (obj.state.get(_STATE) or {}).get("allocation")
    added = obj.key not in known.claims
    known.put_claim(
        read_device_claim(obj.manifest, obj.status, obj.key),
        None if kept is None else msgspec.convert(kept, Allocation),
    )
    return plugin.DEVICE_CLAIM_ADDED if added else plugin.DEVICE_CLAIM_CHANGED


def _template(known: Devices, obj: Object) -> str:
    key = obj.key._replace(kind=CLAIM)
    known.templates[key] = read_device_claim(obj.spec, {}, key)
    return ""


def _device_class(known: Devices, obj: Object) -> str:
    added = obj.key.name not in known.classes
    known.classes[obj.key.name] = read_device_class(obj.manifest)
    return plugin.DEVICE_CLASS_ADDED if added else plugin.DEVICE_CLASS_CHANGED


def _slice(known: Devices, obj: Object) -> str:
    added = obj.key.name not in known.slices
    known.put_slice(read_slice(obj.manifest))
    return plugin.SLICE_ADDED if added else plugin.SLICE_CHANGED


_DEVICE_KINDS = {
    CLAIM: _resource_claim,
    TEMPLATE: _template,
    DEVICE_CLASS: _device_class,
    SLICE: _slice,
}
