"""Claims to volumes: PersistentVolumeClaims, and the volumes of pods that name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.objects import Key
from scheduler.model.selectors import Selector, read_selector

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
