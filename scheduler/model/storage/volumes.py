"""Volumes, storage classes and CSI nodes as the documents give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.durations import stamp_or_none
from scheduler.model.objects import Key
from scheduler.model.selectors import (
    NodeTerm,
    Requirement,
    read_node_term,
)
from scheduler.model.storage.claims import CLAIM, Claim

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
        """Return whether its node affinity accepts the node."""
        if self.terms is None:
            return True
        return any(term.matches(node, labels) for term in self.terms)

    def reserved_for(self, claim: Claim) -> bool:
        """Return whether its claimRef names the claim."""
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
