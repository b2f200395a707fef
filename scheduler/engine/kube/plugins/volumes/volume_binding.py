"""VolumeBinding: a pod goes where its claims have their volumes, or can get them."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.framework.plugin import Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    CycleState,
    Fixed,
    Status,
    error,
    unresolvable,
)
from scheduler.engine.kube.volumes.matching import (
    BIND_CONFLICT,
    bindings_on,
    bound_conflict,
    waits,
)
from scheduler.model.node import Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.registry import register
from scheduler.model.storage.claims import Claim

UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(slots=True)
class PodClaims(Fixed):
    """A pod's claims: those with a volume, those that get one with the node."""

    bound: list[Key] = field(default_factory=list)
    waiting: list[Claim] = field(default_factory=list)


@register(
    "plugin",
    "VolumeBinding",
    label="Volume binding",
    help="Filters out nodes that cannot reach or get the volumes of the pod's claims.",
)
class VolumeBinding(Plugin):
    """Source: docs/semantics/kube-scheduler.md#volumes."""

    name = "VolumeBinding"
    for_claims = True

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Reject a pod with a claim that is missing, or should have a volume by now."""
        if not pod.shape.claims:
            return SKIP, None
        known = self.handle.cluster.volumes
        found = PodClaims()
        for source in pod.shape.claims:
            key = source.key(pod.namespace, pod.name)
            claim = known.claims.get(key)
            problem = _problem(pod, key, claim, own=source.template is not None)
            if problem or claim is None:
                return unresolvable(problem), None
            if key in known.bound:
                found.bound.append(key)
            elif waits(known, claim):
                found.waiting.append(claim)
            else:
                return unresolvable(UNBOUND), None
        state.data[self.name] = found
        return OK, None

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node that does not reach a volume, or where none can be had."""
        claims = state.data[self.name]
        assert isinstance(claims, PodClaims)
        known, node = self.handle.cluster.volumes, node_info.node
        reasons = [bound_conflict(known, claims.bound, node)]
        if claims.waiting and bindings_on(known, claims.waiting, node) is None:
            reasons.append(BIND_CONFLICT)
        given = [reason for reason in reasons if reason]
        return unresolvable(*given) if given else OK

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Keep the volumes that the claims would have on the node."""
        claims = state.data.get(self.name)
        if not isinstance(claims, PodClaims) or not claims.waiting:
            return OK
        known = self.handle.cluster.volumes
        placed: Node = self.handle.cluster.node_infos[node].node
        bindings = bindings_on(known, claims.waiting, placed)
        if bindings is None:
            return error(BIND_CONFLICT)
        known.assume(pod.key, bindings)
        return OK

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Let go of the volumes."""
        self.handle.cluster.volumes.forget(pod.key)

    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Bind the claims; what is to be made is there at once. Fail if one is gone."""
        known = self.handle.cluster.volumes
        for source in pod.shape.claims:
            key = source.key(pod.namespace, pod.name)
            own = source.template is not None
            if problem := _problem(pod, key, known.claims.get(key), own=own):
                return error(problem)
        if pod.shape.claims:
            self.handle.bind_volumes(pod.key)
        return OK

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a claim of the pod, a volume, class or node changes."""
        return {
            events.CLAIM_ADDED: uses_claim,
            events.CLAIM_CHANGED: uses_claim,
            events.VOLUME_ADDED: None,
            events.VOLUME_CHANGED: None,
            events.CLASS_ADDED: None,
            events.CLASS_CHANGED: _other_topologies,
            events.CSI_NODE_ADDED: None,
            events.NODE_ADDED: None,
            events.NODE_CHANGED: other_labels,
        }


def uses_claim(pod: Pod, event: Event) -> bool:
    """Return whether the event is about a claim of the pod."""
    claim: Claim = event.new
    return claim.key.namespace == pod.namespace and any(
        source.key(pod.namespace, pod.name) == claim.key for source in pod.shape.claims
    )


def other_labels(pod: Pod, event: Event) -> bool:
    """Return whether the labels of a node changed."""
    return event.old_node is None or event.old_node.labels != event.node.labels


def _other_topologies(pod: Pod, event: Event) -> bool:
    return bool(event.old.topologies != event.new.topologies)


def _problem(pod: Pod, key: Key, claim: Claim | None, *, own: bool) -> str:
    """Return the faults of a claim of the pod; "" for nothing."""
    named = f'persistentvolumeclaim "{key.name}"'
    if claim is None and own:
        return f"waiting for ephemeral volume controller to create the {named}"
    if claim is None:
        return f"{named} not found"
    if claim.lost:
        return f'{named} bound to non-existent persistentvolume "{claim.volume}"'
    if claim.terminating:
        return f"{named} is being deleted"
    if own and claim.pod_uid != pod.uid:
        return (
            f"PVC {key.path} was not created for pod {pod.key.path} (pod is not owner)"
        )
    return ""
