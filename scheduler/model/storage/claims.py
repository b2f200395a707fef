"""Claims to volumes: PersistentVolumeClaims, and the volumes of pods that name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.durations import stamp_or_none
from scheduler.model.objects import Key, Object
from scheduler.model.selectors import (
    NodeTerm,
    Requirement,
    Selector,
    read_node_term,
    read_selector,
)

CLAIM = "PersistentVolumeClaim"
ONCE_POD = "ReadWriteOncePod"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A PersistentVolumeClaim: what it asks for, and what it has."""

    key: Key
    uid: str = ""
    class_name: str | None = None  # None: the default class; "": none at all
    volume: str = ""  # spec.volumeName
    bound: bool = False  # the document says that the binding is complete
    lost: bool = False
    terminating: bool = False
    size: int = 0  # bytes
    modes: tuple[str, ...] = ()
    block: bool = False
    selector: Selector | None = None  # None: any volume
    selected_node: str = ""
    pod_uid: str = ""  # of a claim made for one pod's ephemeral volume


class ClaimVolume(msgspec.Struct, frozen=True):
    """A volume of a pod that comes from a claim: its name, or the template of one."""

    volume: str
    claim: str = ""
    template: Claim | None = None  # of an ephemeral volume

    def key(self, namespace: str, pod: str) -> Key:
        """Return the key of the claim for a pod."""
        return Key(CLAIM, namespace, self.claim or f"{pod}-{self.volume}")


def read_claim(
    manifest: Mapping[str, Any], status: Mapping[str, Any], key: Key
) -> Claim:
    """Return the claim of a document. Raises QuantityError for an invalid size."""
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    name = annotations.get(_OLD_CLASS, spec.get("storageClassName"))
    volume, phase = str(spec.get("volumeName") or ""), status.get("phase")
    asked = (spec.get("resources") or {}).get("requests") or {}
    selector = spec.get("selector")
    return Claim(
        key=key,
        uid=str(metadata.get("uid") or ""),
        class_name=None if name is None else str(name),
        volume=volume,
        bound=bool(volume) and (BIND_COMPLETED in annotations or phase == "Bound"),
        lost=phase == "Lost",
        terminating=bool(metadata.get("deletionTimestamp")),
        size=amounts.canonical("storage", asked.get("storage", 0)),
        modes=tuple(str(mode) for mode in spec.get("accessModes") or ()),
        block=spec.get("volumeMode") == "Block",
        selector=None if selector is None else read_selector(selector),
        selected_node=str(annotations.get(SELECTED_NODE) or ""),
    )


def read_claim_volumes(spec: Mapping[str, Any]) -> tuple[ClaimVolume, ...]:
    """Return the volumes of a pod spec that come from claims, in order."""
    found = []
    for volume in spec.get("volumes") or ():
        name = str(volume.get("name"))
        if claim := volume.get("persistentVolumeClaim"):
            found.append(ClaimVolume(name, str(claim.get("claimName") or "")))
        elif "ephemeral" in volume:
            made = (volume["ephemeral"] or {}).get("volumeClaimTemplate") or {}
            found.append(
                ClaimVolume(name, template=read_claim(made, {}, Key(CLAIM, "", "")))
            )
    return tuple(found)


# ------------------------------------------------------------------------
# Volumes, storage classes and CSI nodes as the documents give them.


VOLUME = "PersistentVolume"
STORAGE_CLASS = "StorageClass"
CSI_NODE = "CSINode"
KINDS = (CLAIM, VOLUME, STORAGE_CLASS, CSI_NODE)

NO_PROVISIONER = "kubernetes.io/no-provisioner"
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


class Volume(msgspec.Struct, frozen=True, kw_only=True):
    """A PersistentVolume; `terms` None is reachable from every node."""

    name: str
    labels: dict[str, str] = {}
    class_name: str = ""
    size: int = 0  # bytes
    modes: tuple[str, ...] = ()
    block: bool = False
    claim: Key | None = None  # spec.claimRef
    claim_uid: str = ""
    available: bool = True  # by its phase
    terms: tuple[NodeTerm, ...] | None = None
    driver: str = ""  # of a CSI volume, with its handle
    handle: str = ""

    def reaches(self, node: str, labels: Mapping[str, str]) -> bool:
        """Return whether the volume's node affinity accepts a node."""
        if self.terms is None:
            return True
        return any(term.matches(node, labels) for term in self.terms)

    def reserved_for(self, claim: Claim) -> bool:
        """Return whether the volume's claimRef names a claim."""
        return self.claim == claim.key and self.claim_uid in ("", claim.uid)


class StorageClass(msgspec.Struct, frozen=True, kw_only=True):
    """A StorageClass: who provisions, when claims are bound, and where."""

    name: str
    provisioner: str = ""
    waits: bool = False  # volumeBindingMode: WaitForFirstConsumer
    #: allowedTopologies without its empty terms; empty allows every node
    topologies: tuple[tuple[Requirement, ...], ...] = ()
    is_default: bool = False
    created_us: int = 0

    @property
    def provisions(self) -> bool:
        """Return whether volumes of the class are made when they are asked for."""
        return self.provisioner not in ("", NO_PROVISIONER)

    def allows(self, labels: Mapping[str, str]) -> bool:
        """Return whether a volume may be made where a node with these labels is."""
        return not self.topologies or any(
            all(need.matches(labels) for need in term) for term in self.topologies
        )


