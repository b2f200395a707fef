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
    expect_optional_text,
    expect_text,
    expect_texts,
    expect_whole,
)
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


# ------------------------------------------------------------------------
# Checks of resource claims, their templates, device classes and resource slices.


def check_resource_claim(document: Document) -> Fields:
    """Check a ResourceClaim and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    _check_devices(document, spec, "spec.devices")
    return document.copied()


def check_template(document: Document) -> Fields:
    """Check a ResourceClaimTemplate and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    inner = expect_object(document, spec, "spec.spec", needed=True)
    _check_devices(document, inner, "spec.spec.devices")
    return document.copied()


def _check_devices(document: Document, holder: Fields, path: str) -> None:
    devices = expect_object(document, holder, path)
    for where, item in expect_items(document, devices, f"{path}.requests"):
        expect_text(document, item, f"{where}.name")
        if item.get("firstAvailable"):
            continue
        inner, place = item, where
        if item.get("exactly") is not None:
            place = f"{where}.exactly"
            inner = expect_object(document, item, place)
        expect_text(document, inner, f"{place}.deviceClassName")
        expect_whole(document, inner, f"{place}.count", least=1, default=1)
        if inner.get("allocationMode") is not None:
            modes = ("ExactCount", "All")
            expect_choice(document, inner, f"{place}.allocationMode", modes)
        _check_selectors(document, inner, f"{place}.selectors")
    for where, item in expect_items(document, devices, f"{path}.constraints"):
        if item.get("matchAttribute") is not None:
            expect_text(document, item, f"{where}.matchAttribute")


def _check_selectors(document: Document, holder: Fields, path: str) -> None:
    for where, item in expect_items(document, holder, path):
        cel = expect_object(document, item, f"{where}.cel", needed=True)
        expect_text(document, cel, f"{where}.cel.expression")


def check_device_class(document: Document) -> Fields:
    """Check a DeviceClass and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec")
    _check_selectors(document, spec, "spec.selectors")
    return document.copied()


def check_slice(document: Document) -> Fields:
    """Check a ResourceSlice and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_text(document, spec, "spec.driver")
    pool = expect_object(document, spec, "spec.pool", needed=True)
    expect_text(document, pool, "spec.pool.name")
    expect_whole(document, pool, "spec.pool.generation", least=0, default=0)
    for where, item in expect_items(document, spec, "spec.devices"):
        expect_text(document, item, f"{where}.name")
        place = f"{where}.basic" if item.get("basic") is not None else where
        inner = expect_object(document, item, place) if place != where else item
        expect_object(document, inner, f"{place}.attributes")
        given = expect_object(document, inner, f"{place}.capacity")
        for name, amount in given.items():
            if isinstance(amount, dict):
                expect_amounts(document, given, f"{place}.capacity.{name}")
    return document.copied()


DEVICE_CHECKS: dict[str, Callable[[Document], Fields]] = {
    "ResourceClaim": check_resource_claim,
    "ResourceClaimTemplate": check_template,
    "DeviceClass": check_device_class,
    "ResourceSlice": check_slice,
}
