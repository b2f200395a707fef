"""VolumeRestrictions: a ReadWriteOncePod claim serves one pod at a time."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.framework.plugin import CountingPlugin, Hint
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
            events.POD_DELETED: _shares,
            events.CLAIM_ADDED: uses_claim,
            events.NODE_ADDED: None,
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
