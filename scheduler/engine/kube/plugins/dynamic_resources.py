"""DynamicResources: a pod goes where the devices that its claims ask for are free."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.devices.allocator import DeviceId, Devices, allocate
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Event, Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    CycleState,
    Fixed,
    Status,
    error,
    unresolvable,
)
from scheduler.engine.kube.plugins.volumes.volume_binding import other_labels
from scheduler.model.devices.claims import Allocation, DeviceClaim
from scheduler.model.pod import Pod
from scheduler.model.registry import register

ELSEWHERE = "resourceclaim not available on the node"
NOT_ALL = "cannot allocate all claims"


@dataclass(slots=True)
class PodDevices(Fixed):
    """What a pod's claims have, those that still need devices, and what is taken."""

    allocated: list[Allocation] = field(default_factory=list)
    waiting: list[DeviceClaim] = field(default_factory=list)
    taken: set[DeviceId] = field(default_factory=set)


@register(
    "plugin",
    "DynamicResources",
    label="Dynamic resources",
    help="Filters out nodes without free devices for the pod's resource claims.",
)
class DynamicResources(Plugin):
    """Source: docs/semantics/kube-scheduler.md#devices."""

    name = "DynamicResources"
    for_claims = True

    @property
    def _known(self) -> Devices:
        return self.handle.cluster.devices

    def pre_enqueue(self, pod: Pod) -> Status:
        """Hold back a pod while one of its claims does not exist."""
        problem = self._problem(pod) if pod.shape.device_claims else ""
        return unresolvable(problem) if problem else OK

    def _problem(self, pod: Pod) -> str:
        for entry in pod.shape.device_claims:
            key = self._known.claim_key(pod, entry)
            claim = self._known.claims.get(key)
            if claim is None and entry.claim:
                return f'could not find ResourceClaim "{key.path}"'
            if claim is None:
                return f'pod "{pod.key.path}": ResourceClaim not created yet'
            if claim.terminating:
                return f'resourceclaim "{key.name}" is being deleted'
        return ""

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Reject a pod whose claim is being allocated or is of a class that is not."""
        if not pod.shape.device_claims:
            return SKIP, None
        if problem := self._problem(pod):
            return unresolvable(problem), None
        found = PodDevices()
        for key in self._known.claim_keys(pod):
            if key in self._known.allocated:
                found.allocated.append(self._known.allocated[key])
                continue
            problem = self._not_allocatable(self._known.claims[key])
            if problem:
                return unresolvable(problem), None
            found.waiting.append(self._known.claims[key])
        found.taken = self._known.taken() if found.waiting else set()
        state.data[self.name] = found
        return OK, None

    def _not_allocatable(self, claim: DeviceClaim) -> str:
        if self._known.is_pending(claim.key):
            return (
                f"resource claim {claim.key.path} is in the process of being allocated"
            )
        for request in claim.requests:
            if request.class_name not in self._known.classes:
                named = f"device class {request.class_name} does not exist"
                return f"request {request.name}: {named}"
        return ""

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node that does not reach what is allocated, or has not enough."""
        found, node = state.data[self.name], node_info.node
        assert isinstance(found, PodDevices)
        if not all(one.reaches(node.name, node.labels) for one in found.allocated):
            return unresolvable(ELSEWHERE)
        if found.waiting:
            given = allocate(self._known, found.waiting, node, found.taken)
            return unresolvable(NOT_ALL) if given is None else OK
        return OK

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Keep the devices of the node that the claims get."""
        found = state.data.get(self.name)
        if not isinstance(found, PodDevices) or not found.waiting:
            return OK
        placed = self.handle.cluster.node_infos[node].node
        given = allocate(self._known, found.waiting, placed, found.taken)
        if given is None:
            return error(NOT_ALL)
        self._known.assume(pod.key, given)
        return OK

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Let go of the devices."""
        self._known.forget(pod.key)

    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Allocate the claims, and note that the pod uses them; fail if one is gone."""
        if pod.shape.device_claims:
            if problem := self._problem(pod):
                return error(problem)
            self.handle.bind_devices(pod)
        return OK

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a claim changes or devices, classes or nodes come."""
        return {
            plugin.DEVICE_CLAIM_ADDED: _asks,
            plugin.DEVICE_CLAIM_CHANGED: _asks,
            plugin.DEVICE_CLASS_ADDED: None,
            plugin.DEVICE_CLASS_CHANGED: None,
            plugin.SLICE_ADDED: None,
            plugin.SLICE_CHANGED: None,
            plugin.NODE_ADDED: None,
            plugin.NODE_CHANGED: other_labels,
        }


def _asks(pod: Pod, event: Event) -> bool:
    return bool(pod.shape.device_claims)
