"""A Node as placement sees it: name, labels, taints, allocatable, images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.selectors import Taint, read_taints

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
_OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
_OLD_REGION = "failure-domain.beta.kubernetes.io/region"

CPU = "cpu"
MEMORY = "memory"
STORAGE = "ephemeral-storage"
PODS = "pods"
NATIVE = (CPU, MEMORY, STORAGE)


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a Node document says, parsed once."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    allocatable: dict[
        str, int
    ]  # canonical units; names placement does not know left out
    images: tuple[tuple[str, int], ...] = ()  # (normalized name, bytes)

    @property
    def zone(self) -> str:
        """Return the key under which nodes are interleaved: region and zone."""
        labels = self.labels
        region = labels.get(REGION) or labels.get(_OLD_REGION) or ""
        zone = labels.get(ZONE) or labels.get(_OLD_ZONE) or ""
        return f"{region}:\0:{zone}" if region or zone else ""


def is_scalar(resource: str) -> bool:
    """Return whether placement counts this name beside cpu, memory and storage.

    Extended names have a domain outside kubernetes.io; huge pages and
    attachable volumes count too.
    Source: docs/semantics/kube-scheduler.md#quantities-and-node-capacity.
    """
    if resource.startswith(("hugepages-", "attachable-volumes-")):
        return True
    if "/" not in resource:
        return False
    return not resource.startswith("requests.")


def is_extended(resource: str) -> bool:
    """Return whether it is an extended resource: a domain that is not native."""
    domain, slash, _ = resource.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io")


def read_node(manifest: Mapping[str, Any], status: Mapping[str, Any]) -> Node:
    """Return the node. Raises QuantityError for an invalid allocatable.

    Capacity is never consulted.
    Source: docs/semantics/kube-scheduler.md#quantities-and-node-capacity.
    """
    metadata = manifest.get("metadata") or {}
    spec = manifest.get("spec") or {}
    labels = metadata.get("labels") or {}
    return Node(
        name=str(metadata.get("name", "")),
        labels={str(k): str(v) for k, v in labels.items()},
        taints=read_taints(spec.get("taints")),
        unschedulable=bool(spec.get("unschedulable")),
        allocatable=_allocatable(status.get("allocatable") or {}),
        images=tuple(_images(status.get("images") or ())),
    )


def _allocatable(data: Mapping[str, Any]) -> dict[str, int]:
    return {
        name: amounts.canonical(name, value)
        for name, value in data.items()
        if name in NATIVE or name == PODS or is_scalar(name)
    }


def _images(items: Any) -> list[tuple[str, int]]:
    return [
        (name, int(item.get("sizeBytes") or 0))
        for item in items
        for name in item.get("names") or ()
    ]


def normalized_image(name: str) -> str:
    """Return the image name with the tag that is meant when none is written."""
    if name.rfind(":") <= name.rfind("/"):
        return f"{name}:latest"
    return name
