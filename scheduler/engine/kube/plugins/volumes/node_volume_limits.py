"""NodeVolumeLimits: a node attaches only so many volumes of one CSI driver."""

from __future__ import annotations

from collections import Counter

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.framework.plugin import Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    CycleState,
    Status,
    unschedulable,
)
from scheduler.engine.kube.plugins.volumes.volume_binding import uses_claim
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.registry import register

Attached = tuple[str, str]  # driver, handle


@register(
    "plugin",
    "NodeVolumeLimits",
    label="Node volume limits",
    help="Filters out nodes whose CSINode allows no further volume of a driver.",
)
class NodeVolumeLimits(Plugin):
    """Source: docs/semantics/kube-scheduler.md#volumes."""

    name = "NodeVolumeLimits"
    for_claims = True
    reason = "node(s) exceed max volume count"

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Skip a pod without claims."""
        return (OK if pod.shape.claims else SKIP), None

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node that would hold more volumes of a driver than it may."""
        drivers = self.handle.cluster.volumes.csi_nodes.get(node_info.node.name)
        if not drivers:
            return OK
        wanted = self._volumes(pod)
        held = {v for other in node_info.pods.values() for v in self._volumes(other)}
        counts = Counter(driver for driver, _ in held | wanted)
        for driver in {driver for driver, _ in wanted - held}:
            allowed = drivers[driver].limit if driver in drivers else None
            if allowed is not None and counts[driver] > allowed:
                return unschedulable(self.reason)
        return OK

    def _volumes(self, pod: Pod) -> set[Attached]:
        """Return the CSI volumes of a pod's claims, those to be made included."""
        found = set()
        for source in pod.shape.claims:
            attached = self._attached(source.key(pod.namespace, pod.name))
            if attached is not None:
                found.add(attached)
        return found

    def _attached(self, key: Key) -> Attached | None:
        known = self.handle.cluster.volumes
        claim = known.claims.get(key)
        if claim is None:
            return None
        if key in known.bound:
            volume = known.volume_of(key)
            if volume is None or not volume.driver:
                return None
            return volume.driver, volume.handle
        storage_class = known.class_of(claim)
        if storage_class is None or not storage_class.provisions:
            return None
        return storage_class.provisioner, key.path

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a pod with claims goes, a claim comes, or a limit changes."""
        return {
            events.POD_DELETED: _detaches,
            events.CLAIM_ADDED: uses_claim,
            events.CSI_NODE_ADDED: None,
            events.CSI_NODE_CHANGED: None,
            events.NODE_ADDED: None,
        }


def _detaches(pod: Pod, event: Event) -> bool:
    return bool(event.pod.shape.claims)
