"""VolumeZone: a volume labelled with a zone or region is used from there only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
    unresolvable,
)
from scheduler.engine.kube.plugins.volumes.volume_binding import (
    other_labels,
    uses_claim,
)
from scheduler.model.node import REGION, ZONE
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.registry import register
from scheduler.model.storage.volumes import Volume

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
            events.CLAIM_ADDED: uses_claim,
            events.CLAIM_CHANGED: uses_claim,
            events.VOLUME_ADDED: None,
            events.VOLUME_CHANGED: _moved,
            events.CLASS_ADDED: _waits,
            events.NODE_ADDED: None,
            events.NODE_CHANGED: other_labels,
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
