"""Checks of claims, volumes, storage classes and CSI nodes: what is wrong, and where.

Each check returns the manifest with the defaults of the API server.
Source: docs/semantics/kube-scheduler.md#volumes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_amounts,
    expect_choice,
    expect_items,
    expect_object,
    expect_text,
    expect_whole,
)
from scheduler.input.manifests.strict import expect_optional_text, expect_texts
from scheduler.model.problems import Wanted, expected

Fields = dict[str, Any]

_ACCESS = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_MODES = ("Immediate", "WaitForFirstConsumer")


def check_claim(document: Document) -> Fields:
    """Check a PersistentVolumeClaim and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    resources = expect_object(document, spec, "spec.resources")
    expect_amounts(document, resources, "spec.resources.requests")
    _check_modes(document, spec)
    expect_optional_text(document, spec, "spec.volumeName")
    expect_object(document, spec, "spec.selector")
    return document.copied()


def check_volume(document: Document) -> Fields:
    """Check a PersistentVolume and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_amounts(document, spec, "spec.capacity")
    _check_modes(document, spec)
    expect_object(document, spec, "spec.claimRef")
    affinity = expect_object(document, spec, "spec.nodeAffinity")
    path = "spec.nodeAffinity.required"
    required = expect_object(document, affinity, path)
    for where, term in expect_items(document, required, f"{path}.nodeSelectorTerms"):
        for place, one in expect_items(document, term, f"{where}.matchExpressions"):
            expect_text(document, one, f"{place}.key")
            expect_texts(document, one, f"{place}.values")
    return document.copied()


def _check_modes(document: Document, spec: Fields) -> None:
    for index, mode in enumerate(expect_texts(document, spec, "spec.accessModes")):
        path = f"spec.accessModes[{index}]"
        if mode not in _ACCESS:
            known = ", ".join(_ACCESS)
            raise document.error(path, expected(Wanted.ONE_OF.said(known=known), mode))
    if spec.get("volumeMode") is not None:
        expect_choice(document, spec, "spec.volumeMode", ("Filesystem", "Block"))


def check_storage_class(document: Document) -> Fields:
    """Check a StorageClass and return its manifest.

    Raises ManifestError naming the field.
    """
    expect_text(document, document.data, "provisioner")
    if document.data.get("volumeBindingMode") is not None:
        expect_choice(document, document.data, "volumeBindingMode", _MODES)
    for where, term in expect_items(document, document.data, "allowedTopologies"):
        for place, one in expect_items(
            document, term, f"{where}.matchLabelExpressions"
        ):
            expect_text(document, one, f"{place}.key")
            if not expect_texts(document, one, f"{place}.values"):
                raise document.error(
                    f"{place}.values",
                    expected(Wanted.AT_LEAST_ONE_OF.said(kind="value")),
                )
    manifest = document.copied()
    manifest["volumeBindingMode"] = manifest.get("volumeBindingMode") or "Immediate"
    return manifest


def check_csi_node(document: Document) -> Fields:
    """Check a CSINode and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    for where, driver in expect_items(document, spec, "spec.drivers"):
        expect_text(document, driver, f"{where}.name")
        expect_texts(document, driver, f"{where}.topologyKeys")
        limits = expect_object(document, driver, f"{where}.allocatable")
        expect_whole(document, limits, f"{where}.allocatable.count", least=0, default=0)
    return document.copied()


CHECKS: dict[str, Callable[[Document], Fields]] = {
    "PersistentVolumeClaim": check_claim,
    "PersistentVolume": check_volume,
    "StorageClass": check_storage_class,
    "CSINode": check_csi_node,
}
