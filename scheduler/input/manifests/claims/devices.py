"""Checks of resource claims, their templates, device classes and resource slices.

Source: docs/semantics/kube-scheduler.md#devices.
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

Fields = dict[str, Any]


def check_claim(document: Document) -> Fields:
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


CHECKS: dict[str, Callable[[Document], Fields]] = {
    "ResourceClaim": check_claim,
    "ResourceClaimTemplate": check_template,
    "DeviceClass": check_device_class,
    "ResourceSlice": check_slice,
}
