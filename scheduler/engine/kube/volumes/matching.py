"""Which volume a claim may have: on a node, or at once where nothing is waited for.

Source: docs/semantics/kube-scheduler.md#volumes.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kube.volumes.known import Binding, Bindings, Volumes
from scheduler.model.node import Node
from scheduler.model.objects import Key
from scheduler.model.selectors import Requirement
from scheduler.model.storage.claims import Claim
from scheduler.model.storage.volumes import StorageClass, Volume

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


def waits(known: Volumes, claim: Claim) -> bool:
    """Return whether a claim is bound when a pod that uses it gets its node."""
    storage_class = known.class_of(claim)
    return storage_class is not None and storage_class.waits and not claim.volume


def bound_conflict(known: Volumes, bound: list[Key], node: Node) -> str:
    """Return why a node does not reach the volumes of bound claims; "" if it does."""
    for key in bound:
        volume = known.volume_of(key)
        if volume is None:
            return NO_VOLUME
        if not volume.reaches(node.name, node.labels):
            return NODE_CONFLICT
    return ""


def bindings_on(known: Volumes, unbound: list[Claim], node: Node) -> Bindings | None:
    """Return the volumes that the claims would have on a node; None if there are none.

    The smallest claims choose first; what finds no volume is made, where the class
    does so and allows the node.
    """
    found: Bindings = {}
    taken: set[str] = set()
    for claim in sorted(unbound, key=lambda one: one.size):
        binding = _binding_on(known, claim, node, taken)
        if binding is None:
            return None
        found[claim.key] = binding
        taken.add(binding.volume)
    return found


def _binding_on(
    known: Volumes, claim: Claim, node: Node, taken: set[str]
) -> Binding | None:
    assumed = known.assumed_for(claim.key)
    if assumed is not None:  # by another pod that is on its way to its node
        return assumed if _assumed_reaches(known, assumed, node) else None
    if claim.selected_node not in ("", node.name):
        return None
    if not claim.selected_node:
        volume = find_volume(known, claim, node, taken)
        if volume is not None:
            return Binding(volume=volume.name, node=node.name)
    storage_class = known.class_of(claim)
    if storage_class is None or not storage_class.provisions:
        return None
    if not storage_class.allows(node.labels):
        return None
    return _made_on(known, claim, storage_class, node)


def _assumed_reaches(known: Volumes, assumed: Binding, node: Node) -> bool:
    if assumed.made:
        return assumed.node == node.name
    volume = known.volumes.get(assumed.volume)
    return volume is not None and volume.reaches(node.name, node.labels)


def find_volume(
    known: Volumes, claim: Claim, node: Node | None, taken: set[str]
) -> Volume | None:
    """Return the smallest volume that suits a claim, the one reserved for it first."""
    for volume in known.of_class(known.class_name(claim)):
        if volume.reserved_for(claim):
            return volume if _suits(volume, claim, node) else None
    for volume in known.of_class(known.class_name(claim)):
        if volume.claim is not None or not volume.available:
            continue
        if volume.name in taken or volume.name in known.holders:
            continue
        if claim.selector is not None and not claim.selector.matches(volume.labels):
            continue
        if set(claim.modes) <= set(volume.modes) and _suits(volume, claim, node):
            return volume
    return None


def _suits(volume: Volume, claim: Claim, node: Node | None) -> bool:
    if volume.size < claim.size or volume.block != claim.block:
        return False
    return node is None or volume.reaches(node.name, node.labels)


def _made_on(
    known: Volumes, claim: Claim, storage_class: StorageClass, node: Node
) -> Binding:
    """Return the volume that is made for a claim where a node is."""
    driver = known.csi_nodes.get(node.name, {}).get(storage_class.provisioner)
    keys = driver.topology_keys if driver is not None else ()
    if not keys:
        keys = tuple(need.key for need in _term_of(storage_class, node))
    return Binding(
        volume=_name(claim),
        made=True,
        driver=storage_class.provisioner,
        topology=tuple((key, node.labels[key]) for key in keys if key in node.labels),
        node=node.name,
    )


def _term_of(storage_class: StorageClass, node: Node) -> tuple[Requirement, ...]:
    """Return the first of the class's topologies that the node is in."""
    for term in storage_class.topologies:
        if all(need.matches(node.labels) for need in term):
            return term
    return ()


def _name(claim: Claim) -> str:
    return f"pvc-{claim.uid or claim.key.path.replace('/', '-')}"


def immediate_bindings(known: Volumes) -> Iterator[tuple[Key, Binding]]:
    """Yield each claim that need not wait for a pod, with the volume it has now.

    What the volume controller and provisioners do; the caller binds before it takes
    the next. Cost: unbound claims x volumes of their class.
    """
    assumed = {key for bindings in known.assumed.values() for key in bindings}
    for key in sorted(known.claims.keys() - known.bound.keys() - assumed):
        binding = _immediate(known, known.claims[key])
        if binding is not None:
            yield key, binding


def _immediate(known: Volumes, claim: Claim) -> Binding | None:
    if claim.lost or claim.terminating:
        return None
    if claim.volume:
        volume = known.volumes.get(claim.volume)
        return Binding(volume=claim.volume) if _free(known, volume, claim) else None
    if waits(known, claim):
        return None
    volume = find_volume(known, claim, None, set())
    if volume is not None:
        return Binding(volume=volume.name)
    storage_class = known.class_of(claim)
    if storage_class is None or not storage_class.provisions:
        return None
    term = storage_class.topologies[0] if storage_class.topologies else ()
    return Binding(
        volume=_name(claim),
        made=True,
        driver=storage_class.provisioner,
        topology=tuple((need.key, need.values[0]) for need in term),
    )


def _free(known: Volumes, volume: Volume | None, claim: Claim) -> bool:
    if volume is None or not volume.available:
        return False
    if known.holders.get(volume.name, claim.key) != claim.key:
        return False  # another claim's, for a pod on its way to a node
    return volume.claim is None or volume.reserved_for(claim)
