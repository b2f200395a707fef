"""VolumeBinding: a pod goes where its claims have their volumes, or can get them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from scheduler.engine.kube.cache.node_info import NodeInfo
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
from scheduler.engine.kube.volumes.known import (
    BIND_CONFLICT,
    bindings_on,
    bound_conflict,
    waits,
)
from scheduler.model.node import REGION, ZONE, Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.registry import register
from scheduler.model.storage.claims import Claim, Volume

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
            plugin.CLAIM_ADDED: uses_claim,
            plugin.CLAIM_CHANGED: uses_claim,
            plugin.VOLUME_ADDED: None,
            plugin.VOLUME_CHANGED: None,
            plugin.CLASS_ADDED: None,
            plugin.CLASS_CHANGED: _other_topologies,
            plugin.CSI_NODE_ADDED: None,
            plugin.NODE_ADDED: None,
            plugin.NODE_CHANGED: other_labels,
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


# ------------------------------------------------------------------------
# VolumeZone: a volume labelled with a zone or region is used from there only.


#: a label of older clusters -> the one that stands for it now
_OLDER = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
}
_LABELS = (*_OLDER, ZONE, REGION)
Place = tuple[str, frozenset[str]]  # label, its allowed values


@dataclass(slots=True)
class Places(Fixed):
    """Where a pod's volumes are, by their labels."""

    places: list[Place]


@register(
    "plugin",
    "VolumeZone",
    label="Volume zone",
    help="Filters out nodes in another zone or region than a volume's labels name.",
)
class VolumeZone(Plugin):
    """Source: docs/semantics/kube-scheduler.md#volumes."""

    name = "VolumeZone"
    for_claims = True
    reason = "node(s) had no available volume zone"

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Look up the volumes; skip a pod none of whose volumes has such a label."""
        places: list[Place] = []
        for source in pod.shape.claims:
            if source.template is None:
                volume, problem = self._volume(source.key(pod.namespace, pod.name))
                if problem:
                    return unresolvable(problem), None
                places += labelled(volume) if volume is not None else ()
        if not places:
            return SKIP, None
        state.data[self.name] = Places(places)
        return OK, None

    def _volume(self, key: Key) -> tuple[Volume | None, str]:
        """Return a claim's volume, or what is wrong with it; neither if it waits."""
        known = self.handle.cluster.volumes
        claim = known.claims.get(key)
        if claim is None:
            return None, f'persistentvolumeclaim "{key.name}" not found'
        binding = known.bound.get(key)
        name = binding.volume if binding is not None else claim.volume
        if name:
            volume = known.volume_of(key) or known.volumes.get(name)
            problem = f'persistentvolume "{name}" not found'
            return volume, "" if volume is not None else problem
        wanted, found = known.class_name(claim), known.class_of(claim)
        if not wanted:
            return None, "PersistentVolumeClaim had no pv name and storageClass name"
        if found is None:
            return None, f'storageclass.storage.k8s.io "{wanted}" not found'
        return None, "" if found.waits else "PersistentVolume had no name"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node with zone labels that are not those of each volume."""
        labels = node_info.node.labels
        if not any(label in labels for label in _LABELS):
            return OK
        places = state.data[self.name]
        assert isinstance(places, Places)
        for label, values in places.places:
            value = labels.get(label, labels.get(_OLDER.get(label, label)))
            if value not in values:
                return unresolvable(self.reason)
        return OK

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a claim, a volume, a waiting class or a node comes."""
        return {
            plugin.CLAIM_ADDED: uses_claim,
            plugin.CLAIM_CHANGED: uses_claim,
            plugin.VOLUME_ADDED: None,
            plugin.VOLUME_CHANGED: _moved,
            plugin.CLASS_ADDED: _waits,
            plugin.NODE_ADDED: None,
            plugin.NODE_CHANGED: other_labels,
        }


def labelled(volume: Volume) -> Iterator[Place]:
    """Yield where a volume's labels say that it is; "a__b" stands for two zones."""
    for label in _LABELS:
        if label in volume.labels:
            values = volume.labels[label].split("__")
            if all(value.strip() for value in values):
                yield label, frozenset(value.strip() for value in values)


def _moved(pod: Pod, event: Event) -> bool:
    return list(labelled(event.old)) != list(labelled(event.new))


def _waits(pod: Pod, event: Event) -> bool:
    return bool(event.new.waits)