class CSIDriver(msgspec.Struct, frozen=True, gc=False):
    """A driver on a node: how many volumes it attaches, and by which labels it places."""

    limit: int | None = None
    topology_keys: tuple[str, ...] = ()


def read_volume(manifest: Mapping[str, Any], status: Mapping[str, Any]) -> Volume:
    """Return the volume of a document. Raises QuantityError for an invalid size."""
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    claim, csi = spec.get("claimRef") or {}, spec.get("csi") or {}
    required = (spec.get("nodeAffinity") or {}).get("required")
    terms = (required or {}).get("nodeSelectorTerms") or ()
    return Volume(
        name=str(metadata.get("name", "")),
        labels={str(k): str(v) for k, v in (metadata.get("labels") or {}).items()},
        class_name=str(spec.get("storageClassName") or ""),
        size=amounts.canonical(
            "storage", (spec.get("capacity") or {}).get("storage", 0)
        ),
        modes=tuple(str(mode) for mode in spec.get("accessModes") or ()),
        block=spec.get("volumeMode") == "Block",
        claim=_claim_key(claim),
        claim_uid=str(claim.get("uid") or ""),
        available=status.get("phase") in (None, "", "Pending", "Available", "Bound")
        and not metadata.get("deletionTimestamp"),
        terms=None if required is None else tuple(read_node_term(t) for t in terms),
        driver=str(csi.get("driver") or ""),
        handle=str(csi.get("volumeHandle") or ""),
    )


def _claim_key(reference: Mapping[str, Any]) -> Key | None:
    name = reference.get("name")
    return (
        Key(CLAIM, str(reference.get("namespace") or ""), str(name)) if name else None
    )


def read_storage_class(manifest: Mapping[str, Any]) -> StorageClass:
    """Return the storage class of a document."""
    metadata = manifest.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    created = metadata.get("creationTimestamp")
    terms = (
        tuple(
            Requirement(
                str(one.get("key")), "In", tuple(map(str, one.get("values") or ()))
            )
            for one in term.get("matchLabelExpressions") or ()
        )
        for term in manifest.get("allowedTopologies") or ()
    )
    return StorageClass(
        name=str(metadata.get("name", "")),
        provisioner=str(manifest.get("provisioner") or ""),
        waits=manifest.get("volumeBindingMode") == "WaitForFirstConsumer",
        topologies=tuple(term for term in terms if term),
        is_default=any(annotations.get(name) == "true" for name in _DEFAULT_CLASS),
        created_us=stamp_or_none(created) or 0,
    )


def read_csi_node(manifest: Mapping[str, Any]) -> dict[str, CSIDriver]:
    """Return the drivers of a CSINode by name."""
    found = {}
    for driver in (manifest.get("spec") or {}).get("drivers") or ():
        limit = (driver.get("allocatable") or {}).get("count")
        keys = tuple(str(key) for key in driver.get("topologyKeys") or ())
        found[str(driver.get("name"))] = CSIDriver(
            None if limit is None else int(limit), keys
        )
    return found


# ------------------------------------------------------------------------
# Claims that a StatefulSet makes for its pods, one per template and ordinal.


def give_claims(pod: Object, owner: Object, others: Iterable[Object]) -> list[Object]:
    """Let a pod use the claims of the first ordinal that is free; return these claims.

    `owner` is the StatefulSet, `others` are its pods. The claims may exist already:
    those of a pod that is gone are used again. Volumes of the template by the name
    of a claim's give way to it.
    """
    templates = owner.spec.get("volumeClaimTemplates") or []
    if not templates:
        return []
    used = {name for other in others for name in _claim_names(other)}
    start = int((owner.spec.get("ordinals") or {}).get("start") or 0)
    suffix = next(
        found
        for number in count(start)
        if (found := f"{owner.key.name}-{number}")
        and not any(f"{_name(one)}-{found}" in used for one in templates)
    )
    names = {_name(one): f"{_name(one)}-{suffix}" for one in templates}
    spec = pod.manifest["spec"]
    given = [one for one in spec.get("volumes") or [] if one.get("name") not in names]
    spec["volumes"] = given + [
        {"name": name, "persistentVolumeClaim": {"claimName": claim}}
        for name, claim in names.items()
    ]
    return [_claim(owner, one, names[_name(one)]) for one in templates]


def _claim_names(pod: Object) -> Iterator[str]:
    for volume in pod.spec.get("volumes") or []:
        if claim := volume.get("persistentVolumeClaim"):
            yield str(claim.get("claimName"))


def _name(template: dict[str, Any]) -> str:
    return str((template.get("metadata") or {}).get("name"))


def _claim(owner: Object, template: dict[str, Any], name: str) -> Object:
    metadata = template.get("metadata") or {}
    selected = (owner.spec.get("selector") or {}).get("matchLabels") or {}
    key = Key("PersistentVolumeClaim", owner.key.namespace, name)
    manifest = {
        "apiVersion": "v1",
        "kind": key.kind,
        "metadata": {
            "name": name,
            "namespace": key.namespace,
            "labels": {**(metadata.get("labels") or {}), **selected},
            "annotations": dict(metadata.get("annotations") or {}),
        },
        "spec": dict(template.get("spec") or {}),
    }
    return Object(key=key, manifest=manifest)
