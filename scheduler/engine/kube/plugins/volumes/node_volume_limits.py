"""NodeVolumeLimits: a node attaches only so many volumes of one CSI driver."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import CountingPlugin, Event, Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    CycleState,
    Status,
    unresolvable,
    unschedulable,
)
from scheduler.engine.kube.plugins.volumes.volume_binding import uses_claim
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.registry import register
from scheduler.model.storage.claims import ONCE_POD

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
            plugin.POD_DELETED: _detaches,
            plugin.CLAIM_ADDED: uses_claim,
            plugin.CSI_NODE_ADDED: None,
            plugin.CSI_NODE_CHANGED: None,
            plugin.NODE_ADDED: None,
        }


def _detaches(pod: Pod, event: Event) -> bool:
    return bool(event.pod.shape.claims)


# ------------------------------------------------------------------------
# VolumeRestrictions: a ReadWriteOncePod claim serves one pod at a time.


@dataclass(slots=True)
class Conflicts:
    """A pod's claims for one pod, and how many of them others on nodes use."""

    claims: frozenset[Key]
    count: int

    def copy(self) -> Conflicts:
        """Return a copy that a dry run may count on."""
        return Conflicts(self.claims, self.count)


@register(
    "plugin",
    "VolumeRestrictions",
    label="Volume restrictions",
    help="Rejects a pod while another uses its ReadWriteOncePod claim.",
)
class VolumeRestrictions(CountingPlugin):
    """Source: docs/semantics/kube-scheduler.md#volumes."""

    name = "VolumeRestrictions"
    for_claims = True
    reason = (
        "node has pod using PersistentVolumeClaim with the same name and "
        "ReadWriteOncePod access mode"
    )

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Count the claims in use elsewhere; skip a pod that shares none."""
        known, users = self.handle.cluster.volumes, self.handle.cluster.claim_users
        alone: set[Key] = set()
        for key in named_claims(pod):
            claim = known.claims.get(key)
            if claim is None:
                problem = f'persistentvolumeclaim "{key.name}" not found'
                return unresolvable(problem), None
            if ONCE_POD in claim.modes:
                alone.add(key)
        used = sum(key in users for key in alone)
        if not used:
            return SKIP, None
        state.data[self.name] = Conflicts(frozenset(alone), used)
        return OK, None

    def count(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo, by: int
    ) -> None:
        """Count the claims of a pod that comes to a node or goes."""
        found = state.data[self.name]
        assert isinstance(found, Conflicts)
        found.count += by * sum(key in found.claims for key in named_claims(other))

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject every node while a claim is in use."""
        found = state.data[self.name]
        assert isinstance(found, Conflicts)
        return unschedulable(self.reason) if found.count > 0 else OK

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a pod with one of the claims goes, or a claim comes."""
        return {
            plugin.POD_DELETED: _shares,
            plugin.CLAIM_ADDED: uses_claim,
            plugin.NODE_ADDED: None,
        }


def named_claims(pod: Pod) -> list[Key]:
    """Return the claims that a pod names, without those of ephemeral volumes."""
    return [
        source.key(pod.namespace, pod.name)
        for source in pod.shape.claims
        if source.template is None
    ]


def _shares(pod: Pod, event: Event) -> bool:
    if not pod.shape.claims:
        return False
    return not set(named_claims(pod)).isdisjoint(named_claims(event.pod))
