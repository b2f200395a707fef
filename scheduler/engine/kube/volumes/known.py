"""Claims, volumes and classes as they stand, and which volume each claim has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from scheduler.model.node import Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.selectors import NodeTerm, Requirement
from scheduler.model.storage.claims import Claim, CSIDriver, StorageClass, Volume


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """The volume of a claim: one that is here, or one made for it (`made`)."""

    volume: str
    made: bool = False
    driver: str = ""  # of a made one
    topology: tuple[tuple[str, str], ...] = ()  # labels of the nodes that reach it
    node: str = ""  # for whose pod it was chosen; "" for an immediate one

    def as_volume(self) -> Volume:
        """Return the volume that was made."""
        needs = tuple(Requirement(key, "In", (value,)) for key, value in self.topology)
        return Volume(
            name=self.volume,
            terms=(NodeTerm(needs),) if needs else None,
            driver=self.driver,
            handle=self.volume,
        )


Bindings = dict[Key, Binding]


class Volumes:
    """What the schedulers of a run know of volumes; all of them share it.

    `bound` holds the claims that have their volume, `assumed` by pod what a pod on
    its way to a node will bind. `stale` is set when a claim may now be bound.
    """

    def __init__(self) -> None:
        self.claims: dict[Key, Claim] = {}
        self.volumes: dict[str, Volume] = {}
        self.classes: dict[str, StorageClass] = {}
        self.csi_nodes: dict[str, dict[str, CSIDriver]] = {}
        self.bound: Bindings = {}
        self.assumed: dict[Key, Bindings] = {}
        self.holders: dict[str, Key] = {}  # volume: claim it is bound to or assumed for
        self.stale = False
        self._by_class: dict[str, list[Volume]] | None = None

    # --- objects

    def put_claim(self, claim: Claim, kept: Binding | None = None) -> Claim | None:
        """Take a claim, with the binding that is stored of it; return the former."""
        before = self.claims.get(claim.key)
        if before is not None and before.uid != claim.uid:
            self.remove_claim(claim.key)
        self.claims[claim.key] = claim
        if kept is None and claim.bound:
            kept = Binding(volume=claim.volume)
        if kept is not None:
            self.bind(claim.key, kept)
        self.stale = True
        return before

    def remove_claim(self, key: Key) -> None:
        """Forget a claim; its volume stays reserved for it, one made for it goes."""
        self.claims.pop(key, None)
        self.stale = True
        binding = self.bound.pop(key, None)
        if binding is not None and self.holders.get(binding.volume) == key:
            del self.holders[binding.volume]

    def put_volume(self, volume: Volume) -> Volume | None:
        """Take a volume; return what it was before."""
        before = self.volumes.get(volume.name)
        holder = self.holders.get(volume.name)
        if volume.claim is None and holder in self.bound:
            volume = _reserved(volume, self.claims[holder])
        self.volumes[volume.name] = volume
        self._by_class, self.stale = None, True
        return before

    def remove_volume(self, name: str) -> None:
        """Forget a volume; a claim bound to it stays so."""
        if self.volumes.pop(name, None) is not None:
            self._by_class = None

    def put_class(self, storage_class: StorageClass) -> StorageClass | None:
        """Take a storage class; return what it was before."""
        before = self.classes.get(storage_class.name)
        self.classes[storage_class.name] = storage_class
        self.stale = True
        return before

    # --- questions

    def class_name(self, claim: Claim) -> str:
        """Return the class of a claim, the default one where it names none."""
        if claim.class_name is not None:
            return claim.class_name
        defaults = [one for one in self.classes.values() if one.is_default]
        if not defaults:
            return ""
        return min(defaults, key=lambda one: (-one.created_us, one.name)).name

    def class_of(self, claim: Claim) -> StorageClass | None:
        """Return the storage class of a claim; None when there is none."""
        return self.classes.get(self.class_name(claim))

    def volume_of(self, claim: Key) -> Volume | None:
        """Return the volume of a bound claim; None when it is not here."""
        binding = self.bound.get(claim)
        if binding is None:
            return None
        return binding.as_volume() if binding.made else self.volumes.get(binding.volume)

    def of_class(self, name: str) -> list[Volume]:
        """Return the volumes of a class, the smallest first."""
        if self._by_class is None:
            self._by_class = {}
            for volume in sorted(self.volumes.values(), key=lambda v: (v.size, v.name)):
                self._by_class.setdefault(volume.class_name, []).append(volume)
        return self._by_class.get(name, [])

    def assumed_for(self, claim: Key) -> Binding | None:
        """Return what a pod on its way to a node will bind the claim to."""
        for bindings in self.assumed.values():
            if claim in bindings:
                return bindings[claim]
        return None

    # --- bindings

    def bind(self, key: Key, binding: Binding) -> None:
        """Give a claim its volume for good."""
        self.bound[key] = binding
        self.holders[binding.volume] = key
        volume = self.volumes.get(binding.volume)
        if volume is not None and not binding.made and volume.claim is None:
            self.volumes[volume.name] = _reserved(volume, self.claims[key])
            self._by_class = None

    def assume(self, pod: Key, bindings: Bindings) -> None:
        """Keep volumes for the claims of a pod that is on its way to a node."""
        if bindings:
            self.assumed[pod] = bindings
            for key, binding in bindings.items():
                self.holders[binding.volume] = key

    def forget(self, pod: Key) -> Bindings:
        """Let go of what was kept for a pod; return it."""
        bindings = self.assumed.pop(pod, {})
        for key, binding in bindings.items():
            if key not in self.bound and self.assumed_for(key) is None:
                self.holders.pop(binding.volume, None)
                self.stale = True
        return bindings

    # --- volumes that a pod brings its own claims for

    def pod_added(self, pod: Pod) -> None:
        """Make the claims of a pod's ephemeral volumes, where they do not exist."""
        for key, template in ephemeral_claims(pod):
            if key not in self.claims:
                claim = msgspec.structs.replace(
                    template, key=key, uid=f"{pod.uid}-{key.name}", pod_uid=pod.uid
                )
                self.put_claim(claim)

    def pod_gone(self, pod: Pod) -> None:
        """Remove the claims that were made for a pod."""
        for key, _ in ephemeral_claims(pod):
            claim = self.claims.get(key)
            if claim is not None and claim.pod_uid == pod.uid:
                self.remove_claim(key)

    # --- state

    def dump_state(self) -> dict[str, Any]:
        """Return the state outside of objects: assumed claims, and claims made for pods."""
        found: dict[str, Any] = {}
        if self.assumed:
            found["assumed"] = [
                [list(pod), _plain(held)] for pod, held in sorted(self.assumed.items())
            ]
        own = {k: self.bound[k] for k in self.bound if self._is_for_pod(k)}
        if own:
            found["made"] = _plain(own)
        return found

    def _is_for_pod(self, key: Key) -> bool:
        claim = self.claims.get(key)
        return claim is not None and claim.pod_uid != ""

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned, before any object is restored."""
        for pod, bindings in state.get("assumed", ()):
            self.assume(Key(*pod), _bindings(bindings))
        for key, binding in _bindings(state.get("made", ())).items():
            self.bound[key] = binding
            self.holders[binding.volume] = key


def ephemeral_claims(pod: Pod) -> Iterable[tuple[Key, Claim]]:
    """Yield the claims that are made for a pod's ephemeral volumes."""
    for source in pod.shape.claims:
        if source.template is not None:
            yield source.key(pod.namespace, pod.name), source.template


def _reserved(volume: Volume, claim: Claim) -> Volume:
    return msgspec.structs.replace(volume, claim=claim.key, claim_uid=claim.uid)


def _plain(bindings: Bindings) -> list[Any]:
    return [
        [list(key), msgspec.to_builtins(one)] for key, one in sorted(bindings.items())
    ]


def _bindings(given: Iterable[Any]) -> Bindings:
    return {Key(*key): msgspec.convert(one, Binding) for key, one in given}


# ------------------------------------------------------------------------
# Which volume a claim may have: on a node, or at once where nothing is waited for.


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
