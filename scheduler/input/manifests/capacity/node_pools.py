"""Checks of NodePool and InstanceType."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_items,
    expect_known,
    expect_labels,
    expect_object,
    expect_text,
    expect_whole,
)
from scheduler.model.autoscaling.group_spec import read_group_spec, read_instance_type
from scheduler.model.autoscaling.pool_spec import read_pool_spec
from scheduler.model.errors import QuantityError
from scheduler.model.problems import parted

_OLD = "karpenter.sh/v1beta1"
_OLD_POLICY = "WhenUnderutilized"


def check_node_pool(document: Document) -> dict[str, Any]:
    """Return a NodePool of v1. Raises ManifestError naming the field."""
    manifest = document.copied()
    spec = expect_object(document, document.data, "spec", needed=True)
    template = expect_object(document, spec, "spec.template", needed=True)
    inner = expect_object(document, template, "spec.template.spec", needed=True)
    metadata = expect_object(document, template, "spec.template.metadata")
    for name in ("labels", "annotations"):
        expect_labels(document, metadata, f"spec.template.metadata.{name}")
    path = "spec.template.spec.taints"
    for where, taint in expect_items(document, inner, path):
        expect_text(document, taint, f"{where}.key")
        expect_text(document, taint, f"{where}.effect")
    for name in ("spec.template.spec.requirements", "spec.disruption.budgets"):
        holder = inner if "requirements" in name else spec.get("disruption") or {}
        for where, item in expect_items(document, holder, name):
            if item.get("minValues") is not None:
                expect_whole(document, item, f"{where}.minValues", least=1)
    expect_object(document, spec, "spec.limits")
    expect_object(document, spec, "spec.disruption")
    if spec.get("weight") is not None:
        expect_whole(document, spec, "spec.weight", least=1)
    if document.data.get("apiVersion") == _OLD:
        _bring_up(manifest["spec"])
    _read(document, manifest["spec"], read_pool_spec)
    return manifest


def check_instance_type(document: Document) -> dict[str, Any]:
    """Check an InstanceType and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_known(
        document, document.data, "", ("apiVersion", "kind", "metadata", "spec")
    )
    _read(document, spec, read_instance_type)
    return document.copied()


def _read(
    document: Document, spec: dict[str, Any], read: Callable[[Mapping[str, Any]], Any]
) -> None:
    try:
        read(spec)
    except QuantityError as error:
        path, problem = parted(error.said)
        field = "spec" if path == "spec" else f"spec.{path}"
        raise document.error(field, problem) from error


def _bring_up(spec: dict[str, Any]) -> None:
    """Write what v1beta1 spells otherwise as v1 does."""
    disruption = spec.get("disruption") or {}
    if disruption.get("consolidationPolicy") == _OLD_POLICY:
        disruption["consolidationPolicy"] = "WhenEmptyOrUnderutilized"
    if "expireAfter" in disruption:
        spec["template"]["spec"]["expireAfter"] = disruption.pop("expireAfter")


# ------------------------------------------------------------------------
# Check of NodeGroup: what an autoscaler may add, and for how much.


def check_node_group(document: Document) -> dict[str, Any]:
    """Check a NodeGroup and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    try:
        read_group_spec(spec)
    except QuantityError as error:
        path, problem = parted(error.said)
        field = "spec" if path == "spec" else f"spec.{path}"
        raise document.error(field, problem) from error
    return document.copied()


# ------------------------------------------------------------------------
# Checks of ProvisioningRequests and of what says how Kueue makes them.


def check_request(document: Document) -> dict[str, Any]:
    """Check a ProvisioningRequest and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_text(document, spec, "spec.provisioningClassName")
    expect_labels(document, spec, "spec.parameters")
    for where, item in expect_items(document, spec, "spec.podSets"):
        expect_whole(document, item, f"{where}.count", least=1)
        path = f"{where}.podTemplateRef"
        reference = expect_object(document, item, path, needed=True)
        expect_text(document, reference, f"{path}.name")
    return document.copied()
